//! What the verifier makes of a program, and both engines run.

use alloc::vec::Vec;

use crate::bytecode::Slot;

/// A program that is safe to run by an engine that keeps its guards. Only the verifier makes one.
#[derive(Clone, Debug)]
pub struct Verified {
    slots: Vec<Slot>,
    guards: Vec<Guard>,
}

/// What an engine does before an instruction, because the verifier could not prove that it is needless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    #[default]
    None,
    /// Before a jump back, or a call that may recur: takes one from the budget; when that is spent, the program stops here and
    /// can be resumed.
    Budget,
    /// Before an access: its address is confined to the program's own memory, whatever it is. That memory is a power of two of
    /// bytes, with room behind it for the widest access.
    Confine,
}

impl Verified {
    /// A program with a guard for each of its slots.
    #[allow(dead_code)]
    pub(crate) fn new(slots: Vec<Slot>, guards: Vec<Guard>) -> Verified {
        assert_eq!(slots.len(), guards.len());
        Verified { slots, guards }
    }

    /// The program.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What is done before each of its slots.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }
}
