//! How registers change from when a loop begins a round to when it is jumped back in.

use alloc::vec::Vec;

use super::Verifier;
use super::flow::Loop;
use super::number::Number;
use super::vectors::filled;
use crate::bytecode::{Alu, Instruction, Operand, Register, Width};

/// Registers that may count.
pub(super) const COUNTERS: usize = 10;

/// What a register holds: what some register held when the round began, and so much more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drift {
    /// The other register, if that is known.
    from: Option<u8>,
    least: i64,
    most: i64,
    /// Whether only the low 32 bits were computed with at some point.
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

    /// How often a loop can go round if this happens to a register every time, which is always a known number
    /// afterwards.
    pub fn rounds(self, register: usize, after: Number) -> Option<u64> {
        let step = if self.least > 0 { self.least } else { self.most.checked_neg()? };
        if self.from != Some(register as u8) || step <= 0 {
            return None;
        }
        // From one round's number to the next nothing may wrap, else it could come round to where it was.
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

impl Verifier<'_> {
    /// How registers change in a round of a loop, whatever way it takes; nothing if it never comes to its end.
    pub(super) fn drifts(&self, it: &Loop, used: &mut Vec<Option<Drifts>>) -> Option<Drifts> {
        let mut round = Round { it, waiting: filled(used, it.last - it.head + 1, None), after: None };
        round.waiting[0] = Some(Drift::none());
        for block in it.head..=it.last {
            if block != it.head && self.flow.loop_at(block).is_some() {
                round.waiting[block - it.head] = self.within_inner(block, &round);
            }
            if let Some(drifts) = round.waiting[block - it.head] {
                self.drift_on(block, drifts, &mut round);
            }
        }
        *used = round.waiting;
        round.after
    }

    /// What is known at a block that is jumped back to within a round. Such a way came into what stands between that
    /// block and the jump somewhere, and may have gone anywhere there. Blocks that aren't jumped back to have no ways
    /// to them but those that are known when it is their turn; those from before the round began don't matter to how
    /// long the loop goes round.
    fn within_inner(&self, head: usize, round: &Round) -> Option<Drifts> {
        let inner = &self.flow.loops[self.flow.loop_at(head)?];
        let first = self.flow.loops.partition_point(|it| it.head < head);
        let inside = self.flow.loops[first..].iter().take_while(|it| it.head <= inner.last);
        if inner.last > round.it.last || inside.into_iter().any(|it| it.last > inner.last) {
            return Some([Drift::UNKNOWN; COUNTERS]);
        }
        let came_in = &round.waiting[head - round.it.head..=inner.last - round.it.head];
        let mut drifts = came_in.iter().flatten().copied().reduce(|mut known, other| {
            join(&mut known, &other);
            known
        })?;
        for block in &self.flow.blocks[head..=inner.last] {
            self.program_in(block.first..block.end).for_each(|(_, it)| forget_written(it, &mut drifts));
        }
        Some(drifts)
    }

    fn program_in(&self, slots: core::ops::Range<usize>) -> impl Iterator<Item = (usize, Instruction)> {
        slots.filter_map(|at| Some((at, self.program.at(at)?)))
    }

    fn drift_on(&self, block: usize, mut drifts: Drifts, round: &mut Round) {
        let block_at = |at: usize, it: Instruction| it.target(at).map(|to| self.block_at.slot(to as usize));
        let mut runs_on = true;
        let span = &self.flow.blocks[block];
        for (at, instruction) in self.program_in(span.first..span.end) {
            if let Instruction::Jump { .. } | Instruction::JumpIf { .. } = instruction
                && let Some(to) = block_at(at, instruction)
            {
                round.arrive(block, to, &drifts);
            }
            runs_on = instruction.falls_through();
            drift(instruction, &mut drifts);
        }
        if runs_on {
            round.arrive(block, block + 1, &drifts);
        }
    }
}

/// A round of a loop, block by block.
struct Round<'a> {
    it: &'a Loop,
    /// For each block, what is known of the ways that led to it so far.
    waiting: Vec<Option<Drifts>>,
    after: Option<Drifts>,
}

impl Round<'_> {
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

/// What an instruction writes isn't known any more. What calls lose can't be read before it is written again.
fn forget_written(instruction: Instruction, drifts: &mut Drifts) {
    if let Some(drift) = instruction.writes().and_then(|register| drifts.get_mut(register.index())) {
        *drift = Drift::UNKNOWN;
    }
}
