//! What the verifier makes of a program, and both engines run.

use alloc::vec::Vec;

use crate::bytecode::{Instruction, Program};

/// Bytes of stack that a call of a function has: those below its r10.
pub const FRAME: usize = 512;

/// How many calls may be under way at once, the outermost function's included. The verifier proves it of programs that
/// don't recur; a call with [`Guard::Budget`] that would be one too many stops the program.
pub const DEPTH: usize = 8;

/// A program that is safe to run by an engine that keeps its guards. Only the verifier makes one of a program that it
/// could prove something about.
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
    /// Before a jump back, or a call that may recur: takes one from the budget; when that is spent, the program stops
    /// here and can be resumed. It is also here that a program is cancelled: a loop that may take long needs it even if
    /// it ends.
    Budget,
    /// Before an access: its address is confined to the program's own memory, whatever it is. That memory is a power of
    /// two of bytes, with room behind it for the widest access.
    Confine,
    /// Before an access: unless it lies in the program's own memory or in its stack (of any frame), the program stops
    /// here.
    Check,
}

impl Verified {
    /// A program with a guard for each of its slots.
    pub(crate) fn new(program: Program, guards: Vec<Guard>) -> Verified {
        assert_eq!(program.slots(), guards.len());
        Verified { program, guards }
    }

    /// A program of which nothing is known but its shape, so that everything is guarded. It starts with zeros in all
    /// registers and in its stack.
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

    /// What is done before each of its slots.
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
