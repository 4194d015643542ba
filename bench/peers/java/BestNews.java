import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reporters add their texts to the centre's themselves, and customers read them there; without a lock, if any are new.
 * That is likely, because the reporters begin first.
 */
final class BestNews {
    /** The texts that were there at some time. Later ones may stand behind them in the same array. */
    private record Edition(String[] texts, int count, boolean isComplete) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final int reporters;
    private final int textsOfEach;
    private int finished;
    private volatile Edition edition = new Edition(new String[16], 0, false);

    private BestNews(int reporters, int textsOfEach) {
        this.reporters = reporters;
        this.textsOfEach = textsOfEach;
    }

    static List<News.Archive> run(int customers, int reporters, int textsOfEach) throws InterruptedException {
        var news = new BestNews(reporters, textsOfEach);
        var archives = new News.Archive[customers];
        var reading = new CountDownLatch(customers);
        for (int i = 0; i < reporters; i++) {
            int reporter = i;
            Thread.startVirtualThread(() -> news.report(reporter));
        }
        for (int i = 0; i < customers; i++) {
            int customer = i;
            Thread.startVirtualThread(() -> {
                archives[customer] = news.read();
                reading.countDown();
            });
        }
        reading.await();
        return List.of(archives);
    }

    private void report(int reporter) {
        for (int i = 0; i < textsOfEach; i++) {
            publish(News.text(reporter, i));
        }
        finish();
    }

    private News.Archive read() {
        int next = 0;
        long mark = 0;
        Edition newest;
        do {
            newest = newest(next);
            for (; next < newest.count; next++) {
                mark = News.mark(mark, newest.texts[next]);
            }
        } while (!newest.isComplete);
        return new News.Archive(next, mark);
    }

    private void publish(String text) {
        lock.lock();
        try {
            int count = edition.count;
            String[] texts = edition.texts;
            if (count == texts.length) {
                texts = Arrays.copyOf(texts, 2 * count);
            }
            texts[count] = text;
            edition = new Edition(texts, count + 1, false);
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void finish() {
        lock.lock();
        try {
            finished++;
            if (finished == reporters) {
                edition = new Edition(edition.texts, edition.count, true);
                change.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there are more than so many texts, or all. */
    private Edition newest(int next) {
        Edition newest = edition;
        if (newest.count > next || newest.isComplete) {
            return newest;
        }
        lock.lock();
        try {
            while (edition.count == next && !edition.isComplete) {
                change.awaitUninterruptibly();
            }
            return edition;
        } finally {
            lock.unlock();
        }
    }
}
