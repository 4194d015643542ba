import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Mirrors News.dry: reporters send texts to a news centre, which sends all of them, in order, to every customer. */
final class News implements Program {
    private final int customers;
    private final int reporters;
    private final int texts;

    News(Flags flags) {
        customers = flags.number("n", 1000);
        reporters = flags.number("m", 10);
        texts = flags.number("k", 10);
    }

    /** What the reporter with that number, from 0, writes. */
    static String text(int reporter, int i) {
        return "" + (char) ('A' + reporter) + (char) ('A' + i) + " is the latest news";
    }

    /** Equal marks stand for equal texts in the same order. */
    static long mark(long before, String text) {
        return (before * 65536 + text.charAt(0) * 256 + text.charAt(1)) % 2147483647;
    }

    /** The texts that were there at some time. Later ones may stand behind them in the same array. */
    private record Edition(String[] texts, int count, boolean isComplete) {}

    /**
     * Keeps all texts. Customers' services share the lock in no more than finding out how many texts there are, so it
     * need not be one that can be shared: those are slower and have no conditions for readers.
     */
    private static final class NewsCentre {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition change = lock.newCondition();
        private final int reporters;
        private String[] texts = new String[16];
        private int count;
        private int finished;

        NewsCentre(int reporters) {
            this.reporters = reporters;
        }

        /** Begins a service for a reporter. */
        Channel<String> desk() {
            var in = new Channel<String>();
            Thread.startVirtualThread(() -> {
                for (String text = in.take(); text != null; text = in.take()) {
                    add(text);
                }
                finish();
            });
            return in;
        }

        /** Begins a service for a customer. */
        Channel<String> subscription() {
            var out = new Channel<String>();
            Thread.startVirtualThread(() -> {
                int next = 0;
                Edition edition;
                do {
                    edition = edition(next);
                    for (; next < edition.count; next++) {
                        out.send(edition.texts[next]);
                    }
                } while (!edition.isComplete);
                out.close();
            });
            return out;
        }

        private void add(String text) {
            lock.lock();
            try {
                if (count == texts.length) {
                    texts = Arrays.copyOf(texts, 2 * count);
                }
                texts[count++] = text;
                change.signalAll();
            } finally {
                lock.unlock();
            }
        }

        private void finish() {
            lock.lock();
            try {
                finished++;
                change.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Waits until there are more than so many texts, or all. */
        private Edition edition(int next) {
            lock.lock();
            try {
                while (next == count && finished < reporters) {
                    change.awaitUninterruptibly();
                }
                return new Edition(texts, count, finished == reporters);
            } finally {
                lock.unlock();
            }
        }
    }

    record Archive(long count, long mark) {}

    @Override
    public Outcome run() {
        var centre = new NewsCentre(reporters);
        List<Channel<Archive>> archives = new ArrayList<>();
        for (int i = 0; i < customers; i++) {
            archives.add(startCustomer(centre.subscription()));
        }
        for (int reporter = 0; reporter < reporters; reporter++) {
            startReporter(centre.desk()).send(reporter);
        }
        List<Archive> received = new ArrayList<>();
        for (Channel<Archive> archive : archives) {
            received.add(archive.take());
        }
        long delivered = delivered(received);
        return new Outcome(
                delivered + 2L * customers + (long) reporters * texts + 2L * reporters, result(delivered));
    }

    private static Channel<Archive> startCustomer(Channel<String> subscription) {
        var archive = new Channel<Archive>();
        Thread.startVirtualThread(() -> {
            long count = 0;
            long mark = 0;
            for (String text = subscription.take(); text != null; text = subscription.take()) {
                count++;
                mark = mark(mark, text);
            }
            archive.send(new Archive(count, mark));
        });
        return archive;
    }

    private NumberChannel startReporter(Channel<String> desk) {
        var assignment = new NumberChannel();
        Thread.startVirtualThread(() -> {
            int reporter = (int) assignment.take();
            for (int i = 0; i < texts; i++) {
                desk.send(text(reporter, i));
            }
            desk.close();
        });
        return assignment;
    }

    @Override
    public Outcome best() throws InterruptedException {
        return new Outcome(0, result(delivered(BestNews.run(customers, reporters, texts))));
    }

    private long delivered(List<Archive> archives) {
        long delivered = 0;
        for (Archive archive : archives) {
            WrongResult.unless("texts of a customer", archive.count, (long) reporters * texts);
            WrongResult.unless("mark", archive.mark, archives.getFirst().mark);
            delivered += archive.count;
        }
        return delivered;
    }

    private static Map<String, Object> result(long delivered) {
        return Map.of("delivered", delivered, "same", true);
    }
}
