//! A list of pipes, and how it becomes a pass.

use alloc::{format, string::String, vec::Vec};
use core::ops::Deref;

#[cfg(target_arch = "x86_64")]
use super::code::Compiled;
use super::{Features, Handle, Pass, Pipe, Refusal};

const MOST_PIPES: usize = 32;
const MOST_CELLS: usize = 1 << 18;

/// Pipes, in the order in which they take the data.
#[derive(Clone, Debug, Default)]
pub struct Pipes {
    pub(super) pipes: Vec<Pipe>,
    pub(super) source: Option<Stride>,
    pub(super) destination: Option<Stride>,
}

/// What a pass does with what comes out of the last pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: it is for the registers.
    Read,
    /// Writes it to a destination.
    Write,
}

/// Data with gaps, as some network interfaces leave it: some bytes of data, some that are no data, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// Bytes of data in a row; not 0.
    pub run: usize,
    /// Bytes between two rows.
    pub gap: usize,
}

impl Stride {
    /// How many of so many bytes are data.
    pub fn data(self, bytes: usize) -> usize {
        let Stride { run, gap } = self;
        let all = run.saturating_add(gap);
        bytes / all * run + (bytes % all).min(run)
    }

    /// How many bytes so many bytes of data take.
    pub fn span(self, data: usize) -> usize {
        let gaps = data.saturating_sub(1) / self.run;
        data.saturating_add(gaps.saturating_mul(self.gap))
    }

    /// Where a byte of data is.
    pub(super) fn place(self, at: usize) -> usize {
        at + at / self.run * self.gap
    }
}

impl Pipes {
    /// Without pipes: a copy.
    pub fn new() -> Pipes {
        Pipes::default()
    }

    /// Adds a pipe behind those that are there. Its registers and tables are then found by what this gives.
    pub fn add(&mut self, pipe: Pipe) -> Handle {
        let registers = |pipe: &Pipe| pipe.body.registers.len();
        let (first, count) = (self.pipes.iter().map(registers).sum(), registers(&pipe));
        self.pipes.push(pipe);
        Handle { pipe: self.pipes.len() - 1, number: 0, first, count }
    }

    /// From now on, the source has gaps.
    pub fn source(&mut self, stride: Stride) {
        self.source = Some(stride);
    }

    /// From now on, the destination gets gaps, which are left as they are.
    pub fn destination(&mut self, stride: Stride) {
        self.destination = Some(stride);
    }

    /// A pass that does the steps one by one, for machines for which nothing compiles.
    pub fn evaluated(&self, mode: Mode) -> Result<Pass, Refusal> {
        self.check()?;
        Ok(Pass::new(self, mode))
    }

    /// Compiles the list to one loop. `place` makes memory of its code, executable and (from then on) not writable. It
    /// fails if that does. Where nothing compiles for the machine, or for its `features`, the pass is as
    /// [`Pipes::evaluated`] makes it.
    ///
    /// # Safety
    /// `place` gives the same bytes, executable, which nobody changes or moves while the result lives; and the machine
    /// has the features.
    pub unsafe fn compile_in<M: Deref<Target = [u8]> + Send + Sync + 'static>(
        &self,
        mode: Mode,
        features: Features,
        place: impl FnOnce(&[u8]) -> Result<M, String>,
    ) -> Result<Pass, Refusal> {
        self.check()?;
        #[cfg(target_arch = "x86_64")]
        {
            let pass = Pass::new(self, mode);
            let Some(code) = super::x86::compile(self, pass.homes(), mode, features) else { return Ok(pass) };
            // SAFETY: it was compiled for these pipes, their homes and a machine like this one.
            let compiled = unsafe { Compiled::new(code, place) }.map_err(Refusal::new)?;
            Ok(pass.compiled(compiled))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (features, place);
            Ok(Pass::new(self, mode))
        }
    }

    /// Compiles the list to one loop for this machine.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub fn compile(&self, mode: Mode) -> Result<Pass, Refusal> {
        self.compile_for(mode, Features::detect())
    }

    /// Compiles the list as if the machine had no other features than these; those that it doesn't have are left out.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub fn compile_for(&self, mode: Mode, features: Features) -> Result<Pass, Refusal> {
        let features = features.and(Features::detect());
        // SAFETY: pages are as asked for, and features as the machine has them.
        unsafe { self.compile_in(mode, features, crate::engine::jit::pages) }
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.pipes.len() > MOST_PIPES {
            let what = format!("{} pipes: a list has at most {MOST_PIPES}", self.pipes.len());
            return Err(Refusal::new(what));
        }
        let mut changing = self.pipes.iter().filter(|it| it.changes_length());
        if let (Some(first), Some(second)) = (changing.next(), changing.next()) {
            let what = format!(
                "{} and {} both change the length of the data, and a list has one such pipe: make it two passes",
                first.name, second.name
            );
            return Err(Refusal::new(what));
        }
        let tables = self.pipes.iter().flat_map(|it| &it.body.tables);
        if tables.map(|it| it.entries as usize).sum::<usize>() > MOST_CELLS {
            let what = format!("the tables have too many entries together: there may be {MOST_CELLS}");
            return Err(Refusal::new(what));
        }
        if [self.source, self.destination].into_iter().flatten().any(|it| it.run == 0) {
            return Err(Refusal::new("data with rows of 0 bytes: there is none"));
        }
        Ok(())
    }
}
