import java.util.concurrent.locks.LockSupport;

/**
 * A channel of capacity 1 between two virtual threads: what Channel, NumberChannel and SignalChannel have in common.
 * One thread sends at a time and one receives.
 *
 * <p>It parks and unparks the threads itself because that is quickest: README.md says what ArrayBlockingQueue and
 * others take. Those allow any number of threads at both ends; each communication here has one at each. There are
 * places for two messages, although a sender goes on only when no more than one is left: the second is that of a sender
 * that waits, so the receiver may have both before the sender runs again (Go's channels do that too). That halves the
 * thread switches.
 */
abstract class Slot {
    // Both wrap around; each is written by one side only. They are bytes because a million channels may be alive.
    private volatile byte sent;
    private volatile byte received;
    // Who waits. Each is written only by the one that waits: anybody else who cleared it might do that too late.
    private volatile Thread sender;
    private volatile Thread receiver;

    /** Whether receiving will not wait. */
    final boolean isReady() {
        return sent != received;
    }

    /** In which of the two places the sender puts its message. */
    protected final boolean putsOdd() {
        return (sent & 1) == 1;
    }

    /** In which of the two places the receiver finds its message. */
    protected final boolean takesOdd() {
        return (received & 1) == 1;
    }

    protected final void sent() {
        sent++; // volatile: what was put into the place is seen by the receiver
        wake(receiver);
    }

    protected final void received() {
        received++;
        wake(sender);
    }

    protected final void awaitRoom() {
        if (isOverfull()) {
            sender = Thread.currentThread();
            while (isOverfull()) { // again, now that the receiver knows whom to wake
                LockSupport.park();
            }
            sender = null;
        }
    }

    protected final void awaitMessage() {
        if (!isReady()) {
            receiver = Thread.currentThread();
            while (!isReady()) { // again, now that the sender knows whom to wake
                LockSupport.park();
            }
            receiver = null;
        }
    }

    private static void wake(Thread waiting) {
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    private boolean isOverfull() {
        return (byte) (sent - received) > 1;
    }
}
