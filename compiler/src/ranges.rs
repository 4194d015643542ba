//! Range analysis: between which bounds integers lie, as far as constants and FOR loops tell. What cannot overflow is
//! not checked, and a loop that is known to be short needs no check of the time slice (*structured concurrent
//! programs*, section 3.2).
//!
//! # Why this is sound
//! Memory safety rests on it, since tests of indices are left out. A register that is written by one instruction has
//! the range of that instruction's result, computed from the ranges of its operands. A counter that is written inside
//! its loop only by the loop's own step lies between the loop's bounds in every block of the loop, also where a process
//! is resumed; the bounds are registers of the first kind, evaluated before the loop. A value from memory has the range
//! of its type. Nothing else has a range. The code must not change after [`Ranges::new`], which remembers where it
//! writes.

mod arithmetic;
mod limits;

use std::cell::RefCell;
use std::collections::HashMap;

pub use arithmetic::Range;
use arithmetic::{checked, exact, greatest, least, wrapping};

use crate::liveness::{self, Access};
use crate::mir::*;

/// Instructions that may run without a check of the time slice: some microseconds.
const SHORT: u64 = 4096;

/// No text has more bytes: an address has 47 bits.
const LONGEST_TEXT: i64 = 1 << 47;

/// The weight of a call of the runtime, in instructions.
const CALL: u64 = 100;

/// On which side of 0 a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Sign {
    Negative,
    NotNegative,
}

/// The ranges of a piece of code; see the head of this file.
pub struct Ranges {
    /// Every place that writes a register.
    writes: HashMap<Reg, Vec<Write>>,
    /// Computed ranges; `None` while one is being computed.
    known: RefCell<HashMap<Reg, Option<Range>>>,
}

#[derive(Clone, Copy)]
struct Write {
    block: BlockId,
    /// Index among its instructions; none for what a suspension point writes, and for parameters.
    instruction: Option<usize>,
}

impl Ranges {
    /// Looks at where registers are written.
    pub fn new(code: &Code) -> Ranges {
        let mut writes: HashMap<Reg, Vec<Write>> = HashMap::new();
        for (index, block) in code.blocks.iter().enumerate() {
            let mut note = |instruction, reg, access| {
                if access == Access::Write {
                    let write = Write { block: BlockId(index as u32), instruction };
                    writes.entry(reg).or_default().push(write);
                }
            };
            if let Some(point) = &block.suspension {
                liveness::visit_suspension(&point.op, &mut |reg, access| note(None, reg, access));
            }
            for (number, instruction) in block.instructions.iter().enumerate() {
                liveness::visit_instruction(instruction, &mut |reg, access| note(Some(number), reg, access));
            }
        }
        for &reg in &code.parameters {
            writes.entry(reg).or_default().push(Write { block: BlockId(0), instruction: None });
        }
        Ranges { writes, known: RefCell::new(HashMap::new()) }
    }

    /// The range of a register wherever it is used in a block.
    pub fn of(&self, code: &Code, reg: Reg, block: BlockId) -> Option<Range> {
        if let Some((number, counter)) = counter(code, reg, block) {
            return self.of_counter(code, number, counter);
        }
        if let Some(&known) = self.known.borrow().get(&reg) {
            return known;
        }
        self.known.borrow_mut().insert(reg, None);
        let range = self
            .only_write(code, reg)
            .and_then(|(instruction, block)| self.of_result(code, instruction, block));
        self.known.borrow_mut().insert(reg, range);
        range
    }

