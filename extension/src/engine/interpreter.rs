//! The interpreter. A program is decoded into operations once ([`super::prepare`]), each of which has its function
//! ([`super::steps`]).

use alloc::{string::String, vec::Vec};

use super::context::{Context, Helper, Platform, Stop};
use super::prepare::prepare;
use super::steps::{FILE, Machine, Operation};
use crate::Verified;
use crate::bytecode::{Program, Register};

/// A program that is interpreted.
pub struct Interpreter<H> {
    operations: Vec<Operation<H>>,
    helpers: Vec<Helper<H>>,
    /// The slots of functions whose addresses the program takes, ascending.
    taken: Vec<u32>,
    memory: usize,
}

impl<H> Interpreter<H> {
    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.operations) + size_of_val(&*self.helpers) + size_of_val(&*self.taken)
    }

    /// Prepares a program. Fails if the platform lacks what the program refers to.
    ///
    /// # Safety
    /// *The contract holds* by which the program was verified:
    /// * `platform` has the own memory, helpers and values of tables that the contract says; helpers do and return what
    ///   it says.
    /// * The state of each context that this is run with is new, with the contract's arguments, or this program has
    ///   stopped in it. The regions that the arguments point to stay valid during the run.
    pub unsafe fn new(verified: &Verified, platform: Platform<H>) -> Result<Self, String> {
        Ok(Interpreter {
            operations: prepare(verified, platform)?,
            helpers: platform.helpers.to_vec(),
            taken: verified.program().taken(),
            memory: platform.memory,
        })
    }

    /// Prepares a program that isn't verified: all accesses are checked at run time.
    pub fn unproven(program: Program, platform: Platform<H>) -> Result<Self, String> {
        // SAFETY: an unproven program has no contract: every instruction has a guard.
        unsafe { Self::new(&Verified::unproven(program), platform) }
    }

    /// Runs from the context's state to the end, and returns r0; or until the program stops, and can be run again.
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
            // SAFETY: the machine is running: `at` is one of its operations, registers and memory are borrowed here.
            // The contract of the program holds, as `new` demands.
            at = unsafe { ((*at).enter)(at, registers.as_mut_ptr(), base, &mut machine) };
        }
        let result = machine.result;
        context.state.registers.copy_from_slice(&registers[..Register::COUNT]);
        result
    }
}
