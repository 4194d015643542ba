/** Says what differs from what a run must give. */
final class WrongResult extends RuntimeException {
    private static final long serialVersionUID = 1;

    private WrongResult(String what) {
        super(what);
    }

    static void unless(String what, long got, long want) {
        if (got != want) {
            throw new WrongResult(what + ": " + got + " instead of " + want);
        }
    }
}
