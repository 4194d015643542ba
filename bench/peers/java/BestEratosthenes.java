import java.util.Arrays;

/**
 * The sieves pass on many numbers at a time, and a sieve tells its prime by being made: the main program takes it from
 * the end of the pipeline.
 */
final class BestEratosthenes {
    private static final int BATCH = 100;

    private long count;
    private long sum;

    BestEratosthenes(int last) {
        Channel<int[]> end = generate(last);
        for (int[] batch = end.take(); batch != null; batch = end.take()) {
            int prime = batch[0];
            count++;
            sum += prime;
            end = sieve(prime, batch, end);
        }
    }

    long count() {
        return count;
    }

    long sum() {
        return sum;
    }

    /** Collects numbers until there are enough to be worth a message. */
    private static final class Batches {
        private final Channel<int[]> out;
        private int[] batch = new int[BATCH];
        private int filled;

        Batches(Channel<int[]> out) {
            this.out = out;
        }

        void add(int x) {
            batch[filled++] = x;
            if (filled == BATCH) {
                out.send(batch);
                batch = new int[BATCH];
                filled = 0;
            }
        }

        void close() {
            if (filled > 0) {
                out.send(Arrays.copyOf(batch, filled));
            }
            out.close();
        }
    }

    private static Channel<int[]> generate(int last) {
        var out = new Channel<int[]>();
        Thread.startVirtualThread(() -> {
            var batches = new Batches(out);
            for (int x = 2; x <= last; x++) {
                batches.add(x);
            }
            batches.close();
        });
        return out;
    }

    private static Channel<int[]> sieve(int prime, int[] first, Channel<int[]> in) {
        var out = new Channel<int[]>();
        Thread.startVirtualThread(() -> {
            var batches = new Batches(out);
            for (int[] batch = first; batch != null; batch = in.take()) {
                for (int x : batch) {
                    if (x % prime != 0) {
                        batches.add(x);
                    }
                }
            }
            batches.close();
        });
        return out;
    }
}
