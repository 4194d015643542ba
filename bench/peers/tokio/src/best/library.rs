//! Library whose customers call the libraries and read the books themselves.

use std::sync::{Arc, RwLock};

use crate::mirror::library::Diary;
use crate::program::Outcome;

struct Book {
    number: usize,
    title: Arc<str>,
    content: &'static str,
}

struct PublicLibrary {
    titles: Vec<Arc<str>>,
    /// By number, from 1; those that are lent are not there.
    books: RwLock<Vec<Option<Box<Book>>>>,
}

struct Entry<'a> {
    number: usize,
    title: &'a Arc<str>,
    is_available: bool,
}

impl PublicLibrary {
    fn new(books: usize) -> PublicLibrary {
        let titles: Vec<Arc<str>> = (1..=books).map(|number| format!("Book {number}").into()).collect();
        let book = |(number, title): (_, &Arc<str>)| {
            Some(Box::new(Book { number, title: title.clone(), content: "Once upon a time" }))
        };
        let books = (1..).zip(&titles).map(book).collect();
        PublicLibrary { titles, books: RwLock::new(books) }
    }

    fn list<'a>(&'a self, entries: &mut Vec<Entry<'a>>) {
        let books = self.books.read().expect("nobody panics with it");
        let all = (1..).zip(&self.titles).zip(books.iter());
        entries.clear();
        entries.extend(all.map(|((number, title), book)| Entry {
            number,
            title,
            is_available: book.is_some(),
        }));
    }

    fn lend(&self, number: usize) -> Option<Box<Book>> {
        self.books.write().expect("nobody panics with it")[number - 1].take()
    }

    fn take_back(&self, number: usize, book: Box<Book>) {
        self.books.write().expect("nobody panics with it")[number - 1] = Some(book);
    }
}

fn visit(libraries: &[PublicLibrary]) -> Diary {
    let mut diary = Diary::default();
    let mut entries = Vec::new();
    for library in libraries {
        let choice = fastrand::usize(1..=library.titles.len());
        library.list(&mut entries);
        let entry = &entries[choice - 1];
        // Read, even if nobody decides by it.
        std::hint::black_box(entry.is_available);
        let Some(book) = library.lend(entry.number) else {
            diary.unavailable += 1;
            continue;
        };
        diary.lent += 1;
        if book.number != choice || book.title != *entry.title || book.content.is_empty() {
            diary.wrong += 1;
        }
        library.take_back(choice, book);
    }
    diary
}

pub async fn run(n: usize, m: usize, b: usize) -> Result<Outcome, String> {
    let libraries: Arc<[_]> = (0..m).map(|_| PublicLibrary::new(b)).collect();
    let customers: Vec<_> = (0..n)
        .map(|_| {
            let libraries = libraries.clone();
            tokio::spawn(async move { visit(&libraries) })
        })
        .collect();
    let mut all = Diary::default();
    for diary in customers {
        all.add(&diary.await.map_err(|error| error.to_string())?);
    }
    let at_home = |library: &PublicLibrary| {
        library.books.read().expect("nobody panics with it").iter().flatten().count()
    };
    let home = libraries.iter().map(at_home).sum();
    Ok(Outcome::uncounted(all.check(n, m, b, home)?))
}
