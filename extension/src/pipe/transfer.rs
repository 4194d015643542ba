//! Moves data through a pass: whole units through the compiled loop, what is left at the end through a buffer, and what
//! has gaps or has to go backwards, too.
//!
//! `unsafe` here: data is had by its address, because source and destination may overlap, and compiled code is called.
//! That is sound because who calls [`Pass::forwards`] or [`Pass::backwards`] has both for as long, with as many bytes
//! as they promise (a [`Place`] alone does nothing); and because code reads and writes only within the units or the
//! buffers that it is given, and cells of its pipes, of which [`Pass`] has seen that they are there.
//!
//! Overlapping, the destination begins at the source or before it: what is written there never is data that is read
//! later, because code reads a unit's source before, or as far as, it writes it (`x86::blocks`). Backwards, each
//! portion is read whole into a buffer, the last one first.

use core::ptr;

use super::code::Compiled;
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

    /// Calls for each piece of some bytes of data without a gap: where it is, where among those bytes, and how long it
    /// is.
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
                unsafe { compiled.call_small(compiled.code.units, cells, from, to, count) };
                done = count << compiled.shift;
            }
            if done < bytes && bytes - done < compiled.code.unit {
                let (from, to) = (from.wrapping_add(done), to.wrapping_add(done));
                // SAFETY: there are so many bytes.
                done += unsafe { compiled.call_narrow(cells, from, to, bytes - done) };
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
    /// The source has so many bytes of data, and the destination room for what comes out of them, if the pass writes.
    /// They are apart; or the pass is plain, and the destination doesn't begin within the source.
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
            if is_direct {
                // SAFETY: there are so many bytes.
                done += unsafe { compiled.call_narrow(cells, from.at(done), to.at(done), data - done) };
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
            unsafe { compiled.call_rest(cells, buffer.as_ptr(), other.as_mut_ptr(), bytes) };
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
