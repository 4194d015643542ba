//! Moves data through a pass: whole units through the compiled loop, what is left at the end through a buffer, and what has gaps or
//! has to go backwards, too.
//!
//! `unsafe` here: data is had by its address, because source and destination may overlap, and compiled code is called. That is sound
//! because who calls [`Pass::forwards`] or [`Pass::backwards`] has both for as long, with as many bytes as they promise (a
//! [`Place`] alone does nothing); because code reads and writes only within the unit or the buffer that it is at, in its frame,
//! its constants, and cells of its pipes, of which [`Pass`] has seen that they are there; and because what was compiled keeps
//! the calling convention of System V (`x86::frame`).
//!
//! Overlapping, the destination begins at the source or before it: what is written there never is data that is read later,
//! because code reads a unit's source before, or as far as, it writes it (`x86::blocks`). Backwards, each portion is
//! read whole into a buffer, the last one first.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::mem::{MaybeUninit, transmute};
use core::ops::Deref;
use core::{fmt, ptr};

use super::evaluate::over;
use super::{Mode, Pass, Stride};

/// More bytes code doesn't take at once, nor the evaluator.
pub(super) const MOST_UNIT: usize = 256;
/// More times as many bytes don't come out.
const MOST_GROWTH: usize = 8;
/// Behind what is in a buffer, so that the last word can be read and written whole.
const ROOM: usize = 8;
/// Bytes that go through a buffer at once.
const PORTION: usize = MOST_UNIT * MOST_GROWTH;
/// 64-bit words that most code needs on the stack, and that any may.
const SMALL_FRAME: usize = 64;
pub(super) const FRAME: usize = 1024;

/// Where data begins, or where it is to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pointer: *mut u8,
    stride: Option<Stride>,
}

impl Place {
    pub fn of(bytes: &[u8], stride: Option<Stride>) -> Place {
        Place { pointer: bytes.as_ptr().cast_mut(), stride }
    }

    pub fn of_mut(bytes: &mut [u8], stride: Option<Stride>) -> Place {
        Place { pointer: bytes.as_mut_ptr(), stride }
    }

    pub fn none() -> Place {
        Place { pointer: ptr::null_mut(), stride: None }
    }

    pub fn plus(self, bytes: usize) -> Place {
        Place { pointer: self.pointer.wrapping_add(bytes), ..self }
    }

    pub fn strided(self, stride: Option<Stride>) -> Place {
        Place { stride, ..self }
    }

    /// Where a byte of data is.
    fn at(self, at: usize) -> *mut u8 {
        self.pointer.wrapping_add(self.stride.map_or(at, |stride| stride.place(at)))
    }

    /// Calls for each piece of some bytes of data without a gap: where it is, where among those bytes, and how long it is.
    fn pieces(self, at: usize, bytes: usize, mut each: impl FnMut(*mut u8, usize, usize)) {
        let Some(stride) = self.stride else { return each(self.at(at), 0, bytes) };
        let mut done = 0;
        while done < bytes {
            let piece = (stride.run - (at + done) % stride.run).min(bytes - done);
            each(self.at(at + done), done, piece);
            done += piece;
        }
    }

    /// # Safety
    /// There is so much data, and room for it.
    unsafe fn gather(self, at: usize, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        self.pieces(at, bytes, |place, done, piece| unsafe {
            to.add(done).copy_from_nonoverlapping(place, piece);
        });
    }

    /// # Safety
    /// There is so much data, and room for it.
    unsafe fn scatter(self, at: usize, from: *const u8, bytes: usize) {
        // SAFETY: as above.
        self.pieces(at, bytes, |place, done, piece| unsafe {
            place.copy_from_nonoverlapping(from.add(done), piece);
        });
    }
}

/// What was compiled.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
    /// Where the loop over units begins.
    pub units: usize,
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

/// An Adler-32 whose sums the loop leaves in its frame: of bytes, of the sums before each vector, and of bytes with their weights.
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

/// Code in its place.
pub(super) struct Compiled {
    place: Box<dyn Deref<Target = [u8]> + Send + Sync>,
    /// Bits of a unit's length.
    shift: u32,
    /// As many units can be taken at once the short way: 0 if there is none.
    quick: usize,
    code: Code,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Compiled").field("code", &self.code).finish_non_exhaustive()
    }
}

/// Cells, source, destination, how many units or bytes, constants, frame.
type Entry = unsafe extern "sysv64" fn(*mut u64, *const u8, *mut u8, usize, *const u64, *mut u64);

/// What code has of the stack. Its vectors may lie across two lines of the cache: to begin at one would take longer than that.
struct Frame<const WORDS: usize>([MaybeUninit<u64>; WORDS]);

