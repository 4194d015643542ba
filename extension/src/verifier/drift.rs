//! Drifts: how registers change in one iteration of a loop.

use alloc::vec::Vec;

use super::flow::{Block, BlockAt, Flow, Loop};
use super::number::Number;
use super::vectors::filled;
use crate::bytecode::{Alu, Instruction, Operand, Program, Register, Width};

/// The registers that can be loop counters: all but r10.
pub(super) const COUNTERS: usize = 10;

/// The value of a register, relative to the value of some register at the beginning of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drift {
    /// That register, if it is known.
    from: Option<u8>,
    least: i64,
    most: i64,
    /// Whether some computation was on the low 32 bits only.
    narrow: bool,
}

pub(super) type Drifts = [Drift; COUNTERS];

impl Drift {
    const UNKNOWN: Drift = Drift { from: None, least: 0, most: 0, narrow: false };

    fn none() -> Drifts {
        core::array::from_fn(|index| Drift { from: Some(index as u8), ..Drift::UNKNOWN })
    }

    fn join(self, other: Drift) -> Drift {
        if self.from != other.from {
            return Drift::UNKNOWN;
        }
        Drift {
            from: self.from,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            narrow: self.narrow || other.narrow,
        }
    }

    fn plus(self, number: i64, narrow: bool) -> Drift {
        let sum = (self.least.checked_add(number), self.most.checked_add(number));
        match sum {
            (Some(least), Some(most)) => Drift { least, most, narrow: self.narrow || narrow, ..self },
            _ => Drift::UNKNOWN,
        }
    }

    /// How many iterations a loop can have if each changes a register so, and the register is always within `after` at
    /// the end.
    pub fn rounds(self, register: usize, after: Number) -> Option<u64> {
        let step = if self.least > 0 { self.least } else { self.most.checked_neg()? };
        if self.from != Some(register as u8) || step <= 0 {
            return None;
        }
        // The register must not wrap around, or it could return to an earlier value.
        let least = after.signed_least.checked_add(self.least)?;
        let most = after.signed_most.checked_add(self.most)?;
        let bits = 0..=i64::from(u32::MAX);
        let whole = [after.signed_least, after.signed_most, least, most].iter().all(|it| bits.contains(it));
        if self.narrow && !whole {
            return None;
        }
        Some(after.signed_most.abs_diff(after.signed_least) / step.unsigned_abs() + 1)
    }
}

/// The drifts of an iteration, over all its paths; `None` if no path reaches the loop's end. `used` is memory to be
/// reused.
pub(super) fn drifts(
    program: &Program,
    flow: &Flow,
    block_at: &BlockAt,
    it: &Loop,
    used: &mut Vec<Option<Drifts>>,
) -> Option<Drifts> {
    let waiting = filled(used, it.last - it.head + 1, None);
    let mut round = Round { program, flow, block_at, it, waiting, after: None };
    round.go();
    *used = round.waiting;
    round.after
}

/// The analysis of one iteration, block by block.
struct Round<'a> {
    program: &'a Program,
    flow: &'a Flow,
    block_at: &'a BlockAt,
    it: &'a Loop,
    /// For each block, the drifts over the paths that have reached it so far.
    waiting: Vec<Option<Drifts>>,
    after: Option<Drifts>,
}

impl Round<'_> {
    fn go(&mut self) {
        self.waiting[0] = Some(Drift::none());
        for block in self.it.head..=self.it.last {
            let index = block - self.it.head;
            if index > 0 && self.flow.loop_at(block).is_some() {
                self.waiting[index] = self.within_inner(block);
            }
            if let Some(drifts) = self.waiting[index] {
                self.drift_on(block, drifts);
            }
        }
    }

    /// The drifts at the head of an inner loop: the join over all entries into that loop, without the registers that
    /// the loop writes. Other blocks are only reached from blocks before them, which have been analysed; paths from
    /// before the iteration don't matter for the number of iterations.
    fn within_inner(&self, head: usize) -> Option<Drifts> {
        let inner = &self.flow.loops[self.flow.loop_at(head)?];
        let first = self.flow.loops.partition_point(|it| it.head < head);
        let inside = self.flow.loops[first..].iter().take_while(|it| it.head <= inner.last);
        if inner.last > self.it.last || inside.into_iter().any(|it| it.last > inner.last) {
            return Some([Drift::UNKNOWN; COUNTERS]);
        }
        let came_in = &self.waiting[head - self.it.head..=inner.last - self.it.head];
        let mut drifts = came_in.iter().flatten().copied().reduce(|mut known, other| {
            join(&mut known, &other);
            known
        })?;
        for block in &self.flow.blocks[head..=inner.last] {
            instructions(self.program, block).for_each(|(_, it)| forget_written(it, &mut drifts));
        }
        Some(drifts)
    }

    fn drift_on(&mut self, block: usize, mut drifts: Drifts) {
        let mut runs_on = true;
        for (at, instruction) in instructions(self.program, &self.flow.blocks[block]) {
            if let Instruction::Jump { .. } | Instruction::JumpIf { .. } = instruction
                && let Some(to) = instruction.target(at)
            {
                self.arrive(block, self.block_at.slot(to as usize), &drifts);
            }
            runs_on = instruction.falls_through();
            drift(instruction, &mut drifts);
        }
        if runs_on {
            self.arrive(block, block + 1, &drifts);
        }
    }

    fn arrive(&mut self, from: usize, to: usize, drifts: &Drifts) {
        let known = if to == self.it.head {
            &mut self.after
        } else if to > from && to <= self.it.last {
            &mut self.waiting[to - self.it.head]
        } else {
            return;
        };
        join(known.get_or_insert(*drifts), drifts);
    }
}

/// The instructions of a block, with their slots.
fn instructions<'a>(
    program: &'a Program,
    block: &Block,
) -> impl Iterator<Item = (usize, Instruction)> + use<'a> {
    (block.first..block.end).filter_map(|at| Some((at, program.at(at)?)))
}

fn join(known: &mut Drifts, other: &Drifts) {
    known.iter_mut().zip(other).for_each(|(known, other)| *known = known.join(*other));
}

fn drift(instruction: Instruction, drifts: &mut Drifts) {
    let Instruction::Alu { width, operation, destination, source } = instruction else {
        return forget_written(instruction, drifts);
    };
    let narrow = width == Width::W32;
    let of = |register: Register| drifts.get(register.index()).copied().unwrap_or(Drift::UNKNOWN);
    let becomes = match (operation, source) {
        (Alu::Add, Operand::Immediate(number)) => of(destination).plus(number.into(), narrow),
        (Alu::Sub, Operand::Immediate(number)) => of(destination).plus(-i64::from(number), narrow),
        (Alu::Mov, Operand::Register(register)) => of(register).plus(0, narrow),
        _ => Drift::UNKNOWN,
    };
    if let Some(drift) = drifts.get_mut(destination.index()) {
        *drift = becomes;
    }
}

/// Forgets the register that an instruction writes. Registers that calls leave undefined can't be read before they are
/// written again.
fn forget_written(instruction: Instruction, drifts: &mut Drifts) {
    if let Some(drift) = instruction.writes().and_then(|register| drifts.get_mut(register.index())) {
        *drift = Drift::UNKNOWN;
    }
}
