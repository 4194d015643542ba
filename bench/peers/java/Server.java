/** Mirrors Server of bench/programs: the smallest component with a service, which answers each number with the next. */
final class Server {
    private final NumberChannel in = new NumberChannel();
    private final NumberChannel out = new NumberChannel();
    private long last;

    Server() {
        Thread.startVirtualThread(this::serve);
    }

    private void serve() {
        for (long x = in.take(); x != NumberChannel.NONE; x = in.take()) {
            last = x;
            out.send(x + 1);
        }
    }

    /** Sends a number and checks the answer. */
    void roundTrip(long x) {
        in.send(x);
        WrongResult.unless("answer", out.take(), x + 1);
    }

    void end() {
        in.close();
    }
}