impl Compiled {
    /// # Safety
    /// The place gives the same bytes, executable, and the machine can run them.
    pub unsafe fn new<M: Deref<Target = [u8]> + Send + Sync + 'static>(
        mut code: Code,
        place: impl FnOnce(&[u8]) -> Result<M, String>,
    ) -> Result<Compiled, String> {
        let place = Box::new(place(&code.bytes)?);
        code.bytes = Vec::new();
        debug_assert!(code.unit.is_power_of_two());
        let is_quick = code.frame <= SMALL_FRAME && code.adlers.is_empty();
        let (shift, quick) = (code.unit.trailing_zeros(), if is_quick { code.most } else { 0 });
        Ok(Compiled { place, shift, quick, code })
    }

    pub fn size(&self) -> usize {
        self.place.len()
    }

    /// # Safety
    /// As the module says.
    unsafe fn call_units(&self, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        if count <= self.quick {
            // SAFETY: as above.
            unsafe { self.call::<SMALL_FRAME>(self.code.units, cells, from, to, count) };
        } else {
            // SAFETY: as above.
            unsafe { self.call_large(self.code.units, cells, from, to, count) };
        }
    }

    /// # Safety
    /// As the module says.
    #[inline(never)]
    unsafe fn call_large(&self, begin: usize, cells: &mut [u64], from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: as above.
        let frame = unsafe { self.call::<FRAME>(begin, cells, from, to, count) };
        if begin == self.code.units {
            for adler in &self.code.adlers {
                adler.gather(cells, &frame, count);
            }
        }
    }

    /// Gives what is in the frame then.
    #[inline(always)]
    unsafe fn call<const WORDS: usize>(
        &self,
        begin: usize,
        cells: &mut [u64],
        from: *const u8,
        to: *mut u8,
        count: usize,
    ) -> Frame<WORDS> {
        let mut frame = Frame([MaybeUninit::uninit(); WORDS]);
        let words: *mut u64 = frame.0.as_mut_ptr().cast();
        // SAFETY: an entry begins there, and what it is called with is what it was compiled for.
        unsafe {
            let entry = transmute::<*const u8, Entry>(self.place.as_ptr().add(begin));
            entry(cells.as_mut_ptr(), from, to, count, self.code.constants.as_ptr(), words);
        }
        frame
    }
}

