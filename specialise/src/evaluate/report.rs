//! The report: for each place of the source whether it was computed, eliminated or kept, which bytes were copied where,
//! and which calls stayed generic.

use crate::ir::{Module, PlaceId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A residual program, and how it came about.
#[derive(Debug)]
pub struct Specialised {
    /// The residual function and what it needs: declarations of what is defined elsewhere, copies of what only its
    /// module sees.
    pub module: Module,
    /// What became of the source, and what was left generic.
    pub report: Report,
}

/// How often an instruction of the source came to what.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// It was computed when the program was specialised.
    pub known: u32,
    /// It was an access to memory that is no longer there.
    pub eliminated: u32,
    /// It became code of the residual program.
    pub residual: u32,
}

/// Memory that the evaluator followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// What it is called in the source.
    pub name: Rc<str>,
    /// Bytes, if they are known.
    pub size: Option<u64>,
    /// Whether it lies in the residual program's memory.
    pub real: bool,
}

/// Bytes that were copied from one buffer to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Position in [`Report::buffers`].
    pub from: usize,
    /// Bytes from its start.
    pub from_offset: u64,
    /// Position in [`Report::buffers`].
    pub to: usize,
    /// Bytes from its start.
    pub to_offset: u64,
    /// How many bytes.
    pub size: u64,
}

/// What became of a program.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// What became of each place of the source.
    pub outcomes: BTreeMap<PlaceId, Outcome>,
    /// Functions of which calls were left, and why.
    pub kept: BTreeMap<String, String>,
    /// Loops that were not unrolled because something was spent before: a sentence for each.
    pub spent: Vec<String>,
    /// The buffers of the program, in the order in which they were met.
    pub buffers: Vec<Buffer>,
    /// The copies between them, in the order in which they were made.
    pub copies: Vec<Copied>,
    /// Instructions of the source that were evaluated.
    pub evaluated: u64,
    /// Instructions of the residual program before it was tidied up.
    pub residual: usize,
    /// How often the evaluation was begun.
    pub attempts: u32,
}
