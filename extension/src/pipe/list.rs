//! Lists of pipes.

use alloc::{format, vec::Vec};

use super::{Handle, Pipe, Refusal};

const MOST_PIPES: usize = 32;
const MOST_CELLS: usize = 1 << 18;

/// A list of pipes, in the order in which they process the data.
#[derive(Clone, Debug, Default)]
pub struct Pipes {
    pub(super) pipes: Vec<Pipe>,
    pub(super) source: Option<Stride>,
    pub(super) destination: Option<Stride>,
}

/// What a pass does with the output of the last pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Discards it: only the registers matter.
    Read,
    /// Writes it to a destination.
    Write,
}

/// The layout of data with gaps, as some network interfaces leave them: bytes of data and of gaps by turns.
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

    /// How many bytes so many bytes of data take, gaps included.
    pub fn span(self, data: usize) -> usize {
        let gaps = data.saturating_sub(1) / self.run;
        data.saturating_add(gaps.saturating_mul(self.gap))
    }

    /// The offset of a byte of data.
    pub(super) fn place(self, at: usize) -> usize {
        at + at / self.run * self.gap
    }
}

impl Pipes {
    /// An empty list: a copy.
    pub fn new() -> Pipes {
        Pipes::default()
    }

    /// Appends a pipe. The handle names its registers and tables.
    pub fn add(&mut self, pipe: Pipe) -> Handle {
        let registers = |pipe: &Pipe| pipe.body.registers.len();
        let (first, count) = (self.pipes.iter().map(registers).sum(), registers(&pipe));
        self.pipes.push(pipe);
        Handle { pipe: self.pipes.len() - 1, number: 0, first, count }
    }

    /// Sets the gaps of the source.
    pub fn source(&mut self, stride: Stride) {
        self.source = Some(stride);
    }

    /// Sets the gaps of the destination, which are not written to.
    pub fn destination(&mut self, stride: Stride) {
        self.destination = Some(stride);
    }

    /// Checks that a pass can be made of it.
    pub(super) fn check(&self) -> Result<(), Refusal> {
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