impl Adler {
    /// The code has left sums in the frame.
    fn gather(self, cells: &mut [u64], frame: &Frame<FRAME>, units: usize) {
        const MODULUS: u64 = super::evaluate::ADLER;
        // SAFETY: the code has written these words.
        let at = |index: usize| unsafe { frame.0[self.sums + index].assume_init() };
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

impl Pass {
    /// As [`Pass::forwards`] of a plain pass: the short way for short data.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn plain(&self, from: *const u8, to: *mut u8, bytes: usize, cells: &mut [u64]) {
        let mut done = 0;
        if let Some(compiled) = &self.compiled {
            let count = bytes >> compiled.shift;
            if 0 < count && count <= compiled.quick {
                // SAFETY: there are so many units.
                unsafe { compiled.call::<SMALL_FRAME>(compiled.code.units, cells, from, to, count) };
                done = count << compiled.shift;
            }
        }
        if done < bytes {
            let from = Place { pointer: from.wrapping_add(done).cast_mut(), stride: None };
            let to = Place { pointer: to.wrapping_add(done), stride: None };
            // SAFETY: as above, of what is left.
            unsafe { self.forwards(from, to, bytes - done, cells) };
        }
    }

    /// # Safety
    /// The source has so many bytes of data, and the destination room for what comes out of them, if the pass writes. They are
    /// apart; or the pass is plain, and the destination doesn't begin within the source.
    #[inline(never)]
    pub(super) unsafe fn forwards(&self, from: Place, to: Place, data: usize, cells: &mut [u64]) {
        let mut done = 0;
        if let Some(compiled) = &self.compiled {
            let code = &compiled.code;
            let is_direct = from.stride.is_none() && to.stride.is_none() || code.is_strided;
            while is_direct && data - done >= code.unit {
                let count = ((data - done) >> compiled.shift).min(code.most);
                let (source, destination) = (from.at(done), to.at(self.length(done)));
                // SAFETY: there are so many units.
                unsafe { compiled.call_units(cells, source, destination, count) };
                done += count * code.unit;
            }
            while !is_direct && data - done >= code.unit {
                let units = PORTION / code.unit.max(self.length(code.unit));
                let count = ((data - done) >> compiled.shift).min(units);
                // SAFETY: there are so many units, and they fit into the buffers.
                unsafe { self.through_buffers(compiled, from, to, done, count, cells) };
                done += count * code.unit;
            }
        }
        while done < data {
            let bytes = (data - done).min(MOST_UNIT);
            // SAFETY: there are so many bytes.
            unsafe { self.rest(from, to, done, bytes, cells) };
            done += bytes;
        }
    }

    /// # Safety
    /// As [`Pass::forwards`] of a plain pass of commutative pipes, but that the destination begins within the source.
    pub(super) unsafe fn backwards(&self, from: Place, to: Place, data: usize, cells: &mut [u64]) {
        let mut buffer = [0u8; PORTION];
        let mut left = data;
        while left > 0 {
            let begin = (left - 1) / PORTION * PORTION;
            // SAFETY: there are so many bytes, and they fit into the buffer.
            unsafe {
                from.gather(begin, buffer.as_mut_ptr(), left - begin);
                self.forwards(Place::of_mut(&mut buffer, None), to.plus(begin), left - begin, cells);
            }
            left = begin;
        }
    }

    /// # Safety
    /// There are so many units, and they and what comes out of them are no more bytes than a portion.
    #[inline(never)]
    unsafe fn through_buffers(
        &self,
        compiled: &Compiled,
        from: Place,
        to: Place,
        at: usize,
        count: usize,
        cells: &mut [u64],
    ) {
        let (mut taken, mut given) = ([0u8; PORTION], [0u8; PORTION]);
        let code = &compiled.code;
        let (bytes, begin, out) =
            (count * code.unit, self.length(at), self.length(at + count * code.unit) - self.length(at));
        let is_written = self.mode == Mode::Write;
        let to_buffer = is_written && to.stride.is_some();
        // SAFETY: as above.
        unsafe {
            let source = if from.stride.is_some() {
                from.gather(at, taken.as_mut_ptr(), bytes);
                taken.as_mut_ptr()
            } else {
                from.at(at)
            };
            let destination = if to_buffer { given.as_mut_ptr() } else { to.at(begin) };
            compiled.call_units(cells, source, destination, count);
            if to_buffer {
                to.scatter(begin, given.as_ptr(), out);
            }
        }
    }

    /// # Safety
    /// There are so many bytes, no more than a unit may have.
    unsafe fn rest(&self, from: Place, to: Place, at: usize, bytes: usize, cells: &mut [u64]) {
        let mut buffer = [0u8; MOST_UNIT + ROOM];
        // SAFETY: there are so many.
        unsafe { from.gather(at, buffer.as_mut_ptr(), bytes) };
        if self.changes_length {
            let mut other = [0u8; MOST_UNIT * MOST_GROWTH + ROOM];
            // SAFETY: the second buffer has room for what comes out.
            unsafe {
                self.in_buffers(&mut buffer, &mut other, bytes, cells);
                self.leave(to, at, &other, bytes);
            }
        } else {
            // SAFETY: what comes out stands where it came in.
            unsafe {
                self.in_buffers(&mut buffer, &mut [], bytes, cells);
                self.leave(to, at, &buffer, bytes);
            }
        }
    }

    /// # Safety
    /// The second buffer has room for what comes out, if its length is another one.
    unsafe fn in_buffers(&self, buffer: &mut [u8], other: &mut [u8], bytes: usize, cells: &mut [u64]) {
        if let Some(compiled) = &self.compiled {
            // SAFETY: as above.
            unsafe {
                let (from, to) = (buffer.as_ptr(), other.as_mut_ptr());
                if compiled.code.frame <= SMALL_FRAME {
                    compiled.call::<SMALL_FRAME>(compiled.code.rest, cells, from, to, bytes);
                } else {
                    compiled.call_large(compiled.code.rest, cells, from, to, bytes);
                }
            }
            return;
        }
        let (mut current, mut next, mut bytes) = (buffer, other, bytes);
        for (pipe, homes) in self.pipes.iter().zip(&self.layout.homes) {
            over(pipe, *homes, current, next, bytes, cells);
            if pipe.changes_length() {
                bytes = pipe.length(bytes);
                (current, next) = (next, &mut []);
            }
        }
    }

    /// # Safety
    /// As for [`Pass::rest`].
    unsafe fn leave(&self, to: Place, at: usize, buffer: &[u8], bytes: usize) {
        if self.mode == Mode::Write {
            let begin = self.length(at);
            let out = self.length(at + bytes) - begin;
            // SAFETY: as above.
            unsafe { to.scatter(begin, buffer.as_ptr(), out) };
        }
    }
}
