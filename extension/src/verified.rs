//! Verified programs, which engines run.

use alloc::vec::Vec;

use crate::bytecode::{Instruction, Program};

/// Bytes of a stack frame, which is below r10.
pub const FRAME: usize = 512;

/// The greatest depth of calls, the outermost function's included. The verifier proves it for programs without
/// recursion; in others a call with [`Guard::Budget`] that would exceed it stops the program.
pub const DEPTH: usize = 8;

/// A program that is safe to run by an engine that implements its guards.
#[derive(Clone, Debug)]
pub struct Verified {
    program: Program,
    guards: Vec<Guard>,
}

/// What an engine does before an instruction, because the verifier could not prove that it is needless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    #[default]
    None,
    /// Before a jump back, or a call that may recur: takes one from the budget. If that is used up, the program stops
    /// here, and can be resumed. A program can be cancelled here too, so that a long loop has this guard even if it
    /// ends.
    Budget,
    /// Before an access: masks its address, so that it is in the program's own memory. The size of that memory is a
    /// power of two, with room behind it for the widest access.
    Confine,
    /// Before an access: the program stops here unless the access is in its own memory or its stack (any frame).
    Check,
}

impl Verified {
    /// A program with a guard for each of its slots.
    pub(crate) fn new(program: Program, guards: Vec<Guard>) -> Verified {
        assert_eq!(program.slots(), guards.len());
        Verified { program, guards }
    }

    /// A program that isn't verified, with a guard for every instruction. It must start with zeros in all registers and
    /// in its stack.
    pub fn unproven(program: Program) -> Verified {
        let guards = (0..program.slots())
            .map(|at| program.at(at).map_or(Guard::None, |it| cautious(it, at)))
            .collect();
        Verified { program, guards }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.guards.len() * (size_of::<Guard>() + size_of::<Option<Instruction>>())
    }

    /// The guard of each slot.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }
}

fn cautious(instruction: Instruction, at: usize) -> Guard {
    match instruction {
        Instruction::Load { .. } | Instruction::Store { .. } | Instruction::Atomic { .. } => Guard::Check,
        Instruction::CallLocal { .. } | Instruction::CallRegister { .. } => Guard::Budget,
        Instruction::Jump { .. } | Instruction::JumpIf { .. } => {
            if instruction.target(at).is_some_and(|target| target <= at as i64) {
                Guard::Budget
            } else {
                Guard::None
            }
        }
        _ => Guard::None,
    }
}
