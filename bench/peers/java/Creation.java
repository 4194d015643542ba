import java.util.Map;

/** Mirrors bench/programs/creation.dry: how fast components come and go. */
final class Creation implements Program {
    private final int servers;

    Creation(Flags flags) {
        servers = flags.number("n", 1_000_000);
    }

    @Override
    public Outcome run() {
        long start = System.nanoTime();
        for (int i = 0; i < servers; i++) {
            var server = new Server();
            server.roundTrip(i);
            server.end();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Outcome(2L * servers, Map.of("per_second", servers / seconds));
    }
}
