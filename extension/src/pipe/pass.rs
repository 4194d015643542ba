//! Passes: compiled lists of pipes, and how they are run.

use alloc::sync::Arc;
use core::ops::Range;
use core::ptr;

use super::code::Compiled;
use super::evaluate::Homes;
use super::registers::Layout;
use super::transfer::{Place, Transfer};
use super::{Fault, Mode, Pipe, Pipes, Registers, Stride};

/// A list of pipes, compiled to one loop. Several threads can run it at once, each with its own registers.
#[derive(Debug)]
pub struct Pass {
    transfer: Transfer,
    source: Option<Stride>,
    destination: Option<Stride>,
    /// Whether the data has no gaps and the length doesn't change.
    is_plain: bool,
    /// The mode, if it is also compiled, and no register is reset before a run.
    short: Option<Mode>,
}

impl Pass {
    pub(super) fn new(list: &Pipes, mode: Mode) -> Pass {
        let Pipes { pipes, source, destination } = list;
        let changes_length = pipes.iter().any(Pipe::changes_length);
        Pass {
            transfer: Transfer {
                pipes: pipes.clone(),
                mode,
                layout: Arc::new(Layout::new(pipes)),
                changes_length,
                compiled: None,
            },
            source: source.filter(|it| it.gap != 0),
            destination: destination.filter(|it| it.gap != 0),
            is_plain: !changes_length && source.is_none() && destination.is_none(),
            short: None,
        }
    }

    pub(super) fn compiled(mut self, compiled: Compiled) -> Pass {
        self.short = (self.is_plain && self.transfer.layout.fresh.is_empty()).then_some(self.transfer.mode);
        self.transfer.compiled = Some(compiled);
        self
    }

    pub(super) fn homes(&self) -> &[Homes] {
        &self.transfer.layout.homes
    }

    /// New registers, with their initial values.
    pub fn registers(&self) -> Registers {
        Registers::new(&self.transfer.layout)
    }

    /// Bytes of code; 0 if nothing was compiled.
    pub fn size(&self) -> usize {
        self.transfer.compiled.as_ref().map_or(0, Compiled::size)
    }

    /// How many bytes of data come out of so many.
    pub fn length(&self, bytes: usize) -> usize {
        self.transfer.length(bytes)
    }

    /// Takes all data of a source, and writes to a destination. Returns how many bytes of data were written.
    #[inline]
    pub fn run(
        &self,
        source: &[u8],
        destination: &mut [u8],
        registers: &mut Registers,
    ) -> Result<usize, Fault> {
        let bytes = source.len();
        if self.is_short(Mode::Write, registers) && bytes <= destination.len() {
            // SAFETY: both have so many bytes, and are apart, being borrowed. The registers are of this pass.
            unsafe {
                self.transfer.plain(source.as_ptr(), destination.as_mut_ptr(), bytes, &mut registers.cells)
            };
            return Ok(bytes);
        }
        self.run_any(source, destination, registers)
    }

    #[inline(never)]
    fn run_any(
        &self,
        source: &[u8],
        destination: &mut [u8],
        registers: &mut Registers,
    ) -> Result<usize, Fault> {
        self.begin(Mode::Write, registers)?;
        let data = self.source.map_or(source.len(), |stride| stride.data(source.len()));
        let written = self.length(data);
        self.has_room(destination.len(), written)?;
        let (from, to) = (Place::of(source, self.source), Place::of_mut(destination, self.destination));
        // SAFETY: the source has the data, and the destination has room for the result; borrowing keeps them apart.
        unsafe { self.transfer.forwards(from, to, data, &mut registers.cells) };
        Ok(written)
    }

    /// Takes all data of a source.
    #[inline]
    pub fn read(&self, source: &[u8], registers: &mut Registers) -> Result<(), Fault> {
        if self.is_short(Mode::Read, registers) {
            // SAFETY: the source has so many bytes, and nothing is written. The registers are of this pass.
            unsafe {
                self.transfer.plain(source.as_ptr(), ptr::null_mut(), source.len(), &mut registers.cells)
            };
            return Ok(());
        }
        self.read_any(source, registers)
    }

