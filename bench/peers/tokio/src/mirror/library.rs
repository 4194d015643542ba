//! Library: customers lend books, which move through the messages and are read by a service of their own.

use std::sync::{Arc, RwLock};

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use super::channel;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "Library",
    // Customers, libraries, books of each library.
    sizes: &[("n", 1000), ("m", 10), ("b", 10)],
    mirror: |sizes| Box::pin(run(sizes.count("n"), sizes.count("m"), sizes.count("b"))),
};

/// Belongs to whoever has it, and moves; its services keep it alive.
type Book = Arc<RwLock<Print>>;

/// What makes a book what it is.
#[derive(Default)]
struct Print {
    number: usize,
    title: Arc<str>,
    content: Arc<str>,
}

/// What a book answers when it is opened.
enum Reading {
    Number(usize),
    Title(Arc<str>),
    Content(Arc<str>),
}

/// Begins the service in which a book is printed.
fn print(book: &Book) -> oneshot::Sender<(Print, oneshot::Sender<()>)> {
    let (print, order) = oneshot::channel::<(Print, oneshot::Sender<()>)>();
    let book = book.clone();
    tokio::spawn(async move {
        if let Ok((print, printed)) = order.await {
            *book.write().expect("nobody panics with it") = print;
            // Who ordered it may be gone.
            let _ = printed.send(());
        }
    });
    print
}

/// Begins a service in which a book is read.
fn reading(book: &Book) -> (oneshot::Sender<()>, AsyncReceiver<Reading>) {
    let (open, opened) = oneshot::channel();
    let (answers, reading) = channel();
    let book = book.clone();
    tokio::spawn(async move {
        opened.await.ok()?;
        let (number, title, content) = {
            let print = book.read().expect("nobody panics with it");
            (print.number, print.title.clone(), print.content.clone())
        };
        drop(book);
        answers.send(Reading::Number(number)).await.ok()?;
        answers.send(Reading::Title(title)).await.ok()?;
        answers.send(Reading::Content(content)).await.ok()
    });
    (open, reading)
}

/// What a customer says to a library.
enum Request {
    ListBooks,
    Lend(usize),
    Return(Book),
}

/// What a library answers.
enum Answer {
    Entry(Entry),
    EndOfList,
    Lent(Book),
    Unavailable,
}

#[derive(Clone)]
struct Entry {
    number: usize,
    title: Arc<str>,
    is_available: bool,
}

/// A communication with a library.
struct Lending {
    request: AsyncSender<Request>,
    answer: AsyncReceiver<Answer>,
}

struct PublicLibrary {
    titles: Vec<Arc<str>>,
    home: Notify,
    stock: RwLock<Stock>,
}

struct Stock {
    /// By number, from 1; those that are lent are not there.
    books: Vec<Option<Book>>,
    out: usize,
}

impl PublicLibrary {
    async fn new(books: usize) -> Option<Arc<PublicLibrary>> {
        let mut library = PublicLibrary {
            titles: Vec::with_capacity(books),
            home: Notify::new(),
            stock: RwLock::new(Stock { books: Vec::with_capacity(books), out: 0 }),
        };
        let stock = library.stock.get_mut().expect("nobody has it");
        for number in 1..=books {
            let title: Arc<str> = format!("Book {number}").into();
            let book = Book::default();
            let (printed, is_printed) = oneshot::channel();
            let content = "Once upon a time".into();
            print(&book).send((Print { number, title: title.clone(), content }, printed)).ok()?;
            is_printed.await.ok()?;
            library.titles.push(title);
            stock.books.push(Some(book));
        }
        Some(Arc::new(library))
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let stock = self.stock.read().expect("nobody panics with it");
        let is_there: Vec<_> = stock.books.iter().map(Option::is_some).collect();
        let books = (1..).zip(&self.titles).zip(is_there);
        books.map(|((number, title), is_available)| Entry { number, title: title.clone(), is_available })
    }

    fn lend(&self, number: usize) -> Option<Book> {
        let mut stock = self.stock.write().expect("nobody panics with it");
        let book = stock.books[number - 1].take()?;
        stock.out += 1;
        Some(book)
    }

    fn take_back(&self, number: usize, book: Book) {
        let out = {
            let mut stock = self.stock.write().expect("nobody panics with it");
            stock.books[number - 1] = Some(book);
            stock.out -= 1;
            stock.out
        };
        if out == 0 {
            self.home.notify_one();
        }
    }

