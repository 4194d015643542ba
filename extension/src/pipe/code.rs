//! What was compiled, and how it is called.
//!
//! `unsafe` here: compiled code is called. That is sound because who calls [`Compiled::call_units`] or another of these
//! has the data that code is told of, and the cells of its pipes; because code reads and writes nothing else but its
//! constants and its frame, which is as large as it says (`x86::compile` gives no code that needs more); and because it
//! keeps the calling convention of System V (`x86::frame`).

use alloc::{boxed::Box, string::String, vec::Vec};
#[cfg(all(unix, target_arch = "x86_64"))]
use core::any::Any;
use core::fmt;
use core::mem::{MaybeUninit, transmute};
use core::ops::Deref;

#[cfg(all(unix, target_arch = "x86_64"))]
use crate::engine::jit::Pages;

/// 64-bit words that most code needs on the stack, and that any may.
const SMALL_FRAME: usize = 64;
pub(super) const FRAME: usize = 1024;

/// Bytes of the shortest unit: no word is longer.
pub(super) const SHORTEST: usize = 8;

/// What was compiled.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
    /// Where the loop over units begins.
    pub units: usize,
    /// Where the loop over the shortest units begins, for what is left behind the last whole one.
    pub narrow: Option<usize>,
    /// Where that begins which takes what is less than a unit.
    pub rest: usize,
    /// Bytes of the source that the loop takes at once.
    pub unit: usize,
    /// More units at once don't fit into what the code counts with.
    pub most: usize,
    /// What the code finds at its constants' address.
    pub constants: Vec<u64>,
    /// 64-bit words that it needs of the stack.
    pub frame: usize,
    /// Whether it knows the gaps.
    pub is_strided: bool,
    pub adlers: Vec<Adler>,
}

/// An Adler-32 whose sums the loop leaves in its frame: of bytes, of the sums before each vector, and of bytes with
/// their weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adler {
    /// Its register.
    pub cell: usize,
    /// The word of the frame where the sums begin.
    pub sums: usize,
    /// Words of each.
    pub words: usize,
    /// Bytes that it sees of each unit.
    pub bytes: usize,
}

/// Where code is.
enum Held {
    /// As most code is: that is found sooner.
    #[cfg(all(unix, target_arch = "x86_64"))]
    Pages(Pages),
    Other(Box<dyn Deref<Target = [u8]> + Send + Sync>),
}

impl Held {
    fn new<M: Deref<Target = [u8]> + Send + Sync + 'static>(place: M) -> Held {
        #[cfg(all(unix, target_arch = "x86_64"))]
        {
            let mut place = Some(place);
            let any: &mut dyn Any = &mut place;
            if let Some(pages) = any.downcast_mut::<Option<Pages>>().and_then(Option::take) {
                return Held::Pages(pages);
            }
            Held::Other(Box::new(place.expect("it was of another type")))
        }
        #[cfg(not(all(unix, target_arch = "x86_64")))]
        Held::Other(Box::new(place))
    }

    #[inline(always)]
    fn code(&self) -> &[u8] {
        match self {
            #[cfg(all(unix, target_arch = "x86_64"))]
            Held::Pages(pages) => pages,
            Held::Other(place) => place,
        }
    }
}

/// Code in its place.
pub(super) struct Compiled {
    place: Held,
    /// Bits of a unit's length.
    pub shift: u32,
    /// As many units can be taken at once the short way: 0 if there is none.
    pub quick: usize,
    pub code: Code,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Compiled").field("code", &self.code).finish_non_exhaustive()
    }
}

/// Cells, source, destination, how many units or bytes, constants, frame.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut u64, *const u8, *mut u8, usize, *const u64, *mut u64);
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut u64, *const u8, *mut u8, usize, *const u64, *mut u64);

/// What code has of the stack, and more, so that it can begin where no vector lies across two lines of the cache.
struct Frame<const WORDS: usize>([MaybeUninit<u64>; WORDS]);

/// Words of the longest vector.
const VECTOR: usize = 4;

impl<const WORDS: usize> Frame<WORDS> {
    fn words(&mut self) -> *mut u64 {
        let begin: *mut u8 = self.0.as_mut_ptr().cast();
        begin.wrapping_add(begin.addr().wrapping_neg() % (8 * VECTOR)).cast()
    }
}

