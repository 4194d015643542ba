//! Records and sequences in messages, as Rust has them: structs and vectors. [`Carried`] is a type of values,
//! [`Reading`] gives them, and [`Writing`] takes them. Generated code implements [`Carried`] for records.
//!
//! What is read and written is compared with the parameter's layout at each word, so that no implementation of
//! [`Carried`] can take one value for another.
//!
//! # Safety of this module: *words and layouts*
//! All of it is used *at home*. `words` has the words that the places say, which are of these layouts; nobody else
//! touches them. Null stands for words that are 0.

use alloc::vec::Vec;

use drystone_component::Parameter;
use drystone_component::form::Layout;

use super::layouts::layout_of;
use super::{Held, Putting, Taking, Text};
use crate::layout::{Fault, TextHead, Worker};
use crate::long::Caller;
use crate::text::records::{self, Shape};
use crate::text::{self, sequences, words};
use crate::worker::heap_of;

/// A type of values that messages carry: INTEGER is `i64`, REAL `f64`, BOOLEAN `bool`, CHARACTER `u8`, TEXT
/// `Text<'static>`, a sequence a `Vec`, and a record a struct.
pub trait Carried: Sized {
    /// Reads one.
    fn take(from: &mut Reading<'_>) -> Self;
    /// Writes it.
    fn put(&self, to: &mut Writing<'_>);
}

macro_rules! carried {
    ($($ty:ty: $method:ident;)*) => {$(
        impl Carried for $ty {
            #[inline]
            fn take(from: &mut Reading<'_>) -> Self {
                from.$method()
            }

            #[inline]
            fn put(&self, to: &mut Writing<'_>) {
                to.$method(self);
            }
        }
    )*};
}

carried! {
    i64: integer;
    f64: real;
    bool: boolean;
    u8: character;
    Text<'static>: text;
}

impl<T: Carried> Carried for Vec<T> {
    fn take(from: &mut Reading<'_>) -> Self {
        from.sequence()
    }

    fn put(&self, to: &mut Writing<'_>) {
        to.sequence(self);
    }
}

/// The words of a message, a record or a sequence, in their order.
#[derive(Clone, Copy)]
enum Places<'l> {
    /// In a message records are their fields.
    Message(&'l [Parameter]),
    Record(&'l [(usize, Layout)]),
    /// So many elements.
    Sequence(&'l Layout, usize),
}

impl<'l> Places<'l> {
    fn at(self, index: usize) -> (usize, &'l Layout) {
        match self {
            Places::Message(parameters) => (index, layout_of(&parameters[index])),
            Places::Record(places) => (places[index].0, &places[index].1),
            Places::Sequence(element, count) => {
                assert!(index < count, "a sequence has more elements in Rust");
                (index, element)
            }
        }
    }
}

/// A value of another type than the parameter's.
#[cold]
fn strange() -> ! {
    panic!("a value of another type than the parameter")
}

/// Gives the values of a message, a record or a sequence, in order.
pub struct Reading<'l> {
    worker: *mut Worker,
    words: *const u64,
    places: Places<'l>,
    next: usize,
}

impl<'l> Reading<'l> {
    #[inline]
    fn following(&mut self) -> (u64, &'l Layout) {
        let (word, layout) = self.places.at(self.next);
        self.next += 1;
        // SAFETY: *words and layouts*.
        (if self.words.is_null() { 0 } else { unsafe { *self.words.add(word) } }, layout)
    }

    /// An INTEGER.
    pub fn integer(&mut self) -> i64 {
        let (word, Layout::Integer) = self.following() else { strange() };
        word as i64
    }

    /// A REAL.
    pub fn real(&mut self) -> f64 {
        let (word, Layout::Real) = self.following() else { strange() };
        f64::from_bits(word)
    }

    /// A BOOLEAN.
    pub fn boolean(&mut self) -> bool {
        let (word, Layout::Boolean) = self.following() else { strange() };
        word != 0
    }

    /// A CHARACTER.
    pub fn character(&mut self) -> u8 {
        let (word, Layout::Character) = self.following() else { strange() };
        word as u8
    }

    /// A TEXT, which shares its bytes with the program's.
    pub fn text(&mut self) -> Text<'static> {
        let (word, Layout::Text) = self.following() else { strange() };
        // SAFETY: *words and layouts*: the word is a text that lives as long as the message.
        let text = unsafe { text::copy(&*heap_of(self.worker), word as *mut TextHead) };
        Text::Held(Held { worker: self.worker, text })
    }

    /// A sequence.
    pub fn sequence<T: Carried>(&mut self) -> Vec<T> {
        let (word, Layout::Sequence(element)) = self.following() else { strange() };
        let sequence = word as *const TextHead;
        // SAFETY: *words and layouts*: the word is a sequence that lives as long as the message.
        let count = unsafe { sequences::count(sequence) };
        let mut inner = self.inner(sequence, Places::Sequence(element, count));
        (0..count).map(|_| T::take(&mut inner)).collect()
    }

    /// A record, of which `read` reads the fields.
    pub fn record<R>(&mut self, read: impl FnOnce(&mut Reading<'_>) -> R) -> R {
        if let Places::Message(_) = self.places {
            return read(self);
        }
        let (word, Layout::Record(fields)) = self.following() else { strange() };
        read(&mut self.inner(word as *const TextHead, Places::Record(fields)))
    }

    /// What a record or a sequence consists of.
    fn inner<'i>(&self, whole: *const TextHead, places: Places<'i>) -> Reading<'i> {
        let words = if whole.is_null() { core::ptr::null() } else { words(whole).cast_const() };
        Reading { worker: self.worker, words, places, next: 0 }
    }
}

/// Takes the values of a message, a record or a sequence, in order. Its words are 0 before.
pub struct Writing<'l> {
    worker: *mut Worker,
    words: *mut u64,
    places: Places<'l>,
    next: usize,
    is_out_of_memory: bool,
}

