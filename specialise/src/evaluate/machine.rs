//! The abstract machine: values, memory, and residual code for everything unknown.
//!
//! Its methods take the `Facts` of a path. They don't see the path's frames and control flow, which belong to
//! `Evaluator`.
//! * `operands`, `operations` and `pointers` compute values.
//! * `access`, `copies` and `effects` read and write memory.
//! * `places`, `given` and `invariants` create objects, with their initial contents.
//! * `library` evaluates known functions; `unseen` leaves calls of others to the residual program.

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

/// The values and memory of one attempt.
pub(super) struct Machine<'m> {
    pub task: &'m Task<'m>,
    pub program: Program<'m>,
    pub objects: &'m mut Objects,
    pub initial: &'m mut Initial,
    /// Whether an initialiser is being run.
    pub initialising: bool,
    pub residual: Residual,
    /// The object that a residual pointer points into.
    pointees: HashMap<ValueId, ObjectId>,
    /// The address of each object that has the same one on all paths.
    bases: HashMap<ObjectId, Operand>,
    pub notes: Notes,
}

impl<'m> Machine<'m> {
    /// A machine at the beginning of an attempt.
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
