import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Stands still while anything is under way and then jumps to the next sleeper. Under way is a thread that runs in this
 * time, and a message that nobody waits for until it is handled.
 */
final class VirtualTime {
    private final AtomicInteger underWay;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<List<SignalChannel>> due = new ArrayList<>(); // by moment; null: nobody
    private volatile int now;

    VirtualTime(int underWay) {
        this.underWay = new AtomicInteger(underWay);
    }

    int now() {
        return now;
    }

    /** Counts something more as under way. */
    void begin() {
        underWay.incrementAndGet();
    }

    /** Says that something is no longer under way. */
    void end() {
        if (underWay.decrementAndGet() == 0) {
            advance();
        }
    }

    /** Waits n units, on a channel of the thread's own. */
    void sleep(int n, SignalChannel wake) {
        int moment = now + n;
        lock.lock();
        try {
            while (moment >= due.size()) {
                due.add(null);
            }
            if (due.get(moment) == null) {
                due.set(moment, new ArrayList<>());
            }
            due.get(moment).add(wake);
        } finally {
            lock.unlock();
        }
        end();
        wake.take();
    }

    private void advance() {
        lock.lock();
        try {
            for (int moment = now; moment < due.size(); moment++) {
                List<SignalChannel> sleepers = due.get(moment);
                if (sleepers != null) {
                    now = moment;
                    due.set(moment, null);
                    underWay.addAndGet(sleepers.size());
                    sleepers.forEach(SignalChannel::send);
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
