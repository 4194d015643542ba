//! The abstract machine: values, memory, and the residual code for what isn't known.
//!
//! Its methods take the `Facts` of a path. They see neither its frames nor its control flow, which belong to
//! `Evaluator`.
//! * `operands`, `operations` and `pointers` compute values.
//! * `access`, `copies` and `effects` read and write memory.
//! * `places`, `given` and `invariants` say where objects come from, and what they hold at first.
//! * `library` evaluates known functions, `unseen` leaves calls of others to the residual program.

mod access;
mod copies;
mod effects;
mod given;
mod invariants;
mod library;
pub(super) mod operands;
mod operations;
mod places;
mod pointers;
mod unseen;

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
    pointees: HashMap<ValueId, ObjectId>,
    /// The address of each object that has the same one on all paths.
    bases: HashMap<ObjectId, Operand>,
    pub notes: Notes,
}

impl<'m> Machine<'m> {
    /// A machine that has done nothing yet.
    pub fn new(
        task: &'m Task<'m>,
        program: Program<'m>,
        objects: &'m mut Objects,
        initial: &'m mut Initial,
    ) -> Machine<'m> {
        Machine {
            task,
            program,
            objects,
            initial,
            initialising: false,
            residual: Residual::default(),
            pointees: HashMap::new(),
            bases: HashMap::new(),
            notes: Notes::default(),
        }
    }
}