    #[inline(never)]
    fn read_any(&self, source: &[u8], registers: &mut Registers) -> Result<(), Fault> {
        self.begin(Mode::Read, registers)?;
        let data = self.source.map_or(source.len(), |stride| stride.data(source.len()));
        // SAFETY: the source has the data, and nothing is written.
        unsafe {
            self.transfer.forwards(Place::of(source, self.source), Place::none(), data, &mut registers.cells)
        };
        Ok(())
    }

    /// Takes data, and writes it in place.
    #[inline]
    pub fn run_in_place(&self, data: &mut [u8], registers: &mut Registers) -> Result<(), Fault> {
        if !self.is_short(Mode::Write, registers) {
            return self.run_within(data, 0..data.len(), 0, registers);
        }
        let place = data.as_mut_ptr();
        // SAFETY: there are so many bytes, and the destination begins where the source does. The registers are of this
        // pass.
        unsafe { self.transfer.plain(place, place, data.len(), &mut registers.cells) };
        Ok(())
    }

    /// Takes data by its address, and, if the mode is to write, writes it to another address or in place. The pass is
    /// one without gaps that doesn't change the length, and the registers are its own.
    ///
    /// # Safety
    /// `from` can be read and, if the pass writes, `to` written, for `bytes` bytes; both are the same or don't overlap.
    /// Nobody else writes there meanwhile.
    pub(crate) unsafe fn run_at(
        &self,
        from: *const u8,
        to: *mut u8,
        bytes: usize,
        registers: &mut Registers,
    ) {
        debug_assert!(self.is_plain && Arc::ptr_eq(&self.transfer.layout, &registers.layout));
        registers.begin();
        // SAFETY: so many bytes can be read, and written if the pass writes. The registers are of this pass.
        unsafe { self.transfer.plain(from, to, bytes, &mut registers.cells) };
    }

    /// Takes a part of memory as source, and writes to the part that begins at `to`. The parts may overlap. If the
    /// destination begins within the source, the last bytes are taken first, which needs commutative pipes.
    pub fn run_within(
        &self,
        memory: &mut [u8],
        source: Range<usize>,
        to: usize,
        registers: &mut Registers,
    ) -> Result<(), Fault> {
        self.begin(Mode::Write, registers)?;
        if source.start > source.end || source.end > memory.len() {
            return Err(Fault::Outside);
        }
        let data = self.source.map_or(source.len(), |stride| stride.data(source.len()));
        let written = self.length(data);
        let room = memory.len().checked_sub(to).ok_or(Fault::Outside)?;
        self.has_room(room, written)?;
        let span = self.destination.map_or(written, |stride| stride.span(written));
        let is_apart = to >= source.end || to + span <= source.start;
        if !is_apart && !self.is_plain {
            return Err(Fault::Overlap);
        }
        let is_backwards = !is_apart && to > source.start;
        if is_backwards && !self.transfer.pipes.iter().all(Pipe::is_commutative) {
            return Err(Fault::Backwards);
        }
        let place = Place::of_mut(memory, None);
        let from = place.plus(source.start).strided(self.source);
        let to = place.plus(to).strided(self.destination);
        // SAFETY: the memory has the data, and room for what comes out. The destination begins within the source only
        // if it goes backwards; if they overlap there are no gaps, and the length doesn't change.
        unsafe {
            if is_backwards {
                self.transfer.backwards(from, to, data, &mut registers.cells);
            } else {
                self.transfer.forwards(from, to, data, &mut registers.cells);
            }
        }
        Ok(())
    }

    fn has_room(&self, there: usize, needed: usize) -> Result<(), Fault> {
        let needed = self.destination.map_or(needed, |stride| stride.span(needed));
        if needed > there { Err(Fault::Room { there, needed }) } else { Ok(()) }
    }

    #[inline(always)]
    fn is_short(&self, mode: Mode, registers: &Registers) -> bool {
        self.short == Some(mode) && Arc::ptr_eq(&self.transfer.layout, &registers.layout)
    }

    fn begin(&self, mode: Mode, registers: &mut Registers) -> Result<(), Fault> {
        if mode != self.transfer.mode {
            return Err(Fault::Mode);
        }
        if !Arc::ptr_eq(&self.transfer.layout, &registers.layout) {
            return Err(Fault::Registers);
        }
        registers.begin();
        Ok(())
    }
}
