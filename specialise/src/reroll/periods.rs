//! Guesses where the steps of a block repeat; [`super::fit`] proves it. Each step becomes a symbol, with its numbers
//! relative to those of the last step of the same kind. Windows of symbols are hashed. The distance to the last equal
//! window is a candidate period if three repetitions of it have equal hashes.

use super::steps::{Steps, What};
use crate::tidy::{Mixer, Table};
use std::hash::{Hash, Hasher};

/// The lengths of the windows. A group whose length lies between two of these is found by a window longer than the
/// group.
const WINDOWS: [usize; 6] = [1, 4, 16, 64, 256, 1024];

/// The multiplier of the rolling hash.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Steps that look like repetitions of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first step, which need not be the beginning of a group.
    pub(super) begin: usize,
    /// The step after the last one.
    pub(super) end: usize,
    /// Steps of a group.
    pub(super) period: usize,
}

/// Passes runs to `take`, from the first to the last. `take` gives the end of the steps that it has taken. If it takes
/// none, the search goes on after the run.
pub(super) fn each_run(steps: &Steps, mut take: impl FnMut(Run) -> Option<usize>) {
    let symbols = Symbols::new(steps);
    let mut last: [Table<u64, usize>; WINDOWS.len()] = Default::default();
    let mut floor = 0;
    let mut at = 0;
    while at < steps.list.len() {
        let mut next = at + 1;
        let mut tried = 0;
        for (window, last) in WINDOWS.iter().zip(&mut last) {
            let Some(start) = (at + 1).checked_sub(*window) else { break };
            let Some(before) = last.insert(symbols.hash(start, at + 1), at) else { continue };
            let period = at - before;
            if before < floor || period == tried || !symbols.repeats(floor, at + 1, period) {
                continue;
            }
            tried = period;
            let run = symbols.extend(floor, at + 1, period);
            next = next.max(run.end);
            if let Some(end) = take(run).or_else(|| take(Run { period: period * 2, ..run })) {
                floor = end;
                next = end;
                break;
            }
        }
        at = next;
    }
}

/// The symbols of a block.
struct Symbols {
    /// The kind of each step: its operation without its numbers.
    kinds: Vec<u64>,
    /// The kind, and the change of the numbers since the last step of the same kind.
    symbols: Vec<u64>,
    /// The hash of all symbols before each step.
    hashes: Vec<u64>,
    /// The powers of [`BASE`].
    powers: Vec<u64>,
}

impl Symbols {
    /// Computes the symbols of the steps.
    fn new(steps: &Steps) -> Symbols {
        let count = steps.list.len();
        let kinds: Vec<u64> = (0..count).map(|step| kind(steps, step)).collect();
        let mut last: Table<u64, usize> = Table::default();
        let mut hashes = vec![0u64];
        let mut powers = vec![1u64];
        let mut symbols = Vec::with_capacity(count);
        for (step, kind) in kinds.iter().enumerate() {
            let mut hasher = Mixer::from(*kind);
            if let Some(before) = last.insert(*kind, step) {
                for (now, before) in steps.operands(step).iter().zip(steps.operands(before)) {
                    hasher.write_u64((now.number.wrapping_sub(before.number) & now.mask()) as u64);
                }
            }
            let symbol = hasher.finish();
            symbols.push(symbol);
            hashes.push(hashes[step].wrapping_mul(BASE).wrapping_add(symbol));
            powers.push(powers[step].wrapping_mul(BASE));
        }
        Symbols { kinds, symbols, hashes, powers }
    }

    /// The hash of a range of steps.
    fn hash(&self, from: usize, to: usize) -> u64 {
        self.hashes[to].wrapping_sub(self.hashes[from].wrapping_mul(self.powers[to - from]))
    }

    /// Whether the steps before `end` are three repetitions with a period.
    fn repeats(&self, floor: usize, end: usize, period: usize) -> bool {
        end >= floor + 3 * period
            && self.hash(end - 3 * period, end - period) == self.hash(end - 2 * period, end)
    }

    /// Extends a repetition before `end` in both directions. In the first group, the changes of numbers are
    /// meaningless, so only the kinds of the steps are compared.
    fn extend(&self, floor: usize, mut end: usize, period: usize) -> Run {
        let mut begin = end - 3 * period;
        while end < self.symbols.len() && self.symbols[end] == self.symbols[end - period] {
            end += 1;
        }
        while begin > floor && self.symbols[begin - 1] == self.symbols[begin - 1 + period] {
            begin -= 1;
        }
        let least = begin.saturating_sub(period).max(floor);
        while begin > least && self.kinds[begin - 1] == self.kinds[begin - 1 + period] {
            begin -= 1;
        }
        Run { begin, end, period }
    }
}

/// The hash of a step's operation, without its numbers, and without the identity of results of the block that it uses.
fn kind(steps: &Steps, step: usize) -> u64 {
    let instruction = steps.instruction(step);
    let mut hasher = Mixer::default();
    std::mem::discriminant(&instruction.op).hash(&mut hasher);
    instruction.ty.hash(&mut hasher);
    if let crate::ir::Op::Binary(binary, ..) = &instruction.op {
        binary.hash(&mut hasher);
    }
    for seen in steps.operands(step) {
        hasher.write_i64(seen.scale);
        match seen.what {
            What::Value(value) if steps.position(value).is_some() => hasher.write_u8(1),
            what => what.hash(&mut hasher),
        }
    }
    hasher.finish()
}
