//! Moves data through a pass: whole units through the compiled loop; through a buffer what is left at the end, what has
//! gaps, and what goes backwards.
//!
//! # Safety of transfers
//! Data is passed by address, because source and destination may overlap. A [`Place`] alone accesses nothing; a
//! transfer has *so many bytes of data*:
//! * that many bytes of data can be read at the place of the source, gaps skipped;
//! * what comes out of them can be written at the place of the destination, if the pass writes;
//! * `cells` are those of the pass's list, which [`super::Pass`] checks.
//!
//! If the two overlap, the destination begins at the source or before it: data is never overwritten before it is read,
//! because code reads each part of a unit before it writes it (`x86::blocks`). [`Transfer::backwards`] is for the other
//! case: it reads each portion whole into a buffer, the last one first.

use alloc::{sync::Arc, vec::Vec};
use core::ptr;

use super::code::{Compiled, MOST_UNIT};
use super::evaluate::over;
use super::registers::Layout;
use super::{Mode, Pipe, Stride};

/// The greatest factor by which the length of data grows.
const MOST_GROWTH: usize = 8;
/// Room behind the data in a buffer, so that the last word can be accessed whole.
const ROOM: usize = 8;
/// Bytes that go through a buffer at once.
const PORTION: usize = MOST_UNIT * MOST_GROWTH;

/// The place of source or destination: an address and gaps.
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

    /// The address of a byte of data.
    fn at(self, at: usize) -> *mut u8 {
        self.pointer.wrapping_add(self.stride.map_or(at, |stride| stride.place(at)))
    }

    /// Calls `each` for each piece without a gap of some bytes of data, with its address, its offset in those bytes,
    /// and its length.
    fn pieces(self, at: usize, bytes: usize, mut each: impl FnMut(*mut u8, usize, usize)) {
        let Some(stride) = self.stride else { return each(self.at(at), 0, bytes) };
        let mut done = 0;
        while done < bytes {
            let piece = (stride.run - (at + done) % stride.run).min(bytes - done);
            each(self.at(at + done), done, piece);
            done += piece;
        }
    }

    /// Copies data from here to a buffer.
    ///
    /// # Safety
    /// `bytes` bytes of data can be read here from `at` on, and written at `to`, which is apart from them.
    unsafe fn gather(self, at: usize, to: *mut u8, bytes: usize) {
        // SAFETY: pieces are parts of that data, and `done` counts up to `bytes`.
        self.pieces(at, bytes, |place, done, piece| unsafe {
            to.add(done).copy_from_nonoverlapping(place, piece);
        });
    }

    /// Copies data from a buffer to here.
    ///
    /// # Safety
    /// `bytes` bytes of data can be written here from `at` on, and read at `from`, which is apart from them.
    unsafe fn scatter(self, at: usize, from: *const u8, bytes: usize) {
        // SAFETY: pieces are parts of that data, and `done` counts up to `bytes`.
        self.pieces(at, bytes, |place, done, piece| unsafe {
            place.copy_from_nonoverlapping(from.add(done), piece);
        });
    }
}

/// The pipes of a pass, and what they were compiled to.
#[derive(Debug)]
pub(super) struct Transfer {
    pub pipes: Vec<Pipe>,
    pub mode: Mode,
    pub layout: Arc<Layout>,
    pub changes_length: bool,
    /// None: the pipes are evaluated.
    pub compiled: Option<Compiled>,
}

impl Transfer {
    /// How many bytes of data come out of so many.
    pub fn length(&self, bytes: usize) -> usize {
        if !self.changes_length {
            return bytes;
        }
        self.pipes.iter().fold(bytes, |bytes, pipe| pipe.length(bytes))
    }

    /// As [`Transfer::forwards`] without gaps and with an unchanged length: the fast path for short data.
    ///
    /// # Safety
    /// As for [`Transfer::forwards`]; there are no gaps, and the length doesn't change.
    #[inline(always)]
    pub unsafe fn plain(&self, from: *const u8, to: *mut u8, bytes: usize, cells: &mut [u64]) {
        let mut done = 0;
        if let Some(compiled) = &self.compiled {
            let count = bytes >> compiled.shift;
            if 0 < count && count <= compiled.quick {
                // SAFETY: there is data for so many units; a small frame suffices, else `quick` were 0.
                unsafe { compiled.call_small(compiled.code.units, cells, from, to, count) };
                done = count << compiled.shift;
            }
            if done < bytes && bytes - done < compiled.code.unit {
                let (from, to) = (from.wrapping_add(done), to.wrapping_add(done));
                // SAFETY: so many bytes of data are left.
                done += unsafe { compiled.call_narrow(cells, from, to, bytes - done) };
            }
        }
        if done < bytes {
            let from = Place { pointer: from.wrapping_add(done).cast_mut(), stride: None };
            let to = Place { pointer: to.wrapping_add(done), stride: None };
            // SAFETY: so many bytes of data are left.
            unsafe { self.forwards(from, to, bytes - done, cells) };
        }
    }

