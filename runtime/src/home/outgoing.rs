//! What the home has for standard output that the platform has not taken yet.
//!
//! # Safety
//! A text that waits here is held, from [`Outgoing::add`] to [`Outgoing::drop_first`], so its bytes stay.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ptr::null_mut;

use crate::heap::Heap;
use crate::layout::{Process, TextHead};
use crate::queue::Queue;
use crate::text;

/// Most bytes that the platform gets at once.
pub const PART: usize = 256 << 10;
/// While more bytes wait, processes that write do too.
pub const MOST: usize = 256 << 10;

/// See the head of this file.
pub struct Outgoing {
    pieces: VecDeque<Piece>,
    /// Of all pieces.
    bytes: usize,
    /// The platform has taken less than it got.
    pub is_full: bool,
    /// The process that has written last while much was waiting, and has not been seen to wait since.
    pub writer: *mut Process,
    /// Processes that wait until less does.
    pub writers: Queue,
}

/// A part of the output, from a place on.
pub enum Piece {
    /// Bytes.
    Bytes(Vec<u8>, usize),
    /// Those of a text; a 0X ends it.
    Text(*mut TextHead, usize),
}

impl Piece {
    /// The next bytes, and whether those are the last.
    ///
    /// # Safety
    /// The piece stays where it is as long as the result is used, and its text is held.
    pub unsafe fn next<'a>(&self) -> (&'a [u8], bool) {
        // SAFETY: the piece stays, and its text is held.
        let (all, from): (&[u8], usize) = unsafe {
            match self {
                Piece::Bytes(bytes, from) => (&*core::ptr::from_ref(bytes.as_slice()), *from),
                Piece::Text(text, from) => (text::bytes(*text), *from),
            }
        };
        let part = &all[from..all.len().min(from + PART)];
        let is_last = from + part.len() == all.len();
        match self {
            Piece::Bytes(..) => (part, is_last),
            Piece::Text(..) => match memchr::memchr(0, part) {
                Some(end) => (&part[..end], true),
                None => (part, is_last),
            },
        }
    }

    /// Bytes that may be left.
    ///
    /// # Safety
    /// Its text is held.
    unsafe fn rest(&self) -> usize {
        match self {
            Piece::Bytes(bytes, from) => bytes.len() - from,
            // SAFETY: the text is held.
            Piece::Text(text, from) => unsafe { text::length(*text) - from },
        }
    }
}

impl Outgoing {
    /// Nothing is to be written.
    pub const fn new() -> Outgoing {
        Outgoing {
            pieces: VecDeque::new(),
            bytes: 0,
            is_full: false,
            writer: null_mut(),
            writers: Queue::EMPTY,
        }
    }

    /// Whether nothing is to be written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether so much is to be written that processes which write have to wait.
    #[inline]
    pub fn is_much(&self) -> bool {
        self.bytes > MOST
    }

    /// Whether so little is to be written that processes which wait may go on.
    #[inline]
    pub fn is_little(&self) -> bool {
        self.bytes <= MOST / 2
    }

    /// One more part.
    ///
    /// # Safety
    /// The text in it is held, for this from now on.
    pub unsafe fn add(&mut self, piece: Piece) {
        // SAFETY: the piece's text is held.
        self.bytes += unsafe { piece.rest() };
        self.pieces.push_back(piece);
    }

    /// The part that comes next.
    pub fn first(&self) -> Option<&Piece> {
        self.pieces.front()
    }

    /// Some bytes of the first part have been written.
    pub fn skip(&mut self, bytes: usize) {
        if let Some(Piece::Bytes(_, from) | Piece::Text(_, from)) = self.pieces.front_mut() {
            *from += bytes;
            self.bytes -= bytes;
        }
    }

    /// The first part has been written.
    ///
    /// # Safety
    /// The heap is the home worker's.
    pub unsafe fn drop_first(&mut self, heap: &mut Heap) {
        if let Some(piece) = self.pieces.pop_front() {
            // SAFETY: a text that waited here is held, and isn't any more.
            unsafe {
                self.bytes -= piece.rest();
                if let Piece::Text(text, _) = piece {
                    text::drop(heap, text);
                }
            }
        }
    }
}
