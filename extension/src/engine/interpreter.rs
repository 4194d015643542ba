//! Runs programs step by step. A program is made into operations once ([`super::prepare`]); each knows the function
//! that does it ([`super::steps`]).
//!
//! `unsafe` here: what [`super::steps`] ask for is promised. Memory is read and written at addresses that the program
//! computes: that is sound because the verifier proved them, or put a guard before them; who makes an [`Interpreter`]
//! of a proved program promises that it runs as was proved.

use alloc::{string::String, vec::Vec};

use super::context::{Context, Helper, Platform, Stop};
use super::prepare::prepare;
use super::steps::{FILE, Machine, Operation};
use crate::Verified;
use crate::bytecode::{Program, Register};

/// A program that can be run.
pub struct Interpreter<H> {
    operations: Vec<Operation<H>>,
    helpers: Vec<Helper<H>>,
    /// Where functions begin whose addresses the program takes, in order.
    taken: Vec<u32>,
    memory: usize,
}

impl<H> Interpreter<H> {
    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.operations) + size_of_val(&*self.helpers) + size_of_val(&*self.taken)
    }

    /// Prepares a program. It fails if the platform lacks what the program refers to.
    ///
    /// # Safety
    /// What the verifier was told holds of the platform (how much memory there is, what helpers give and do, where
    /// values lie), and of each context that it runs with: its state is new, with such arguments, or this program
    /// stopped in it.
    pub unsafe fn new(verified: &Verified, platform: Platform<H>) -> Result<Self, String> {
        Ok(Interpreter {
            operations: prepare(verified, platform)?,
            helpers: platform.helpers.to_vec(),
            taken: verified.program().taken(),
            memory: platform.memory,
        })
    }

    /// Prepares a program of which nothing is proved: everything is checked while it runs.
    pub fn unproven(program: Program, platform: Platform<H>) -> Result<Self, String> {
        // SAFETY: the verifier was told nothing.
        unsafe { Self::new(&Verified::unproven(program), platform) }
    }

    /// Runs from the context's state on to the end: gives r0. Or until the program stops: it can be run again then.
    ///
    /// # Panics
    /// If the context's memory isn't as large as the platform said, or its state isn't this program's.
    pub fn run(&self, context: &mut Context<H>) -> Result<u64, Stop> {
        assert_eq!(context.memory.size(), self.memory, "the program was prepared for memory of another size");
        let mut registers = [0; FILE];
        registers[..Register::COUNT].copy_from_slice(&context.state.registers);
        let base = context.memory.base();
        let mut machine = Machine {
            context,
            helpers: &self.helpers,
            taken: &self.taken,
            operations: &self.operations,
            memory: self.memory,
            result: Ok(0),
        };
        let mut at = machine.operation(machine.context.state.slot);
        while !at.is_null() {
            // SAFETY: they are the program's operations, and it has its registers and memory alone.
            at = unsafe { ((*at).enter)(at, registers.as_mut_ptr(), base, &mut machine) };
        }
        let result = machine.result;
        context.state.registers.copy_from_slice(&registers[..Register::COUNT]);
        result
    }
}
