import java.util.Arrays;
import java.util.Map;

/** Runs a small ring many times and tells how far the times vary. */
final class Jitter {
    private Jitter() {}

    static void measure(Flags flags) {
        int runs = Math.max(1, flags.number("runs", 500));
        // Compiling, which goes on for about so long, is not what jitter is about.
        int warm = flags.number("warm", 100);
        var ring = new TokenRing(flags.number("n", 100), flags.number("k", 1000));
        flags.refuseOthers();
        var times = new long[runs];
        for (int run = -warm; run < runs; run++) {
            long start = System.nanoTime();
            ring.run();
            long elapsed = System.nanoTime() - start;
            if (run >= 0) {
                times[run] = elapsed;
            }
        }
        Arrays.sort(times);
        Json.print(Map.of(
                "program", "jitter", "cores", flags.cores(), "runs", runs, "median_ms", times[runs / 2] / 1e6,
                "p99_ms", times[runs * 99 / 100] / 1e6, "max_ms", times[runs - 1] / 1e6));
    }
}
