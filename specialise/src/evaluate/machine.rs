//! The machine that instructions run on: values, memory, and the residual code that comes of what isn't known.
//!
//! It sees no path, only the `Facts` of one, and no control flow: where a path goes is `Evaluator`'s. `operands` and
//! `operations` say what becomes of values, `access`, `copies` and `effects` what becomes of memory, `places` where
//! objects come from and `library` which functions are done here.

use super::initial::Initial;
use super::notes::Notes;
use super::objects::Objects;
use super::program::Program;
use super::residual::Residual;
use super::task::Task;
use super::value::ObjectId;
use crate::ir::{Operand, ValueId};
use std::collections::HashMap;

/// Values and memory in one attempt.
pub(super) struct Machine<'m> {
    pub task: &'m Task<'m>,
    pub program: Program<'m>,
    pub objects: &'m mut Objects,
    pub initial: &'m mut Initial,
    /// Whether it is an initialiser that is run.
    pub initialising: bool,
    pub residual: Residual,
    /// The object that a residual pointer points into.
    pub pointees: HashMap<ValueId, ObjectId>,
    /// The address of each object that has the same one on all paths.
    pub bases: HashMap<ObjectId, Operand>,
    pub notes: Notes,
}