    /// Begins a service for a customer.
    fn lending(self: &Arc<Self>) -> Lending {
        let ((request, requests), (answers, answer)) = (channel(), channel());
        let library = self.clone();
        tokio::spawn(async move {
            while let Ok(Request::ListBooks) = requests.recv().await {
                for entry in library.entries() {
                    answers.send(Answer::Entry(entry)).await.ok()?;
                }
                answers.send(Answer::EndOfList).await.ok()?;
                let Request::Lend(number) = requests.recv().await.ok()? else { return None };
                match library.lend(number) {
                    Some(book) => {
                        answers.send(Answer::Lent(book)).await.ok()?;
                        let Request::Return(book) = requests.recv().await.ok()? else { return None };
                        library.take_back(number, book);
                    }
                    None => answers.send(Answer::Unavailable).await.ok()?,
                }
            }
            Some(())
        });
        Lending { request, answer }
    }

    /// Begins the service that counts the books when all are back.
    fn stock(self: &Arc<Self>) -> oneshot::Receiver<usize> {
        let (count, home) = oneshot::channel();
        let library = self.clone();
        tokio::spawn(async move {
            loop {
                {
                    let stock = library.stock.read().expect("nobody panics with it");
                    if stock.out == 0 {
                        return count.send(stock.books.iter().flatten().count());
                    }
                }
                // Nobody else waits for this, so the notice is kept until then.
                library.home.notified().await;
            }
        });
        home
    }
}

/// What a customer saw, or all of them.
#[derive(Default)]
pub struct Diary {
    pub lent: i64,
    pub unavailable: i64,
    pub wrong: i64,
}

impl Diary {
    pub fn add(&mut self, other: &Diary) {
        self.lent += other.lent;
        self.unavailable += other.unavailable;
        self.wrong += other.wrong;
    }

    /// The result, if it is right.
    pub fn check(&self, n: usize, m: usize, b: usize, home: usize) -> Result<serde_json::Value, String> {
        let visits = self.lent + self.unavailable;
        expect("visits", visits, (n * m) as i64)?;
        expect("wrong books", self.wrong, 0)?;
        expect("books at home", home as i64, (m * b) as i64)?;
        Ok(json!({"visits": visits, "lent": self.lent, "unavailable": self.unavailable, "home": home}))
    }
}

async fn visit(libraries: &[Lending], books: usize) -> Option<Diary> {
    let mut diary = Diary::default();
    for library in libraries {
        library.request.send(Request::ListBooks).await.ok()?;
        let choice = fastrand::usize(1..=books);
        while let Answer::Entry(entry) = library.answer.recv().await.ok()? {
            // Read, even if nobody decides by it.
            std::hint::black_box((entry.number, entry.title, entry.is_available));
        }
        library.request.send(Request::Lend(choice)).await.ok()?;
        let Answer::Lent(book) = library.answer.recv().await.ok()? else {
            diary.unavailable += 1;
            continue;
        };
        diary.lent += 1;
        let (open, reading) = reading(&book);
        open.send(()).ok()?;
        for _ in 0..3 {
            match reading.recv().await.ok()? {
                Reading::Number(number) if number != choice => diary.wrong += 1,
                Reading::Title(text) | Reading::Content(text) if text.is_empty() => diary.wrong += 1,
                _ => (),
            }
        }
        library.request.send(Request::Return(book)).await.ok()?;
    }
    Some(diary)
}

async fn run(n: usize, m: usize, b: usize) -> Result<Outcome, String> {
    let mut libraries = Vec::with_capacity(m);
    for _ in 0..m {
        libraries.push(PublicLibrary::new(b).await.ok_or("a book ended early")?);
    }
    let customers: Vec<_> = (0..n)
        .map(|_| {
            let connections: Vec<_> = libraries.iter().map(PublicLibrary::lending).collect();
            let (written, diary) = oneshot::channel();
            tokio::spawn(async move { written.send(visit(&connections, b).await?).ok() });
            diary
        })
        .collect();
    let mut all = Diary::default();
    for diary in customers {
        all.add(&diary.await.map_err(|error| error.to_string())?);
    }
    let mut home = 0;
    for library in &libraries {
        home += library.stock().await.map_err(|error| error.to_string())?;
    }
    let result = all.check(n, m, b, home)?;
    // A visit: list, entries, end of list, lend, answer; a book lent: open, three answers, return.
    let visits = all.lent + all.unavailable;
    let messages = visits * (b as i64 + 4) + all.lent * 5 + (n + m + 2 * m * b) as i64;
    Ok(Outcome { messages, result })
}
