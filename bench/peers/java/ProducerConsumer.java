import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Mirrors ProducerConsumer.dry: producers and consumers exchange elements through a bounded buffer, a monitor. */
final class ProducerConsumer implements Program {
    private final int producers;
    private final int consumers;
    private final int elements;
    private final int capacity;

    ProducerConsumer(Flags flags) {
        producers = flags.number("n", 1);
        consumers = flags.number("m", 1);
        elements = flags.number("k", 1_000_000);
        capacity = flags.number("c", 10);
    }

    /** Each producer and each consumer has a service of its own. */
    private static final class BoundedBuffer {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition room = lock.newCondition();
        private final Condition available = lock.newCondition();
        private final long[] a;
        private final int finish;
        private int first;
        private int length;
        private int finished;

        BoundedBuffer(int capacity, int producers) {
            a = new long[capacity];
            finish = producers;
        }

        NumberChannel dataAcceptor() {
            var in = new NumberChannel();
            Thread.startVirtualThread(() -> {
                for (long x = in.take(); x != NumberChannel.NONE; x = in.take()) {
                    put(x);
                }
                finish();
            });
            return in;
        }

        NumberChannel dataSource() {
            var out = new NumberChannel();
            Thread.startVirtualThread(() -> {
                for (long x = get(); x != NumberChannel.NONE; x = get()) {
                    out.send(x);
                }
                out.close();
            });
            return out;
        }

        private void put(long x) {
            lock.lock();
            try {
                while (length == a.length) {
                    room.awaitUninterruptibly();
                }
                int last = first + length;
                a[last < a.length ? last : last - a.length] = x;
                length++;
                available.signal();
            } finally {
                lock.unlock();
            }
        }

        private long get() {
            lock.lock();
            try {
                while (length == 0 && finished < finish) {
                    available.awaitUninterruptibly();
                }
                if (length == 0) {
                    return NumberChannel.NONE;
                }
                long x = a[first];
                first = first + 1 < a.length ? first + 1 : 0;
                length--;
                room.signal();
                return x;
            } finally {
                lock.unlock();
            }
        }

        private void finish() {
            lock.lock();
            try {
                finished++;
                available.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private record Tally(long count, long sum) {}

    @Override
    public Outcome run() {
        var messages = new AtomicLong();
        var buffer = new BoundedBuffer(capacity, producers);
        for (int i = 0; i < producers; i++) {
            startProducer(buffer.dataAcceptor(), messages);
        }
        List<Channel<Tally>> tallies = new ArrayList<>();
        for (int i = 0; i < consumers; i++) {
            tallies.add(startConsumer(buffer.dataSource(), messages));
        }
        long count = 0;
        long sum = 0;
        for (Channel<Tally> received : tallies) {
            Tally tally = received.take();
            count += tally.count;
            sum += tally.sum;
        }
        return outcome(messages.get(), count, sum);
    }

    private void startProducer(NumberChannel acceptor, AtomicLong messages) {
        Thread.startVirtualThread(() -> {
            for (int x = 1; x <= elements; x++) {
                acceptor.send(x);
            }
            messages.addAndGet(elements + 1L);
            acceptor.close();
        });
    }

    private static Channel<Tally> startConsumer(NumberChannel source, AtomicLong messages) {
        var received = new Channel<Tally>();
        Thread.startVirtualThread(() -> {
            long count = 0;
            long sum = 0;
            for (long x = source.take(); x != NumberChannel.NONE; x = source.take()) {
                count++;
                sum += x;
            }
            messages.addAndGet(count + 2); // the end of the source and the tally
            received.send(new Tally(count, sum));
        });
        return received;
    }

    @Override
    public Outcome best() throws InterruptedException {
        var best = new BestProducerConsumer(producers, consumers, elements, capacity);
        return outcome(0, best.count(), best.sum());
    }

    private Outcome outcome(long messages, long count, long sum) {
        WrongResult.unless("count", count, (long) producers * elements);
        WrongResult.unless("sum", sum, (long) producers * elements * (elements + 1L) / 2);
        return new Outcome(messages, Map.of("count", count, "sum", sum));
    }
}
