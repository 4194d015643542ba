import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Mirrors TokenRing.dry: a token goes around in a ring of nodes, then a finish message follows it. */
final class TokenRing implements Program {
    /** A request for the count; other requests are the rounds of a token to inject. */
    private static final long GET_COUNT = 0;

    private final int size;
    private final int rounds;

    TokenRing(Flags flags) {
        this(flags.number("n", 1000), flags.number("k", 1000));
    }

    TokenRing(int size, int rounds) {
        this.size = size;
        this.rounds = rounds;
    }

    /** Counts its tokens under its lock. */
    private static final class Node {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition change = lock.newCondition();
        // From the predecessor; closed by the finish message.
        private final SignalChannel transfer = new SignalChannel();
        private final NumberChannel control = new NumberChannel();
        private final SignalChannel finish = new SignalChannel();
        private final NumberChannel answer = new NumberChannel(); // the token is back, or the count
        private SignalChannel successor;
        private long count;
        private long rounds; // of the token injected here, else 0
        private boolean finished;

        void connect(Node successor) {
            this.successor = successor.transfer;
            Thread.startVirtualThread(this::serveTransfer);
            Thread.startVirtualThread(this::serveControl);
        }

        private void serveTransfer() {
            while (transfer.take()) {
                lock.lock();
                try {
                    count++;
                    if (count != rounds) {
                        successor.send();
                    } else {
                        change.signal();
                    }
                } finally {
                    lock.unlock();
                }
            }
            lock.lock();
            try {
                finished = true;
                change.signal();
                if (rounds == 0) {
                    successor.close();
                }
            } finally {
                lock.unlock();
            }
        }

        private void serveControl() {
            long request = control.take();
            if (request != GET_COUNT) {
                inject(request);
                control.take();
            }
            lock.lock();
            try {
                while (!finished) {
                    change.awaitUninterruptibly();
                }
                answer.send(count + 1);
            } finally {
                lock.unlock();
            }
        }

        private void inject(long rounds) {
            lock.lock();
            try {
                this.rounds = rounds;
                successor.send();
                while (count != rounds) {
                    change.awaitUninterruptibly();
                }
            } finally {
                lock.unlock();
            }
            answer.send(rounds);
            finish.take();
            lock.lock();
            try {
                successor.close();
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public Outcome run() {
        var nodes = new Node[size];
        for (int i = 0; i < size; i++) {
            nodes[i] = new Node();
        }
        for (int i = 0; i < size; i++) {
            nodes[i].connect(nodes[(i + 1) % size]);
        }
        nodes[0].control.send(rounds);
        nodes[0].answer.take();
        nodes[0].finish.send();
        long hops = 0;
        for (Node node : nodes) {
            node.control.send(GET_COUNT);
            hops += node.answer.take();
        }
        WrongResult.unless("hops", hops, (long) size * rounds + size);
        return new Outcome(hops + 3 + 2L * size, Map.of("hops", hops));
    }
}
