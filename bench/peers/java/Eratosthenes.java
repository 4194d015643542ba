import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Mirrors Eratosthenes.dry: a pipeline of sieves that grows by one for each prime. */
final class Eratosthenes implements Program {
    private static final int DEFAULT_LAST = 10_000;

    private final int last;

    Eratosthenes(Flags flags) {
        last = flags.number("n", DEFAULT_LAST);
    }

    /** How much the sieves of one run sent. */
    private static final class Traffic {
        final AtomicLong messages = new AtomicLong();
        final AtomicLong moved = new AtomicLong();
    }

    /** Offers the stream that it lets through and, once, its prime; both channels just close if it gets none. */
    private static final class Sieve {
        final NumberChannel stream = new NumberChannel();
        final NumberChannel discovery = new NumberChannel();
        private final NumberChannel before;
        private final Traffic traffic;

        Sieve(NumberChannel before, Traffic traffic) {
            this.before = before;
            this.traffic = traffic;
            Thread.startVirtualThread(this::filter);
        }

        private void filter() {
            long prime = before.take();
            if (prime == NumberChannel.NONE) {
                // Counted before the end goes on, because the main program counts on all when it comes out.
                traffic.messages.addAndGet(2); // the stream's end and none
                discovery.close();
                stream.close();
                return;
            }
            Thread.startVirtualThread(() -> discover(prime));
            long received = 1;
            for (long x = before.take(); x != NumberChannel.NONE; x = before.take()) {
                received++;
                if (x % prime != 0) {
                    stream.send(x);
                }
            }
            // Before the end goes on, too.
            traffic.moved.addAndGet(received);
            traffic.messages.addAndGet(received + 2); // and the stream's end and the prime
            stream.close();
        }

        private void discover(long prime) {
            discovery.send(prime);
            discovery.close();
        }
    }

    @Override
    public Outcome run() {
        var traffic = new Traffic();
        var generator = new NumberChannel();
        Thread.startVirtualThread(() -> {
            for (int x = 2; x <= last; x++) {
                generator.send(x);
            }
            generator.close();
        });
        long count = 0;
        long sum = 0;
        var sieve = new Sieve(generator, traffic);
        for (long prime = sieve.discovery.take(); prime != NumberChannel.NONE; prime = sieve.discovery.take()) {
            count++;
            sum += prime;
            sieve = new Sieve(sieve.stream, traffic);
        }
        while (sieve.stream.take() != NumberChannel.NONE) {}
        long moved = traffic.moved.get();
        if (last == DEFAULT_LAST) {
            check(count, sum);
            WrongResult.unless("numbers moved", moved, 777_860);
        }
        return new Outcome(traffic.messages.get(), Map.of("count", count, "sum", sum, "moved", moved));
    }

    @Override
    public Outcome best() {
        var best = new BestEratosthenes(last);
        if (last == DEFAULT_LAST) {
            check(best.count(), best.sum());
        }
        return new Outcome(0, Map.of("count", best.count(), "sum", best.sum()));
    }

    private static void check(long count, long sum) {
        WrongResult.unless("primes", count, 1229);
        WrongResult.unless("sum", sum, 5_736_396);
    }
}