    /// Takes data from the first byte to the last.
    ///
    /// # Safety
    /// There are so many bytes of data (see the head of this file). Source and destination are apart; or there are no
    /// gaps, the length doesn't change, and the destination begins at the source or before it.
    #[inline(never)]
    pub unsafe fn forwards(&self, from: Place, to: Place, data: usize, cells: &mut [u64]) {
        let mut done = 0;
        if let Some(compiled) = &self.compiled {
            let code = &compiled.code;
            let is_direct = from.stride.is_none() && to.stride.is_none() || code.is_strided;
            while is_direct && data - done >= code.unit {
                let count = ((data - done) >> compiled.shift).min(code.most);
                let (source, destination) = (from.at(done), to.at(self.length(done)));
                // SAFETY: there is data for so many units.
                unsafe { compiled.call_units(cells, source, destination, count) };
                done += count * code.unit;
            }
            if is_direct {
                // SAFETY: so many bytes of data are left.
                done += unsafe { compiled.call_narrow(cells, from.at(done), to.at(done), data - done) };
            }
            while !is_direct && data - done >= code.unit {
                let units = PORTION / code.unit.max(self.length(code.unit));
                let count = ((data - done) >> compiled.shift).min(units);
                // SAFETY: there is data for so many units, and they fit into the buffers.
                unsafe { self.through_buffers(compiled, from, to, done, count, cells) };
                done += count * code.unit;
            }
        }
        while done < data {
            let bytes = (data - done).min(MOST_UNIT);
            // SAFETY: so many bytes of data are left.
            unsafe { self.rest(from, to, done, bytes, cells) };
            done += bytes;
        }
    }

    /// Takes data from the last portion to the first, through commutative pipes, without gaps and with an unchanged
    /// length.
    ///
    /// # Safety
    /// There are so many bytes of data (see the head of this file). There are no gaps, the length doesn't change, and
    /// the destination doesn't begin before the source.
    pub unsafe fn backwards(&self, from: Place, to: Place, data: usize, cells: &mut [u64]) {
        let mut buffer = [0u8; PORTION];
        let mut left = data;
        while left > 0 {
            let begin = (left - 1) / PORTION * PORTION;
            // SAFETY: so many bytes of data are left, and they fit into the buffer. It is apart from the destination.
            unsafe {
                from.gather(begin, buffer.as_mut_ptr(), left - begin);
                self.forwards(Place::of_mut(&mut buffer, None), to.plus(begin), left - begin, cells);
            }
            left = begin;
        }
    }

    /// Takes units from or to places with gaps.
    ///
    /// # Safety
    /// There is data for `count` units. They, and what comes out of them, are no more bytes than a portion.
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
        // SAFETY: the data is there, and the buffers are as long as a portion.
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

    /// Takes data through a buffer.
    ///
    /// # Safety
    /// There are so many bytes of data, at most [`MOST_UNIT`].
    unsafe fn rest(&self, from: Place, to: Place, at: usize, bytes: usize, cells: &mut [u64]) {
        let mut buffer = [0u8; MOST_UNIT + ROOM];
        // SAFETY: there are so many bytes of data, and the buffer is longer.
        unsafe { from.gather(at, buffer.as_mut_ptr(), bytes) };
        if self.changes_length {
            let mut other = [0u8; MOST_UNIT * MOST_GROWTH + ROOM];
            // SAFETY: the second buffer and the destination have room for the result.
            unsafe {
                self.in_buffers(&mut buffer, &mut other, bytes, cells);
                self.leave(to, at, &other, bytes);
            }
        } else {
            // SAFETY: the result has the same length, and is in the first buffer.
            unsafe {
                self.in_buffers(&mut buffer, &mut [], bytes, cells);
                self.leave(to, at, &buffer, bytes);
            }
        }
    }

    /// Takes data in a buffer through the pipes. What comes out is in the second buffer if its length changes.
    ///
    /// # Safety
    /// The first buffer has so many bytes and a word of zeros behind them. The second has room for what comes out and a
    /// word, if the length changes.
    unsafe fn in_buffers(&self, buffer: &mut [u8], other: &mut [u8], bytes: usize, cells: &mut [u64]) {
        if let Some(compiled) = &self.compiled {
            // SAFETY: the caller promises that both buffers have the required length.
            unsafe { compiled.call_rest(cells, buffer.as_mut_ptr(), other.as_mut_ptr(), bytes) };
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

    /// Writes what came out of so many bytes, if the pass writes.
    ///
    /// # Safety
    /// What comes out can be written at the place of the destination, and the buffer holds it.
    unsafe fn leave(&self, to: Place, at: usize, buffer: &[u8], bytes: usize) {
        if self.mode == Mode::Write {
            let begin = self.length(at);
            let out = self.length(at + bytes) - begin;
            // SAFETY: the room is there, and the buffer is apart from it.
            unsafe { to.scatter(begin, buffer.as_ptr(), out) };
        }
    }
}
