import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Mirrors bench/programs/bytes.dry: what resident memory grows by for each of many live servers. */
final class BytesPerProcess {
    private BytesPerProcess() {}

    static void measure(Flags flags) throws IOException {
        int n = flags.number("n", 1_000_000);
        flags.refuseOthers();
        System.gc();
        long before = resident();
        var servers = new Server[n];
        for (int i = 0; i < n; i++) {
            servers[i] = new Server();
            servers[i].roundTrip(i);
        }
        System.gc();
        long after = resident();
        Json.print(Map.of(
                "program", "bytes", "cores", flags.cores(), "alive", n, "bytes", (double) (after - before) / n));
        Reference.reachabilityFence(servers);
    }

    /** Bytes of this process. */
    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }
}
