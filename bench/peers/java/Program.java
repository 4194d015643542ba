/** Has its sizes from the flags; each run does the work once and checks it. */
interface Program {
    Outcome run() throws Exception;

    /** In the quickest way, if that is another. */
    default Outcome best() throws Exception {
        return run();
    }
}