    /// The only instruction that writes a register, and its block.
    fn only_write<'c>(&self, code: &'c Code, reg: Reg) -> Option<(&'c Inst, BlockId)> {
        match self.writes.get(&reg).map(Vec::as_slice) {
            Some(&[Write { block, instruction: Some(number) }]) => {
                Some((&code.block(block).instructions[number], block))
            }
            _ => None,
        }
    }

    /// Whether only the loop's own step assigns its counter inside the loop.
    fn counts_alone(&self, code: &Code, number: usize, counter: &Counter) -> bool {
        let writes = self.writes[&counter.variable].iter();
        writes.filter(|write| code.is_inside(code.block(write.block).in_loop, number)).count() == 1
    }

    fn of_counter(&self, code: &Code, number: usize, counter: &Counter) -> Option<Range> {
        if !self.counts_alone(code, number, counter) {
            return None;
        }
        let of = |reg| self.of(code, reg, counter.before);
        let (first, last) = (of(counter.first)?, of(counter.last)?);
        Some(if counter.step > 0 { (first.0, last.1) } else { (last.0, first.1) })
    }

    fn of_result(&self, code: &Code, instruction: &Inst, block: BlockId) -> Option<Range> {
        let of = |reg| self.of(code, reg, block);
        match *instruction {
            Inst::Int(_, value) => Some((value, value)),
            Inst::Copy { from, .. } => of(from),
            Inst::Checked { operator, a, b, .. } => checked(operator, of(a), of(b)),
            Inst::Op { op: Op::Min, a, b, .. } => least(of(a), of(b)),
            Inst::Op { op: Op::Max, a, b, .. } => greatest(of(a), of(b)),
            Inst::Op { op, .. } if op.compares() => Some((0, 1)),
            Inst::Op { op, a, b, .. } => wrapping(op, of(a), of(b)),
            Inst::Load { from: Address { byte: true, .. }, .. } => Some((0, u8::MAX.into())),
            Inst::Length { .. } => Some((0, LONGEST_TEXT)),
            Inst::Count { .. } => Some((0, i64::from(u32::MAX))),
            _ => None,
        }
    }

    /// The sign of a register wherever it is used in a block.
    pub fn sign(&self, code: &Code, reg: Reg, block: BlockId) -> Option<Sign> {
        match self.of(code, reg, block)? {
            (0.., _) => Some(Sign::NotNegative),
            (_, ..0) => Some(Sign::Negative),
            _ => None,
        }
    }

    /// Whether adding the step to a counter cannot overflow, even in the last iteration.
    pub fn can_step(&self, code: &Code, counter: &Counter) -> bool {
        let range = self.of(code, counter.variable, counter.next);
        exact(Checked::Add, range, Some((counter.step, counter.step))).is_some()
    }

    /// Whether checked arithmetic cannot overflow.
    pub fn cannot_overflow(&self, code: &Code, operator: Checked, a: Reg, b: Reg, block: BlockId) -> bool {
        exact(operator, self.of(code, a, block), self.of(code, b, block)).is_some()
    }

    /// The loops that end before a time slice matters: all their iterations together take fewer than [`SHORT`]
    /// instructions.
    pub fn short_loops(&self, code: &Code) -> Vec<bool> {
        let mut weights: Vec<u64> = vec![0; code.loops.len()];
        for block in &code.blocks {
            if let Some(number) = block.in_loop {
                weights[number] = weights[number].saturating_add(weight(block));
            }
        }
        let mut short = vec![false; code.loops.len()];
        // A loop stands behind the loop around it.
        for number in (0..code.loops.len()).rev() {
            let all = self.iterations(code, number).saturating_mul(weights[number]);
            short[number] = weights[number] < SHORT && all < SHORT;
            if let Some(outer) = code.loops[number].outer {
                weights[outer] = weights[outer].saturating_add(all);
            }
        }
        short
    }

    /// The greatest number of iterations.
    fn iterations(&self, code: &Code, number: usize) -> u64 {
        let range =
            code.loops[number].counter.as_ref().and_then(|counter| self.of_counter(code, number, counter));
        range
            .map_or(u64::MAX, |(low, high)| if low > high { 0 } else { high.abs_diff(low).saturating_add(1) })
    }
}

/// The FOR loop around a block, and its number, that counts in that register.
fn counter(code: &Code, reg: Reg, block: BlockId) -> Option<(usize, &Counter)> {
    let mut inside = code.block(block).in_loop;
    while let Some(number) = inside {
        if let Some(counter) = &code.loops[number].counter
            && counter.variable == reg
        {
            return Some((number, counter));
        }
        inside = code.loops[number].outer;
    }
    None
}

fn weight(block: &Block) -> u64 {
    let waits = block.suspension.is_some() || matches!(block.end, Terminator::CallProcedure { .. });
    if waits {
        return u64::MAX;
    }
    let instructions = block.instructions.iter().map(|instruction| match instruction {
        Inst::Call { .. } => CALL,
        // It may call further procedures.
        Inst::CallNative { .. } => SHORT,
        _ => 1,
    });
    instructions.sum::<u64>() + 1
}
