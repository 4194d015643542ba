//! What is the same for all collections with one descriptor: the kinds of their keys and elements.

use drystone_component::{Collection, Kind};

use super::keys::Keys;
use crate::heap::Heap;
use crate::layout::TextHead;
use crate::text;

/// An element found or made.
#[derive(Clone, Copy)]
pub(super) struct Inserted {
    pub(super) cell: *mut u64,
    pub(super) is_new: bool,
}

/// What is the same for all collections with one descriptor.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) element: Kind,
    pub(super) size: Size,
}

/// How large an element is in arrays and dense parts. Only [`Shape::of`] makes one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Size(Shift);

/// The logarithm of the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Byte = 0,
    Word = 3,
}

impl Size {
    /// Whether it is a byte; else it is a word.
    #[inline]
    pub(super) fn is_byte(self) -> bool {
        self.0 == Shift::Byte
    }

    /// The logarithm of its bytes.
    #[inline]
    pub(super) fn shift(self) -> u32 {
        self.0 as u32
    }

    /// Bytes of so many elements.
    #[inline]
    pub(super) fn of(self, count: usize) -> usize {
        count << self.shift()
    }

    /// What an element holds.
    ///
    /// # Safety
    /// `element` is one of this size that exists.
    #[inline]
    pub(super) unsafe fn read(self, element: *const u8) -> u64 {
        // SAFETY: the element may be read; a word is aligned.
        unsafe { if self.is_byte() { u64::from(*element) } else { *element.cast() } }
    }

    /// Makes an element hold a word.
    ///
    /// # Safety
    /// `element` is one of this size that exists.
    #[inline]
    pub(super) unsafe fn write(self, element: *mut u8, word: u64) {
        // SAFETY: the element may be written; a word is aligned.
        unsafe { if self.is_byte() { *element = word as u8 } else { *element.cast() = word } }
    }
}

impl Shape<'_> {
    /// The shape that a descriptor says.
    ///
    /// # Safety
    /// It, and what it consists of, is only passed along with keys and parts of collections that `collection`
    /// describes, and with heaps of the memory in which these lie.
    #[inline]
    pub(super) unsafe fn of(collection: &Collection) -> Shape<'static> {
        let size = Size(if collection.element == Kind::Byte { Shift::Byte } else { Shift::Word });
        // SAFETY: as a part of the shape they are passed along with it only.
        let keys = unsafe { Keys::new(collection.keys.get()) };
        Shape { keys, element: collection.element, size }
    }

    /// An element is gone: so is what it held. (A component must be gone before.)
    ///
    /// # Safety
    /// `word` is what an element held, and does no longer.
    pub(super) unsafe fn drop_word(&self, heap: &mut Heap, word: u64) {
        if self.element == Kind::Text {
            // SAFETY: the element held the text.
            unsafe { text::drop(heap, word as *mut TextHead) };
        }
    }
}

/// So many bytes of elements are freed before it is asked whether that is enough.
const PIECE: usize = 1 << 20;
/// So many elements are, if each is a text.
const TEXTS: usize = 1 << 9;

impl Shape<'_> {
    /// How many of so many elements are left when the last piece has been freed: none, or more than a piece.
    pub(super) fn without_piece(&self, count: usize) -> usize {
        let piece = if self.element == Kind::Text { TEXTS } else { PIECE >> self.size.shift() };
        if count > 2 * piece { count - piece } else { 0 }
    }

    /// The texts of elements that are neighbours are gone.
    ///
    /// # Safety
    /// `first` is the first of `count` elements, which are not used again.
    pub(super) unsafe fn drop_range(&self, heap: &mut Heap, first: *mut u8, count: usize) {
        if self.element == Kind::Text {
            for index in 0..count {
                // SAFETY: the index is that of an element; a text is a word.
                unsafe { self.drop_word(heap, *first.cast::<u64>().add(index)) };
            }
        }
    }
}
