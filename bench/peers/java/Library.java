import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/**
 * Mirrors Library.dry: customers lend books; a book belongs to whoever was sent it last.
 *
 * <p>The shared locks are StampedLocks, because a ReentrantReadWriteLock keeps counts for each thread that reads.
 */
final class Library implements Program {
    private final int customers;
    private final int libraries;
    private final int books;

    Library(Flags flags) {
        customers = flags.number("n", 1000);
        libraries = flags.number("m", 10);
        books = flags.number("b", 10);
    }

    static String title(int number) {
        return "Book " + number;
    }

    private record Printing(long number, String title, String content) {}

    /** A communication in which a book is read. */
    private static final class Reading {
        final SignalChannel open = new SignalChannel();
        final NumberChannel number = new NumberChannel();
        final Channel<String> title = new Channel<>();
        final Channel<String> content = new Channel<>();
    }

    private static final class Book {
        private final StampedLock lock = new StampedLock();
        private long number;
        private String title;
        private String content;

        /** Begins a service for the book's holder. */
        Reading read() {
            var reading = new Reading();
            Thread.startVirtualThread(() -> {
                reading.open.take();
                long stamp = lock.readLock();
                try {
                    reading.number.send(number);
                    reading.title.send(title);
                    reading.content.send(content);
                } finally {
                    lock.unlockRead(stamp);
                }
            });
            return reading;
        }

        /** Begins the service that makes the book what it is. */
        void print(Channel<Printing> print, SignalChannel printed) {
            Thread.startVirtualThread(() -> {
                Printing printing = print.take();
                long stamp = lock.writeLock();
                try {
                    number = printing.number;
                    title = printing.title;
                    content = printing.content;
                    printed.send();
                } finally {
                    lock.unlockWrite(stamp);
                }
            });
        }
    }

    private record Entry(int number, String title, boolean isAvailable) {
        static final Entry END_OF_LIST = new Entry(0, "", false);
    }

    /** A communication with a library. */
    private static final class Lending {
        final SignalChannel list = new SignalChannel();
        final Channel<Entry> entries = new Channel<>();
        final NumberChannel lend = new NumberChannel();
        final Channel<Book> lent = new Channel<>(); // no book: unavailable
        final Channel<Book> returned = new Channel<>();
    }

    private static final class PublicLibrary {
        private final StampedLock lock = new StampedLock();
        private final Book[] books; // by number; null: lent
        private final String[] titles;
        private int out;
        private Thread stockKeeper; // waits for all books to be home: the lock has no conditions

        PublicLibrary(int size) {
            books = new Book[size + 1];
            titles = new String[size + 1];
            for (int number = 1; number <= size; number++) {
                titles[number] = title(number);
                books[number] = new Book();
                var print = new Channel<Printing>();
                var printed = new SignalChannel();
                books[number].print(print, printed);
                print.send(new Printing(number, titles[number], "Once upon a time"));
                printed.take();
            }
        }

        /** Begins a service for a customer. */
        Lending lending() {
            var lending = new Lending();
            Thread.startVirtualThread(() -> {
                while (lending.list.take()) {
                    list(lending.entries);
                    int number = (int) lending.lend.take();
                    Book book = lend(number);
                    lending.lent.send(book);
                    if (book != null) {
                        takeBack(number, lending.returned.take());
                    }
                }
            });
            return lending;
        }

        private void list(Channel<Entry> entries) {
            long stamp = lock.readLock();
            try {
                for (int number = 1; number < books.length; number++) {
                    entries.send(new Entry(number, titles[number], books[number] != null));
                }
            } finally {
                lock.unlockRead(stamp);
            }
            entries.send(Entry.END_OF_LIST);
        }

        private Book lend(int number) {
            long stamp = lock.writeLock();
            try {
                Book book = books[number];
                if (book != null) {
                    books[number] = null;
                    out++;
                }
                return book;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        private void takeBack(int number, Book book) {
            long stamp = lock.writeLock();
            try {
                books[number] = book;
                out--;
                if (out == 0) {
                    LockSupport.unpark(stockKeeper);
                }
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        /** Begins the service that counts the books when all are back. */
        NumberChannel stock() {
            var stock = new NumberChannel();
            Thread.startVirtualThread(() -> {
                while (!hasSentStock(stock)) {
                    LockSupport.park();
                }
            });
            return stock;
        }

        private boolean hasSentStock(NumberChannel stock) {
            long stamp = lock.writeLock();
            try {
                stockKeeper = Thread.currentThread();
                if (out > 0) {
                    return false;
                }
                int count = 0;
                for (Book book : books) {
                    count += book == null ? 0 : 1;
                }
                stock.send(count);
                return true;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    record Diary(long lent, long unavailable, long wrong) {}

    private Diary visit(List<Lending> connections) {
        long lent = 0;
        long unavailable = 0;
        long wrong = 0;
        for (Lending library : connections) {
            library.list.send();
            int choice = ThreadLocalRandom.current().nextInt(1, books + 1);
            while (library.entries.take() != Entry.END_OF_LIST) {}
            library.lend.send(choice);
            Book book = library.lent.take();
            if (book == null) {
                unavailable++;
                continue;
            }
            lent++;
            Reading reading = book.read();
            reading.open.send();
            if (reading.number.take() != choice) {
                wrong++;
            }
            reading.title.take();
            reading.content.take();
            library.returned.send(book);
        }
        return new Diary(lent, unavailable, wrong);
    }

    private Channel<Diary> startCustomer(List<Lending> connections) {
        var diary = new Channel<Diary>();
        Thread.startVirtualThread(() -> {
            diary.send(visit(connections));
            for (Lending connection : connections) {
                connection.list.close();
            }
        });
        return diary;
    }

    @Override
    public Outcome run() {
        var publicLibraries = new PublicLibrary[libraries];
        for (int i = 0; i < libraries; i++) {
            publicLibraries[i] = new PublicLibrary(books);
        }
        List<Channel<Diary>> written = new ArrayList<>();
        for (int i = 0; i < customers; i++) {
            List<Lending> connections = new ArrayList<>(libraries);
            for (PublicLibrary library : publicLibraries) {
                connections.add(library.lending());
            }
            written.add(startCustomer(connections));
        }
        List<Diary> diaries = new ArrayList<>(customers);
        for (Channel<Diary> diary : written) {
            diaries.add(diary.take());
        }
        long home = 0;
        for (PublicLibrary library : publicLibraries) {
            home += library.stock().take();
        }
        return outcome(diaries, home);
    }

    @Override
    public Outcome best() throws InterruptedException {
        var library = new BestLibrary(libraries, books);
        // Nothing of it is sent.
        return new Outcome(0, outcome(library.visits(customers), library.home()).result());
    }

    private Outcome outcome(List<Diary> diaries, long home) {
        long lent = 0;
        long unavailable = 0;
        for (Diary diary : diaries) {
            WrongResult.unless("wrong books", diary.wrong, 0);
            lent += diary.lent;
            unavailable += diary.unavailable;
        }
        long visits = lent + unavailable;
        WrongResult.unless("visits", visits, (long) customers * libraries);
        WrongResult.unless("books at home", home, (long) libraries * books);
        // A visit: list, entries, end of list, lend, answer; a book lent: open, three answers, return.
        long messages = visits * (books + 4) + lent * 5 + customers + libraries + 2L * libraries * books;
        return new Outcome(
                messages, Map.of("visits", visits, "lent", lent, "unavailable", unavailable, "home", home));
    }
}
