//! The report: whether each place of the source was computed, eliminated or kept, which bytes were copied where, and
//! which calls stayed generic.

use crate::ir::{Module, PlaceId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A residual program, and the report about it.
#[derive(Debug)]
pub struct Specialised {
    /// The residual function and everything that it needs: declarations of names defined elsewhere, copies of what only
    /// its module sees.
    pub module: Module,
    /// What happened to the source, and which code was left generic.
    pub report: Report,
}

/// The number of times that an instruction of the source had each outcome.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// It was computed when the program was specialised.
    pub known: u32,
    /// It accessed memory that no longer exists.
    pub eliminated: u32,
    /// It became code of the residual program.
    pub residual: u32,
}

/// Memory that the evaluator followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Its name in the source.
    pub name: Rc<str>,
    /// Its size in bytes, if known.
    pub size: Option<u64>,
    /// Whether it remains in the residual program's memory.
    pub real: bool,
}

/// A range of bytes copied from one buffer to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// The source, as an index into [`Report::buffers`].
    pub from: usize,
    /// The offset in the source, in bytes.
    pub from_offset: u64,
    /// The destination, as an index into [`Report::buffers`].
    pub to: usize,
    /// The offset in the destination, in bytes.
    pub to_offset: u64,
    /// The number of bytes.
    pub size: u64,
}

/// What happened to a program.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// The outcomes at each place of the source.
    pub outcomes: BTreeMap<PlaceId, Outcome>,
    /// Functions with calls that were left, and the reasons.
    pub kept: BTreeMap<String, String>,
    /// Loops that were not unrolled completely because a budget was spent: a sentence for each.
    pub spent: Vec<String>,
    /// The buffers of the program, in the order of their first use.
    pub buffers: Vec<Buffer>,
    /// The copies between them, in the order of execution.
    pub copies: Vec<Copied>,
    /// Instructions of the source that were evaluated.
    pub evaluated: u64,
    /// Instructions of the residual program before it was tidied.
    pub residual: usize,
    /// The number of attempts.
    pub attempts: u32,
}