impl Compiled {
    /// # Safety
    /// The place gives the same bytes, executable, and the machine can run them.
    pub unsafe fn new<M: Deref<Target = [u8]> + Send + Sync + 'static>(
        mut code: Code,
        place: impl FnOnce(&[u8]) -> Result<M, String>,
    ) -> Result<Compiled, String> {
        let place = Held::new(place(&code.bytes)?);
        code.bytes = Vec::new();
        debug_assert!(code.unit.is_power_of_two());
        let is_quick = code.frame <= SMALL_FRAME && code.adlers.is_empty();
        let (shift, quick) = (code.unit.trailing_zeros(), if is_quick { code.most } else { 0 });
        Ok(Compiled { place, shift, quick, code })
    }

    pub fn size(&self) -> usize {
        self.place.code().len()
    }

    /// # Safety
    /// As the module says.
    pub unsafe fn call_units(&self, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: as above.
        unsafe {
            if count <= self.quick {
                self.call_small(self.code.units, cells, from, to, count);
            } else {
                self.call_large(self.code.units, cells, from, to, count);
            }
        }
    }

    /// # Safety
    /// As the module says.
    pub unsafe fn call_rest(&self, cells: &mut [u64], from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { self.call_any(self.code.rest, cells, from, to, bytes) };
    }

    /// As many of the shortest units as there are in so many bytes. Gives how many bytes that were.
    ///
    /// # Safety
    /// As the module says.
    #[inline(always)]
    pub unsafe fn call_narrow(&self, cells: &mut [u64], from: *const u8, to: *mut u8, bytes: usize) -> usize {
        let Some(begin) = self.code.narrow else { return 0 };
        let count = bytes / SHORTEST;
        if count > 0 {
            // SAFETY: as above.
            unsafe { self.call_any(begin, cells, from, to, count) };
        }
        count * SHORTEST
    }

    /// # Safety
    /// As the module says.
    #[inline(always)]
    unsafe fn call_any(&self, begin: usize, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: as above.
        unsafe {
            if self.code.frame <= SMALL_FRAME {
                self.call_small(begin, cells, from, to, count);
            } else {
                self.call_large(begin, cells, from, to, count);
            }
        }
    }

    /// # Safety
    /// As the module says.
    #[inline(always)]
    pub unsafe fn call_small(
        &self,
        begin: usize,
        cells: &mut [u64],
        from: *const u8,
        to: *mut u8,
        count: usize,
    ) {
        let mut frame = Frame([MaybeUninit::uninit(); SMALL_FRAME + VECTOR]);
        // SAFETY: as above.
        unsafe { self.call(begin, cells, from, to, count, frame.words()) };
    }

    /// # Safety
    /// As the module says.
    #[inline(never)]
    unsafe fn call_large(&self, begin: usize, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        let mut frame = Frame([MaybeUninit::uninit(); FRAME + VECTOR]);
        let words = frame.words();
        // SAFETY: as above; the loop has left its sums in the frame.
        unsafe {
            self.call(begin, cells, from, to, count, words);
            if begin == self.code.units {
                for adler in &self.code.adlers {
                    adler.gather(cells, words, count);
                }
            }
        }
    }

    /// # Safety
    /// As the module says.
    #[inline(always)]
    unsafe fn call(
        &self,
        begin: usize,
        cells: &mut [u64],
        from: *const u8,
        to: *mut u8,
        count: usize,
        frame: *mut u64,
    ) {
        // SAFETY: an entry begins there, and what it is called with is what it was compiled for.
        unsafe {
            let entry = transmute::<*const u8, Entry>(self.place.code().as_ptr().add(begin));
            entry(cells.as_mut_ptr(), from, to, count, self.code.constants.as_ptr(), frame);
        }
    }
}

impl Adler {
    /// # Safety
    /// The code has left sums in the frame.
    unsafe fn gather(self, cells: &mut [u64], frame: *const u64, units: usize) {
        const MODULUS: u64 = super::evaluate::ADLER;
        // SAFETY: as above.
        let at = |index: usize| unsafe { *frame.add(self.sums + index) };
        let vector = 8 * self.words as u64;
        let (mut bytes, mut weighted) = (0, 0);
        for index in 0..self.words {
            let halves = at(2 * self.words + index);
            bytes += at(index);
            weighted += vector * at(self.words + index) + (halves & 0xffff_ffff) + (halves >> 32);
        }
        let sum = cells[self.cell];
        let (low, high) = (sum & 0xffff, sum >> 16 & 0xffff);
        let high = (high + (units * self.bytes) as u64 * low + weighted) % MODULUS;
        let low = (low + bytes) % MODULUS;
        cells[self.cell] = high << 16 | low;
    }
}
