//! A list that was compiled, and how it is run.

use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;
use core::ptr;

use super::code::Compiled;
use super::evaluate::Homes;
use super::registers::Layout;
use super::transfer::Place;
use super::{Fault, Mode, Pipe, Pipes, Registers, Stride};

/// A list of pipes as one loop. Several threads may run it at once, each with registers of its own.
#[derive(Debug)]
pub struct Pass {
    pub(super) pipes: Vec<Pipe>,
    pub(super) mode: Mode,
    pub(super) layout: Arc<Layout>,
    pub(super) source: Option<Stride>,
    pub(super) destination: Option<Stride>,
    pub(super) changes_length: bool,
    /// Whether nothing but the data's own bytes is touched, from the first to the last.
    is_plain: bool,
    /// The mode, if besides that nothing has to be done before what was compiled is called.
    short: Option<Mode>,
    pub(super) compiled: Option<Compiled>,
}

impl Pass {
    pub(super) fn new(list: &Pipes, mode: Mode) -> Pass {
        let Pipes { pipes, source, destination } = list;
        let changes_length = pipes.iter().any(Pipe::changes_length);
        Pass {
            pipes: pipes.clone(),
            mode,
            layout: Arc::new(Layout::new(pipes)),
            source: source.filter(|it| it.gap != 0),
            destination: destination.filter(|it| it.gap != 0),
            changes_length,
            is_plain: !changes_length && source.is_none() && destination.is_none(),
            short: None,
            compiled: None,
        }
    }

    pub(super) fn compiled(mut self, compiled: Compiled) -> Pass {
        self.short = (self.is_plain && self.layout.fresh.is_empty()).then_some(self.mode);
        self.compiled = Some(compiled);
        self
    }

    pub(super) fn homes(&self) -> &[Homes] {
        &self.layout.homes
    }

    /// New registers, with their initial values.
    pub fn registers(&self) -> Registers {
        Registers::new(&self.layout)
    }

    /// Bytes of code; 0 if nothing was compiled.
    pub fn size(&self) -> usize {
        self.compiled.as_ref().map_or(0, Compiled::size)
    }

    /// How many bytes of data come out of so many bytes of data.
    pub fn length(&self, bytes: usize) -> usize {
        if !self.changes_length {
            return bytes;
        }
        self.pipes.iter().fold(bytes, |bytes, pipe| pipe.length(bytes))
    }

    /// Takes all data of a source, and writes to a destination. Gives how many bytes of data it has written.
    #[inline]
    pub fn run(
        &self,
        source: &[u8],
        destination: &mut [u8],
        registers: &mut Registers,
    ) -> Result<usize, Fault> {
        let bytes = source.len();
        if self.is_short(Mode::Write, registers) && bytes <= destination.len() {
            // SAFETY: both have so many bytes, and they are apart.
            unsafe { self.plain(source.as_ptr(), destination.as_mut_ptr(), bytes, &mut registers.cells) };
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
        // SAFETY: the source has the data, and the destination the room; they are apart.
        unsafe { self.forwards(from, to, data, &mut registers.cells) };
        Ok(written)
    }

    /// Takes all data of a source.
    #[inline]
    pub fn read(&self, source: &[u8], registers: &mut Registers) -> Result<(), Fault> {
        if self.is_short(Mode::Read, registers) {
            // SAFETY: there are so many bytes; nothing is written.
            unsafe { self.plain(source.as_ptr(), ptr::null_mut(), source.len(), &mut registers.cells) };
            return Ok(());
        }
        self.read_any(source, registers)
    }

    #[inline(never)]
    fn read_any(&self, source: &[u8], registers: &mut Registers) -> Result<(), Fault> {
        self.begin(Mode::Read, registers)?;
        let data = self.source.map_or(source.len(), |stride| stride.data(source.len()));
        // SAFETY: the source has the data; nothing is written.
        unsafe { self.forwards(Place::of(source, self.source), Place::none(), data, &mut registers.cells) };
        Ok(())
    }

    /// Takes data, and writes it over itself.
    #[inline]
    pub fn run_in_place(&self, data: &mut [u8], registers: &mut Registers) -> Result<(), Fault> {
        if !self.is_short(Mode::Write, registers) {
            return self.run_within(data, 0..data.len(), 0, registers);
        }
        let place = data.as_mut_ptr();
        // SAFETY: there are so many bytes, and it begins where they do.
        unsafe { self.plain(place, place, data.len(), &mut registers.cells) };
        Ok(())
    }

    /// Takes all data that lies somewhere; and writes it somewhere else or over itself, if that is what the pass is
    /// for. It is one without gaps that leaves the length as it is, and the registers are its own.
    ///
    /// # Safety
    /// There are so many bytes in both places, which are apart or the same; nothing is written there meanwhile.
    pub(crate) unsafe fn run_at(
        &self,
        from: *const u8,
        to: *mut u8,
        bytes: usize,
        registers: &mut Registers,
    ) {
        debug_assert!(self.is_plain && Arc::ptr_eq(&self.layout, &registers.layout));
        registers.begin();
        // SAFETY: as above.
        unsafe { self.plain(from, to, bytes, &mut registers.cells) };
    }

    /// Takes a part of memory as source, and writes to another part of it, which begins at `to`. Gives how many bytes
    /// of data it has written. They may overlap: then what is written first is what is taken first, and if that can't
    /// be with the first byte, it is with the last one, which takes commutative pipes.
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
        if is_backwards && !self.pipes.iter().all(Pipe::is_commutative) {
            return Err(Fault::Backwards);
        }
        let place = Place::of_mut(memory, None);
        let from = place.plus(source.start).strided(self.source);
        let to = place.plus(to).strided(self.destination);
        // SAFETY: the memory has the data and the room, and all is read before something is written over it: see there.
        unsafe {
            if is_backwards {
                self.backwards(from, to, data, &mut registers.cells);
            } else {
                self.forwards(from, to, data, &mut registers.cells);
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
        self.short == Some(mode) && Arc::ptr_eq(&self.layout, &registers.layout)
    }

    fn begin(&self, mode: Mode, registers: &mut Registers) -> Result<(), Fault> {
        if mode != self.mode {
            return Err(Fault::Mode);
        }
        if !Arc::ptr_eq(&self.layout, &registers.layout) {
            return Err(Fault::Registers);
        }
        registers.begin();
        Ok(())
    }
}
