//! Finds the loops and calls that aren't proved to end soon, and have to take from the budget.
//!
//! A loop ends if some register moves in one direction by at least 1 in each iteration, and is known to be within a
//! range at all jumps back: the width of the range bounds the iterations. (Paths aren't enumerated: it takes one pass
//! over each loop.) Between two instructions that take from the budget, all loops add at most
//! [`super::Contract::patience`] instructions to the program's length, and so do all calls. Each loop or call has an
//! equal share, and is guarded if that isn't enough.

use alloc::vec::Vec;
use core::{cmp::Reverse, mem::take, ops::Range};

use super::drift::{Drifts, drifts};
use super::flow::{BlockAt, Flow};
use super::marks::{BUDGET, CALLED};
use super::rounds::Rounds;
use super::vectors::{emptied, filled};
use crate::bytecode::{Instruction, Program};

/// How many loops a block may be in, on average, before further loops are guarded unanalysed.
const EFFORT: usize = 16;

/// The last part of an analysis, once all paths are known.
pub(super) struct Bounds<'a> {
    pub program: &'a Program,
    pub flow: &'a Flow,
    pub block_at: &'a BlockAt,
    /// What is known of each loop.
    pub rounds: &'a [Rounds],
    /// The marks of each slot, to which [`BUDGET`] is added.
    pub marks: &'a mut [u8],
    /// See [`super::Contract::patience`].
    pub patience: u64,
}

impl Bounds<'_> {
    /// Marks all loops and calls that may take too long.
    pub fn bound(mut self, used: &mut Costs, drifts: &mut Vec<Option<Drifts>>) {
        let called = self.marks.iter().filter(|&&mark| mark & CALLED != 0).count();
        if self.flow.loops.is_empty() && called == 0 {
            return;
        }
        let mut costs = Costs {
            rounds: self.most_rounds(emptied(&mut used.rounds), drifts),
            functions: filled(&mut used.functions, self.flow.functions.len(), None),
            up_to: filled(&mut used.up_to, self.flow.blocks.len(), 0),
            inner_first: take(&mut used.inner_first),
            done: take(&mut used.done),
            loop_share: self.patience / self.flow.loops.len().max(1) as u64,
            call_share: self.patience / called.max(1) as u64,
        };
        for function in 0..self.flow.functions.len() {
            self.cost_of(function, &mut costs);
        }
        self.guard_loops(&costs.rounds);
        *used = costs;
    }

    /// For each loop, the most iterations, if there is a bound.
    fn most_rounds(&self, mut all: Vec<Option<u64>>, used: &mut Vec<Option<Drifts>>) -> Vec<Option<u64>> {
        let mut effort = EFFORT * self.flow.blocks.len();
        let rounds_of = |index: usize| {
            let it = &self.flow.loops[index];
            effort = effort.checked_sub(it.last - it.head + 1)?;
            self.rounds[index].most(&drifts(self.program, self.flow, self.block_at, it, used)?)
        };
        all.extend((0..self.flow.loops.len()).map(rounds_of));
        all
    }

    /// The most instructions of a function between two that take from the budget.
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
            // Calls that may recur take from the budget anyway; unreachable ones cost nothing.
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

    /// What the loops of a function add to its length. Loops that add too much are guarded.
    fn cost_of_loops(&self, blocks: &Range<usize>, costs: &mut Costs) -> u64 {
        let first = self.flow.loops.partition_point(|it| it.head < blocks.start);
        let end = self.flow.loops.partition_point(|it| it.head < blocks.end);
        let mut inner_first = emptied(&mut costs.inner_first);
        inner_first.extend(first..end);
        inner_first.sort_unstable_by_key(|&it| (self.flow.loops[it].last, Reverse(self.flow.loops[it].head)));
        // Loops that aren't in another one that is done, with what each adds.
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

    /// Marks the jumps back of all loops without a small bound.
    fn guard_loops(&mut self, rounds: &[Option<u64>]) {
        for block in self.flow.blocks.iter().filter(|block| block.within.is_some()) {
            let guarded = |head| self.flow.loop_at(head).is_some_and(|it| rounds[it].is_none());
            let last = block.last(self.program);
            if self.flow.jumps_back(self.program, last, self.block_at).is_some_and(guarded) {
                self.marks[last] |= BUDGET;
            }
        }
    }
}

/// Bounds on instructions.
#[derive(Default)]
pub(super) struct Costs {
    /// For each loop, the most iterations, if that is bounded and small.
    rounds: Vec<Option<u64>>,
    functions: Vec<Option<u64>>,
    /// For each block, the instructions up to its end in its function, calls included.
    up_to: Vec<u64>,
    /// Memory for the sums over loops.
    inner_first: Vec<usize>,
    done: Vec<(usize, u64)>,
    loop_share: u64,
    call_share: u64,
}