impl Writing<'_> {
    /// Writes the next word, which is of the layout that `is` tells.
    #[inline]
    fn put(&mut self, word: u64, is: impl FnOnce(&Layout) -> bool) {
        let (place, layout) = self.places.at(self.next);
        if !is(layout) {
            strange();
        }
        self.next += 1;
        // SAFETY: *words and layouts*: the place is one of the words, and is written once.
        unsafe { *self.words.add(place) = word };
    }

    /// Writes what has been made for the next word; if there was no memory for it, that stays 0.
    fn put_made(&mut self, made: Result<*mut TextHead, Fault>) {
        self.is_out_of_memory |= made.is_err();
        self.put(made.map_or(0, |made| made as u64), Layout::is_held);
    }

    /// An INTEGER.
    pub fn integer(&mut self, value: &i64) {
        self.put(*value as u64, |layout| matches!(layout, Layout::Integer));
    }

    /// A REAL.
    pub fn real(&mut self, value: &f64) {
        self.put(value.to_bits(), |layout| matches!(layout, Layout::Real));
    }

    /// A BOOLEAN.
    pub fn boolean(&mut self, value: &bool) {
        self.put(u64::from(*value), |layout| matches!(layout, Layout::Boolean));
    }

    /// A CHARACTER.
    pub fn character(&mut self, value: &u8) {
        self.put(u64::from(*value), |layout| matches!(layout, Layout::Character));
    }

    /// A TEXT.
    pub fn text(&mut self, value: &Text<'_>) {
        let (_, Layout::Text) = self.places.at(self.next) else { strange() };
        let made = match value {
            Text::Held(held) => Ok(held.clone().into_word() as *mut TextHead),
            // SAFETY: at home.
            bytes => unsafe { text::from_bytes(self.worker, bytes) },
        };
        self.put_made(made);
    }

    /// A sequence.
    pub fn sequence<T: Carried>(&mut self, elements: &[T]) {
        let (_, Layout::Sequence(element)) = self.places.at(self.next) else { strange() };
        let count = elements.len();
        // SAFETY: at home; no other process runs meanwhile.
        let made = unsafe { sequences::make(Caller::HASTY, heap_of(self.worker), count, element.is_held()) };
        self.fill(made, Places::Sequence(element, count), |to| {
            elements.iter().for_each(|value| value.put(to));
        });
    }

    /// A record, of which `write` writes the fields.
    pub fn record(&mut self, write: impl FnOnce(&mut Writing<'_>)) {
        if let Places::Message(_) = self.places {
            return write(self);
        }
        let (_, Layout::Record(fields)) = self.places.at(self.next) else { strange() };
        let made = match fields.is_empty() {
            true => Ok(core::ptr::null_mut()),
            // SAFETY: at home.
            false => records::make(unsafe { &mut *heap_of(self.worker) }, Shape::of_fields(fields)),
        };
        self.fill(made, Places::Record(fields), write);
    }

    /// Fills a new record or sequence, if it has been made and isn't empty.
    fn fill(
        &mut self,
        made: Result<*mut TextHead, Fault>,
        places: Places<'_>,
        write: impl FnOnce(&mut Writing<'_>),
    ) {
        if let Ok(whole) = made
            && !whole.is_null()
        {
            let is_out_of_memory = self.is_out_of_memory;
            let mut inner =
                Writing { worker: self.worker, words: words(whole), places, next: 0, is_out_of_memory };
            write(&mut inner);
            self.is_out_of_memory = inner.is_out_of_memory;
        }
        self.put_made(made);
    }
}

impl Taking<'_> {
    /// The next value, a record or a sequence; it stays in the message, too.
    pub fn value<T: Carried>(&mut self) -> T {
        let words = self.values.words.wrapping_add(self.next).cast_const();
        let places = Places::Message(&self.values.parameters[self.next..]);
        let mut reading = Reading { worker: self.worker, words, places, next: 0 };
        let value = T::take(&mut reading);
        self.next += reading.next;
        value
    }
}

impl Putting<'_> {
    /// The next value, a record or a sequence.
    pub fn value<T: Carried>(&mut self, value: &T) {
        let Putting { worker, is_out_of_memory, .. } = *self;
        let words = self.words.wrapping_add(self.filled);
        let places = Places::Message(&self.parameters[self.filled..]);
        let mut writing = Writing { worker, words, places, next: 0, is_out_of_memory };
        value.put(&mut writing);
        self.filled += writing.next;
        self.is_out_of_memory = writing.is_out_of_memory;
    }
}
