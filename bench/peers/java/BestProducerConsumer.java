import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Producers and consumers call the buffer themselves, and move as many elements at a time as are there and as it has
 * room for: a lock and a thread switch are dear beside an element.
 */
final class BestProducerConsumer {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private final Condition available = lock.newCondition();
    private final long[] a;
    private int length;
    private int producing;

    private final LongAdder count = new LongAdder();
    private final LongAdder sum = new LongAdder();

    BestProducerConsumer(int producers, int consumers, int elements, int capacity) throws InterruptedException {
        a = new long[capacity];
        producing = producers;
        for (int i = 0; i < producers; i++) {
            Thread.startVirtualThread(() -> produce(elements));
        }
        var consuming = new CountDownLatch(consumers);
        for (int i = 0; i < consumers; i++) {
            Thread.startVirtualThread(() -> {
                consume();
                consuming.countDown();
            });
        }
        consuming.await();
    }

    long count() {
        return count.sum();
    }

    long sum() {
        return sum.sum();
    }

    private void produce(int elements) {
        var batch = new long[a.length];
        int filled = 0;
        for (int x = 1; x <= elements; x++) {
            batch[filled++] = x;
            if (filled == batch.length || x == elements) {
                put(batch, filled);
                filled = 0;
            }
        }
        finish();
    }

    private void consume() {
        var batch = new long[a.length];
        long received = 0;
        long total = 0;
        for (int taken = take(batch); taken > 0; taken = take(batch)) {
            received += taken;
            for (int i = 0; i < taken; i++) {
                total += batch[i];
            }
        }
        count.add(received);
        sum.add(total);
    }

    private void put(long[] batch, int filled) {
        lock.lock();
        try {
            for (int done = 0; done < filled; ) {
                while (length == a.length) {
                    room.awaitUninterruptibly();
                }
                int n = Math.min(filled - done, a.length - length);
                System.arraycopy(batch, done, a, length, n);
                length += n;
                done += n;
                available.signal();
            }
            if (length < a.length) {
                room.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** All that there are; none when all producers have finished. */
    private int take(long[] batch) {
        lock.lock();
        try {
            while (length == 0 && producing > 0) {
                available.awaitUninterruptibly();
            }
            int taken = length;
            System.arraycopy(a, 0, batch, 0, taken);
            length = 0;
            room.signal(); // for one, whose batch as a rule needs it all
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private void finish() {
        lock.lock();
        try {
            producing--;
            available.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
