import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/** A thread for each customer, which calls the libraries. Listing is so short that a lock that can be shared is no
 * gain. */
final class BestLibrary {
    private record Book(int number, String title, String content) {}

    private record Entry(int number, String title, boolean isAvailable) {}

    private static final class PublicLibrary {
        private final ReentrantLock lock = new ReentrantLock();
        private final Book[] books; // by number; null: lent
        private final String[] titles;

        PublicLibrary(int size) {
            books = new Book[size + 1];
            titles = new String[size + 1];
            for (int number = 1; number <= size; number++) {
                titles[number] = Library.title(number);
                books[number] = new Book(number, titles[number], "Once upon a time");
            }
        }

        Entry[] list() {
            var entries = new Entry[books.length - 1];
            lock.lock();
            try {
                for (int number = 1; number < books.length; number++) {
                    entries[number - 1] = new Entry(number, titles[number], books[number] != null);
                }
            } finally {
                lock.unlock();
            }
            return entries;
        }

        /** Null: unavailable. */
        Book lend(int number) {
            lock.lock();
            try {
                Book book = books[number];
                books[number] = null;
                return book;
            } finally {
                lock.unlock();
            }
        }

        void takeBack(Book book) {
            lock.lock();
            try {
                books[book.number] = book;
            } finally {
                lock.unlock();
            }
        }

        int home() {
            int home = 0;
            lock.lock();
            try {
                for (Book book : books) {
                    home += book == null ? 0 : 1;
                }
            } finally {
                lock.unlock();
            }
            return home;
        }
    }

    private final PublicLibrary[] libraries;
    private final int books;

    BestLibrary(int libraries, int books) {
        this.libraries = new PublicLibrary[libraries];
        for (int i = 0; i < libraries; i++) {
            this.libraries[i] = new PublicLibrary(books);
        }
        this.books = books;
    }

    List<Library.Diary> visits(int customers) throws InterruptedException {
        var diaries = new Library.Diary[customers];
        var visiting = new CountDownLatch(customers);
        for (int i = 0; i < customers; i++) {
            int customer = i;
            Thread.startVirtualThread(() -> {
                diaries[customer] = visit();
                visiting.countDown();
            });
        }
        visiting.await();
        return List.of(diaries);
    }

    long home() {
        long home = 0;
        for (PublicLibrary library : libraries) {
            home += library.home();
        }
        return home;
    }

    private Library.Diary visit() {
        long lent = 0;
        long unavailable = 0;
        long wrong = 0;
        for (PublicLibrary library : libraries) {
            int choice = ThreadLocalRandom.current().nextInt(1, books + 1);
            Entry entry = library.list()[choice - 1];
            Book book = library.lend(entry.number);
            if (book == null) {
                unavailable++;
                continue;
            }
            lent++;
            if (book.number != choice || !book.title.equals(entry.title) || book.content.isEmpty()) {
                wrong++;
            }
            library.takeBack(book);
        }
        return new Library.Diary(lent, unavailable, wrong);
    }
}
