//! Well-formed programs: every instruction is valid, and every jump leads to one.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::instruction::{Error, Instruction, Register};
use super::{Slot, decode};

/// A well-formed program: its instructions, by the slot in which each begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    instructions: Vec<Option<Instruction>>,
}

impl Program {
    /// Decodes a program, which begins in slot 0. Refuses what no engine can run: invalid opcodes, jumps out of the
    /// program or into a constant, an end without exit or jump, and writes to r10.
    pub fn decode(slots: &[Slot]) -> Result<Program, Error> {
        let mut instructions = Vec::with_capacity(slots.len());
        while instructions.len() < slots.len() {
            let instruction = decode(slots, instructions.len())?;
            instructions.push(Some(instruction));
            instructions.extend((1..instruction.slots()).map(|_| None));
        }
        let program = Program { instructions };
        program.check()?;
        Ok(program)
    }

    /// How many slots it has.
    pub fn slots(&self) -> usize {
        self.instructions.len()
    }

    /// The instruction that begins in a slot; `None` for the second half of a constant, and outside the program.
    pub fn at(&self, slot: usize) -> Option<Instruction> {
        self.instructions.get(slot).copied().flatten()
    }

    /// All instructions, each with its slot.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = (usize, Instruction)> {
        self.instructions.iter().enumerate().filter_map(|(at, instruction)| Some((at, (*instruction)?)))
    }

    /// The slots of functions whose addresses the program takes: those that a call of a register may reach.
    pub fn taken(&self) -> Vec<u32> {
        let constants = self.instructions().filter(|(_, it)| matches!(it, Instruction::Constant { .. }));
        let mut taken: Vec<u32> =
            constants.filter_map(|(at, it)| it.target(at)).map(|at| at as u32).collect();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// Replaces some instructions by others of the same length.
    pub(crate) fn rewritten(mut self, with: BTreeMap<usize, Instruction>) -> Program {
        for (at, instruction) in with {
            assert_eq!(self.at(at).map(Instruction::slots), Some(instruction.slots()));
            self.instructions[at] = Some(instruction);
        }
        self
    }

    fn check(&self) -> Result<(), Error> {
        for (at, instruction) in self.instructions() {
            if instruction.writes() == Some(Register::FRAME) {
                let what = "it writes r10, which says where the stack is; copy it to another register first";
                return Err(Error::in_slot(at, what));
            }
            if let Some(target) = instruction.target(at)
                && !usize::try_from(target).is_ok_and(|target| self.at(target).is_some())
            {
                let last = self.slots() - 1;
                let what =
                    format!("it leads to {target}, where no instruction begins (the last slot is {last})");
                return Err(Error::in_slot(at, what));
            }
        }
        match self.instructions().next_back() {
            None => Err(Error::in_slot(0, "the program is empty; the shortest one is `exit`")),
            Some((at, last)) if last.falls_through() => {
                Err(Error::in_slot(at, "the program may run past its end; end it with exit or a jump"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(words: &[u64]) -> alloc::string::String {
        let slots: Vec<Slot> = words.iter().map(|word| Slot::read(word.to_be_bytes())).collect();
        Program::decode(&slots).unwrap_err().what
    }

    #[test]
    fn what_no_engine_could_run_is_refused() {
        assert_eq!(fault(&[]), "instruction 0: the program is empty; the shortest one is `exit`");
        assert_eq!(
            fault(&[0xb700000000000000]),
            "instruction 0: the program may run past its end; end it with exit or a jump"
        );
        assert_eq!(
            fault(&[0x0500020000000000, 0x9500000000000000]),
            "instruction 0: it leads to 3, where no instruction begins (the last slot is 1)"
        );
        assert_eq!(
            fault(&[0x1800000000000000, 0, 0x0500feff00000000]),
            "instruction 2: it leads to 1, where no instruction begins (the last slot is 2)"
        );
        assert_eq!(
            fault(&[0xb70a000000000000, 0x9500000000000000]),
            "instruction 0: it writes r10, which says where the stack is; copy it to another register first"
        );
        assert_eq!(fault(&[0xe500000000000000]), "instruction 0: RFC 9669 has no opcode 0xe5");
    }
}
