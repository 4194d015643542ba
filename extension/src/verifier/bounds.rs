//! Which loops surely end soon, and what takes from the budget because it may not.
//!
//! A loop ends if some register moves one way, at least by 1 each time round, and is known to stay within two numbers
//! wherever the loop is jumped back in: it can't go round more often than they are apart. (There is no path
//! enumeration: this takes a pass over each loop.) Between two instructions that take from the budget, loops together
//! and calls together add no more to the program's length than [`super::Contract::patience`]: each has an equal share
//! of it, and is guarded if that isn't enough.

use alloc::vec::Vec;
use core::{cmp::Reverse, ops::Range};

use super::drift::{COUNTERS, Drift};
use super::state::State;
use super::value::{Kind, Value};
use super::vectors::{emptied, filled};
use super::{BUDGET, CALLED, Verifier};
use crate::bytecode::Instruction;

/// Numbers that are remembered for a loop.
const LANDMARKS: usize = 24;
/// How often a block may be looked at, on average, because it is in a loop; those in more are guarded.
const EFFORT: usize = 16;

/// What is known about a loop where it is jumped back in.
#[derive(Default)]
pub(super) struct Rounds {
    /// Numbers near which its variables may stop, ascending.
    landmarks: [i64; LANDMARKS],
    marks: usize,
    /// The registers, if it ever is.
    registers: Option<[Value; COUNTERS]>,
}

impl Rounds {
    pub fn note_landmark(&mut self, number: i64) {
        for mark in [number.saturating_sub(1), number, number.saturating_add(1)] {
            if let Err(index) = self.landmarks[..self.marks].binary_search(&mark)
                && self.marks < LANDMARKS
            {
                self.landmarks.copy_within(index..self.marks, index + 1);
                self.landmarks[index] = mark;
                self.marks += 1;
            }
        }
    }

    fn landmarks(&self) -> &[i64] {
        &self.landmarks[..self.marks]
    }

    /// How often it can go round, if every time each register drifts as said.
    fn most(&self, drifts: &[Drift; COUNTERS]) -> Option<u64> {
        let Some(registers) = &self.registers else { return Some(0) };
        let rounds = |index: usize| {
            let value = &registers[index];
            let counts = matches!(value.kind, Kind::Number | Kind::Region(_) | Kind::Stack(_));
            if counts { drifts[index].rounds(index, value.number) } else { None }
        };
        (0..COUNTERS).filter_map(rounds).min()
    }
}

