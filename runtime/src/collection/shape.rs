//! What is the same for all collections with one descriptor.
//!
//! # Why this is sound
//! See the collection module.
#![allow(unsafe_op_in_unsafe_fn)]

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

/// How large an element is in arrays and dense parts: the logarithm of its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Byte = 0,
    Word = 3,
}

impl Size {
    /// Bytes of so many elements.
    #[inline]
    pub(super) fn of(self, count: usize) -> usize {
        count << self as u32
    }
}

impl Shape<'_> {
    #[inline]
    pub(super) fn of(collection: &Collection) -> Shape<'static> {
        let size = if collection.element == Kind::Byte { Size::Byte } else { Size::Word };
        Shape { keys: Keys::new(collection.keys.get()), element: collection.element, size }
    }

    /// An element is gone: so is what it held. (A component must be gone before.)
    pub(super) unsafe fn drop_word(&self, heap: &mut Heap, word: u64) {
        if self.element == Kind::Text {
            text::drop(heap, word as *mut TextHead);
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
        let piece = if self.element == Kind::Text { TEXTS } else { PIECE >> self.size as u32 };
        if count > 2 * piece { count - piece } else { 0 }
    }

    /// The texts of elements that are neighbours are gone.
    pub(super) unsafe fn drop_range(&self, heap: &mut Heap, first: *mut u8, count: usize) {
        if self.element == Kind::Text {
            (0..count).for_each(|index| self.drop_word(heap, *first.cast::<u64>().add(index)));
        }
    }
}
