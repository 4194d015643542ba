//! Compiled code of pipes, and how it is called.
//!
//! # Safety of calls
//! Code may be called with *data for so many units* (or bytes):
//! * `cells` are the cells of the list that it was compiled for;
//! * the data can be read from `from` on, and what comes out of it can be written from `to` on, if the code writes;
//! * the two don't overlap, or `to` isn't above `from` and the length doesn't change.
//!
//! For less than a unit there is code of another kind, which works in a buffer ([`Compiled::call_rest`]).
//!
//! Code accesses nothing else but its constants, and its frame, which is as large as [`Code::frame`] says. It keeps the
//! calling convention of System V (`x86::frame`).

use alloc::{boxed::Box, string::String, vec::Vec};
#[cfg(all(unix, target_arch = "x86_64"))]
use core::any::Any;
use core::fmt;
use core::mem::{MaybeUninit, transmute};
use core::ops::Deref;

#[cfg(all(unix, target_arch = "x86_64"))]
use crate::engine::jit::Pages;

/// The frame of most code, and the largest one, in 64-bit words of the stack.
const SMALL_FRAME: usize = 64;
pub(super) const FRAME: usize = 1024;

/// Bytes of the shortest unit: no word is longer.
pub(super) const SHORTEST: usize = 8;
/// Bytes of the longest unit. The evaluator takes as many at once.
pub(super) const MOST_UNIT: usize = 256;

/// What the compiler produces.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
    /// Where the loop over units begins.
    pub units: usize,
    /// Where the loop over the shortest units begins, for what is left behind the last whole one.
    pub narrow: Option<usize>,
    /// Where the code begins for less than a unit.
    pub rest: usize,
    /// Bytes of the source in a unit.
    pub unit: usize,
    /// The most units of a call: with more, the code's counters would overflow.
    pub most: usize,
    /// The constants that the code reads.
    pub constants: Vec<u64>,
    /// The size of its frame, in 64-bit words.
    pub frame: usize,
    /// Whether it reads and writes around gaps.
    pub is_strided: bool,
    pub adlers: Vec<Adler>,
}

/// An Adler-32, whose three sums the loop leaves in its frame: of bytes, of the sums before each vector, and of
/// weighted bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adler {
    /// Its register.
    pub cell: usize,
    /// The word of the frame where the sums begin.
    pub sums: usize,
    /// Words of each sum.
    pub words: usize,
    /// Bytes of each unit that it gets.
    pub bytes: usize,
}

/// Where code is.
enum Held {
    /// Pages of this process, the usual case: found without an indirect call.
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

/// Compiled code in executable memory.
pub(super) struct Compiled {
    place: Held,
    /// The binary logarithm of a unit's length.
    pub shift: u32,
    /// The most units of a short call; 0 if there are no short calls.
    pub quick: usize,
    pub code: Code,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Compiled").field("code", &self.code).finish_non_exhaustive()
    }
}

/// The arguments: cells, source, destination, number of units or bytes, constants, frame.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut u64, *const u8, *mut u8, usize, *const u64, *mut u64);
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut u64, *const u8, *mut u8, usize, *const u64, *mut u64);

/// A frame, with room to align it so that no vector is split between two cache lines.
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
    /// Puts code into executable memory.
    ///
    /// # Safety
    /// What `place` returns holds the same bytes, executable, which don't change or move while it lives. The machine
    /// has the features that the code was compiled for.
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

    /// Takes units through the loop.
    ///
    /// # Safety
    /// There is data for `count` units (see the head of this file).
    pub unsafe fn call_units(&self, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the loop begins at `units`; `quick` is 0 unless a small frame suffices.
        unsafe {
            if count <= self.quick {
                self.call_small(self.code.units, cells, from, to, count);
            } else {
                self.call_large(self.code.units, cells, from, to, count);
            }
        }
    }

    /// Takes less than a unit, in a buffer. What comes out is there too, or at `to` if the length changes.
    ///
    /// # Safety
    /// `cells` are those of the list. `buffer` can be read and written: so many bytes of data, and a word of zeros
    /// behind them. If the length changes, `to` has room for what comes out and a word.
    pub unsafe fn call_rest(&self, cells: &mut [u64], buffer: *mut u8, to: *mut u8, bytes: usize) {
        // SAFETY: the code for less than a unit begins at `rest`, and accesses the buffers only.
        unsafe { self.call_any(self.code.rest, cells, buffer, to, bytes) };
    }

    /// Takes as many of the shortest units as there are in so many bytes. Returns how many bytes these are.
    ///
    /// # Safety
    /// There is data for so many bytes.
    #[inline(always)]
    pub unsafe fn call_narrow(&self, cells: &mut [u64], from: *const u8, to: *mut u8, bytes: usize) -> usize {
        let Some(begin) = self.code.narrow else { return 0 };
        let count = bytes / SHORTEST;
        if count > 0 {
            // SAFETY: a loop over the shortest units begins there, and so many are data.
            unsafe { self.call_any(begin, cells, from, to, count) };
        }
        count * SHORTEST
    }

    /// # Safety
    /// Code begins at `begin`, and may be called with this data: `count` of its units or bytes.
    #[inline(always)]
    unsafe fn call_any(&self, begin: usize, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the frame has the size that the code needs; the rest is as demanded.
        unsafe {
            if self.code.frame <= SMALL_FRAME {
                self.call_small(begin, cells, from, to, count);
            } else {
                self.call_large(begin, cells, from, to, count);
            }
        }
    }

    /// Calls code with a small frame.
    ///
    /// # Safety
    /// As for `call_any`, and the code needs no more than [`SMALL_FRAME`].
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
        // SAFETY: the frame is as large as it has to be; all else is as demanded.
        unsafe { self.call(begin, cells, from, to, count, frame.words()) };
    }

    /// # Safety
    /// As for `call_any`.
    #[inline(never)]
    unsafe fn call_large(&self, begin: usize, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        let mut frame = Frame([MaybeUninit::uninit(); FRAME + VECTOR]);
        let words = frame.words();
        // SAFETY: no code has a larger frame; all else is as demanded. The loop has left its sums there.
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
    /// As for `call_any`, and the frame is as large as [`Code::frame`] says.
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
        // SAFETY: an entry begins there, and its arguments are those for which it was compiled.
        unsafe {
            let entry = transmute::<*const u8, Entry>(self.place.code().as_ptr().add(begin));
            entry(cells.as_mut_ptr(), from, to, count, self.code.constants.as_ptr(), frame);
        }
    }
}

impl Adler {
    /// Adds the sums that the loop has left in the frame to the cell.
    ///
    /// # Safety
    /// `frame` is the frame of the loop that this is of, which has just run.
    unsafe fn gather(self, cells: &mut [u64], frame: *const u64, units: usize) {
        const MODULUS: u64 = super::evaluate::ADLER;
        // SAFETY: the loop has written three sums of `words` words each there.
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