impl Verifier<'_> {
    /// Notes what is known where a loop is jumped back in.
    pub(super) fn note_round(&mut self, head: usize, state: &State) {
        let Some(index) = self.flow.loop_at(head) else { return };
        let now = &state.registers()[..COUNTERS];
        match &mut self.rounds[index].registers {
            Some(registers) => {
                registers.iter_mut().zip(now).for_each(|(known, now)| *known = known.join(now));
            }
            none => *none = now.try_into().ok(),
        }
    }

    pub(super) fn landmarks(&self, head: usize) -> &[i64] {
        self.flow.loop_at(head).map_or(&[], |index| self.rounds[index].landmarks())
    }

    /// Has everything take from the budget that may take too long.
    pub(super) fn bound(&mut self) {
        let called = self.marks.iter().filter(|&&mark| mark & CALLED != 0).count();
        if self.flow.loops.is_empty() && called == 0 {
            return;
        }
        let patience = self.contract.patience;
        let mut used = core::mem::take(&mut self.pieces.costs);
        let mut costs = Costs {
            rounds: self.most_rounds(emptied(&mut used.rounds)),
            functions: filled(&mut used.functions, self.flow.functions.len(), None),
            up_to: filled(&mut used.up_to, self.flow.blocks.len(), 0),
            inner_first: used.inner_first,
            done: used.done,
            loop_share: patience / self.flow.loops.len().max(1) as u64,
            call_share: patience / called.max(1) as u64,
        };
        for function in 0..self.flow.functions.len() {
            self.cost_of(function, &mut costs);
        }
        self.guard_loops(&costs.rounds);
        self.pieces.costs = costs;
    }

    /// For each loop, how often it can go round, if that is known.
    fn most_rounds(&mut self, mut all: Vec<Option<u64>>) -> Vec<Option<u64>> {
        let mut effort = EFFORT * self.flow.blocks.len();
        let mut used = core::mem::take(&mut self.pieces.drifts);
        let rounds_of = |index: usize| {
            let it = &self.flow.loops[index];
            effort = effort.checked_sub(it.last - it.head + 1)?;
            self.rounds[index].most(&self.drifts(it, &mut used)?)
        };
        all.extend((0..self.flow.loops.len()).map(rounds_of));
        self.pieces.drifts = used;
        all
    }

    /// How many instructions a function does at most, without those behind which the budget was asked.
    fn cost_of(&mut self, function: usize, costs: &mut Costs) -> u64 {
        if let Some(cost) = costs.functions[function] {
            return cost;
        }
        let blocks = self.flow.functions[function].blocks.clone();
        let mut length = 0;
        for block in blocks.clone() {
            length += self.cost_of_block(block, costs);
            costs.up_to[block] = length;
        }
        let cost = length.saturating_add(self.cost_of_loops(&blocks, costs));
        costs.functions[function] = Some(cost);
        cost
    }

    fn cost_of_block(&mut self, block: usize, costs: &mut Costs) -> u64 {
        let block = &self.flow.blocks[block];
        let (first, end) = (block.first, block.end);
        let mut cost = (end - first) as u64;
        if costs.functions.len() == 1 {
            return cost;
        }
        for at in first..end {
            // Calls that may recur take from the budget anyway, and those that are never done cost nothing.
            let Some(Instruction::CallLocal { .. }) = self.program.at(at) else { continue };
            if self.marks[at] & (CALLED | BUDGET) != CALLED {
                continue;
            }
            let target = self.program.at(at).and_then(|it| it.target(at)).unwrap_or(0) as usize;
            let called = self.cost_of(self.flow.function_at(target), costs);
            if called > costs.call_share {
                self.marks[at] |= BUDGET;
            } else {
                cost += called;
            }
        }
        cost
    }

    /// What the loops of a function add to its length. Those that add too much are guarded.
    fn cost_of_loops(&self, blocks: &Range<usize>, costs: &mut Costs) -> u64 {
        let first = self.flow.loops.partition_point(|it| it.head < blocks.start);
        let end = self.flow.loops.partition_point(|it| it.head < blocks.end);
        let mut inner_first = emptied(&mut costs.inner_first);
        inner_first.extend(first..end);
        inner_first.sort_unstable_by_key(|&it| (self.flow.loops[it].last, Reverse(self.flow.loops[it].head)));
        // Loops that aren't within another that was looked at, with what each adds.
        let mut done = emptied(&mut costs.done);
        for &index in &inner_first {
            let it = &self.flow.loops[index];
            let mut added = 0u64;
            while let Some((_, inner)) = done.pop_if(|done| self.flow.loops[done.0].head >= it.head) {
                added = added.saturating_add(inner);
            }
            let overlaps = done.last().is_some_and(|done| self.flow.loops[done.0].last >= it.head);
            let before = if it.head == blocks.start { 0 } else { costs.up_to[it.head - 1] };
            let length = costs.up_to[it.last] - before;
            let once = length.saturating_add(added);
            let all = costs.rounds[index].map(|rounds| once.saturating_mul(rounds.saturating_add(1)));
            match all.filter(|&all| !overlaps && all <= costs.loop_share) {
                Some(all) => added = all - length,
                None if costs.rounds[index] != Some(0) => costs.rounds[index] = None,
                None => {}
            }
            done.push((index, added));
        }
        let all = done.iter().fold(0, |sum, done| done.1.saturating_add(sum));
        (costs.inner_first, costs.done) = (inner_first, done);
        all
    }

    /// Has all jumps back to heads of loops take from the budget, but of those that are known to go round few times.
    fn guard_loops(&mut self, rounds: &[Option<u64>]) {
        for block in self.flow.blocks.iter().filter(|block| block.within.is_some()) {
            let guarded = |head| self.flow.loop_at(head).is_some_and(|it| rounds[it].is_none());
            let last = block.last(self.program);
            if self.flow.jumps_back(self.program, last, &self.block_at).is_some_and(guarded) {
                self.marks[last] |= BUDGET;
            }
        }
    }
}

/// What is known of how long things take.
#[derive(Default)]
pub(super) struct Costs {
    /// For each loop, how often it can go round, if that is known and few enough.
    rounds: Vec<Option<u64>>,
    functions: Vec<Option<u64>>,
    /// For each block, its instructions and those before it in its function, with the calls among them.
    up_to: Vec<u64>,
    /// Memory for adding up those of loops.
    inner_first: Vec<usize>,
    done: Vec<(usize, u64)>,
    loop_share: u64,
    call_share: u64,
}
