//! Proves that steps repeat a group: that each operand follows from the number of the repetition.

use super::alike::alike;
use super::periods::Run;
use super::steps::{Seen, Steps, What};
use crate::ir::{Const, Op, Operand};
use std::collections::BTreeMap;

/// The least number of repetitions of a run.
const LEAST: usize = 4;

/// With this many repetitions, a group of any size is worth a loop.
const ENOUGH: usize = 8;

/// With this many steps, [`LEAST`] repetitions are worth a loop.
const LARGE: usize = 32;

/// The origin of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source<'a> {
    /// The same in every repetition.
    Always(What<'a>),
    /// The result of a step in the same repetition.
    Same(usize),
    /// The result of a step in the previous repetition.
    Before(usize),
}

/// An operand over all repetitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    /// The operand, apart from its number.
    pub(super) source: Source<'a>,
    /// Its number in the first repetition, and the rest of its form.
    pub(super) first: Seen<'a>,
    /// The amount by which its number grows with each repetition.
    pub(super) step: u128,
}

impl Slot<'_> {
    /// Its number in a given repetition.
    pub(super) fn number(&self, repetition: usize) -> u128 {
        self.first.number.wrapping_add(self.step.wrapping_mul(repetition as u128)) & self.first.mask()
    }
}

/// Repetitions of a group.
#[derive(Clone, Debug)]
pub(super) struct Fit<'a> {
    /// The first step of the run.
    pub(super) start: usize,
    /// The number of steps in the group.
    pub(super) period: usize,
    /// The number of repetitions.
    pub(super) repetitions: usize,
    /// The operands of the group's steps in sequence.
    pub(super) slots: Vec<Slot<'a>>,
    /// For each step of the group, a common alignment of its addresses.
    pub(super) aligns: Vec<u64>,
    /// For each step of the group, whether the alignments stated by its repetitions differ.
    pub(super) loose: Vec<bool>,
    /// The values before the first repetition, for results carried from one repetition to the next.
    pub(super) initial: BTreeMap<usize, Seen<'a>>,
}

impl Fit<'_> {
    /// The step after the last one.
    pub(super) fn end(&self) -> usize {
        self.start + self.period * self.repetitions
    }

    /// The step at a position of the group in the last repetition.
    pub(super) fn last(&self, position: usize) -> usize {
        self.end() - self.period + position
    }
}

/// The repetitions that are proven. A run has several parts if results within it are used outside.
pub(super) fn fit<'a>(steps: &Steps<'a>, run: Run) -> Vec<Fit<'a>> {
    if run.end < run.begin + run.period * LEAST {
        return Vec::new();
    }
    let start = run.begin + rotation(steps, run);
    for start in [start, start + run.period] {
        if let Some(fit) = prove(steps, start, run) {
            let parts = parts(steps, &fit);
            if !parts.is_empty() {
                return parts;
            }
        }
    }
    Vec::new()
}

/// The offset in the run at which the group should begin: where the fewest results are carried to the next repetition.
fn rotation(steps: &Steps, run: Run) -> usize {
    let period = run.period;
    let mut crossing = vec![0i64; period + 1];
    let group = run.begin + 2 * period;
    for step in group..group + period {
        for (seen, before) in steps.operands(step).iter().zip(steps.operands(step - period)) {
            let (What::Value(now), What::Value(old)) = (seen.what, before.what) else { continue };
            let (Some(made), Some(old)) = (steps.position(now), steps.position(old)) else { continue };
            if made != old + period || made + period <= step {
                continue;
            }
            // A group that begins after the maker, and not after the user, would separate the two.
            let (from, to) = ((made + 1 - run.begin) % period, (step - run.begin) % period);
            if made == step {
                continue;
            }
            crossing[from] += 1;
            crossing[to + 1] -= 1;
            if from > to {
                crossing[0] += 1;
            }
        }
    }
    let mut sum = 0;
    let mut best = (i64::MAX, 0);
    for (at, change) in crossing.iter().enumerate().take(period) {
        sum += change;
        best = best.min((sum, at));
    }
    best.1
}

/// Compares all repetitions from a step on with the pattern of the second and third one.
fn prove<'a>(steps: &Steps<'a>, start: usize, run: Run) -> Option<Fit<'a>> {
    let period = run.period;
    let most = run.end.checked_sub(start)? / period;
    if most < LEAST {
        return None;
    }
    let mut slots = Vec::new();
    for step in start + period..start + 2 * period {
        let (second, third) = (steps.operands(step), steps.operands(step + period));
        if second.len() != third.len() {
            return None;
        }
        for (second, third) in second.iter().zip(third) {
            slots.push(slot(steps, start, period, second, third)?);
        }
    }
    let mut fit = Fit {
        start,
        period,
        repetitions: 0,
        slots,
        aligns: vec![u64::MAX; period],
        loose: vec![false; period],
        initial: BTreeMap::new(),
    };
    while fit.repetitions < most && repeats(steps, &mut fit) {
        fit.repetitions += 1;
    }
    (fit.repetitions >= LEAST).then_some(fit)
}

/// An operand's pattern, from the second and the third repetition.
fn slot<'a>(
    steps: &Steps<'a>,
    start: usize,
    period: usize,
    second: &Seen<'a>,
    third: &Seen<'a>,
) -> Option<Slot<'a>> {
    let source = if second.what == third.what {
        match second.what {
            What::Value(value) if steps.position(value).is_some_and(|made| made >= start) => return None,
            what => Source::Always(what),
        }
    } else {
        let (What::Value(now), What::Value(next)) = (second.what, third.what) else { return None };
        let (now, next) = (steps.position(now)?, steps.position(next)?);
        if now + period != next || now < start {
            return None;
        }
        match now.checked_sub(start + period) {
            Some(same) => Source::Same(same),
            None => Source::Before(now - start),
        }
    };
    let step = third.number.wrapping_sub(second.number) & second.mask();
    let number = second.number.wrapping_sub(step) & second.mask();
    Some(Slot { source, first: Seen { number, ..*second }, step })
}

/// Whether the repetition after those that are proven follows the pattern too.
fn repeats<'a>(steps: &Steps<'a>, fit: &mut Fit<'a>) -> bool {
    let at = fit.start + fit.period * fit.repetitions;
    let mut slots = fit.slots.iter();
    let mut initial = BTreeMap::new();
    for position in 0..fit.period {
        let (pattern, now) =
            (steps.instruction(fit.start + fit.period + position), steps.instruction(at + position));
        if !alike(&pattern.op, &now.op) || pattern.ty != now.ty {
            return false;
        }
        let expected = steps.operands(fit.start + fit.period + position).len();
        let operands = steps.operands(at + position);
        if operands.len() != expected {
            return false;
        }
        let rigid = steps.rigid[at + position];
        for (seen, slot) in operands.iter().zip(slots.by_ref()) {
            if !matches(steps, fit, slot, seen, rigid, &mut initial) {
                return false;
            }
        }
        match (&now.op, &pattern.op) {
            (Op::Load { align, .. } | Op::Store { align, .. }, _) => {
                fit.aligns[position] = fit.aligns[position].min(*align);
            }
            (Op::Call { attributes: a, .. }, Op::Call { attributes: b, .. }) => fit.loose[position] |= a != b,
            _ => {}
        }
    }
    if fit.repetitions == 0 {
        fit.initial = initial;
    }
    true
}

/// Whether an operand of the next repetition follows the pattern.
fn matches<'a>(
    steps: &Steps<'a>,
    fit: &Fit<'a>,
    slot: &Slot<'a>,
    seen: &Seen<'a>,
    rigid: bool,
    initial: &mut BTreeMap<usize, Seen<'a>>,
) -> bool {
    if seen.terms != slot.first.terms || seen.scale != slot.first.scale {
        return false;
    }
    let number = slot.number(fit.repetitions);
    let made_at = |step: usize| match seen.what {
        What::Value(value) => steps.position(value) == Some(step),
        _ => false,
    };
    let group = fit.start + fit.period * fit.repetitions;
    match slot.source {
        Source::Always(what) => {
            let integer = matches!(what, What::Int(_));
            what == seen.what && number == seen.number && !(rigid && integer && slot.step != 0)
        }
        Source::Same(position) => made_at(group + position) && number == seen.number,
        Source::Before(position) if fit.repetitions > 0 => {
            made_at(group - fit.period + position) && number == seen.number
        }
        Source::Before(position) => {
            let off = seen.number.wrapping_sub(number) & seen.mask();
            let from_before = !matches!(seen.what, What::Value(value)
                if steps.position(value).is_some_and(|made| made >= fit.start));
            let value = Seen { number: off, terms: 0, scale: 0, ..*seen };
            let known = initial.entry(position).or_insert(value);
            let fits = off == 0 || !matches!(seen.what, What::Fixed(_));
            from_before
                && fits
                && steps.body.type_of(&operand(seen.what)) == steps.instruction(fit.start + position).ty
                && known.what == value.what
                && known.number == value.number
        }
    }
}

/// Divides a run into parts of which only results of the last repetition are used outside. Gives the parts that are
/// worth a loop.
fn parts<'a>(steps: &Steps<'a>, fit: &Fit<'a>) -> Vec<Fit<'a>> {
    let end = fit.end();
    let mut parts = Vec::new();
    let mut first = 0;
    for repetition in 0..fit.repetitions {
        let group = fit.start + fit.period * repetition;
        let used = || (group..group + fit.period).any(|step| steps.is_used_from(step, end));
        if repetition + 1 == fit.repetitions || used() {
            let count = repetition + 1 - first;
            if count >= ENOUGH || count >= LEAST && count * fit.period >= LARGE {
                parts.extend(part(steps, fit, first, count));
            }
            first = repetition + 1;
        }
    }
    parts
}

/// Some repetitions of a run as a run.
fn part<'a>(steps: &Steps<'a>, fit: &Fit<'a>, first: usize, count: usize) -> Option<Fit<'a>> {
    let mut part = Fit { start: fit.start + fit.period * first, repetitions: count, ..fit.clone() };
    if first > 0 {
        for slot in &mut part.slots {
            slot.first.number = slot.number(first);
        }
        for (position, initial) in &mut part.initial {
            let result = steps.instruction(part.start - fit.period + position).result?;
            *initial = Seen { what: What::Value(result), number: 0, terms: 0, scale: 0 };
        }
    }
    Some(part)
}

/// The operand without its number.
pub(super) fn operand(what: What) -> Operand {
    match what {
        What::Value(value) => Operand::Value(value),
        What::Int(bits) => Operand::Const(Const::int(bits, 0)),
        What::Global(global) => Operand::Const(Const::Global(global, 0)),
        What::Fixed(constant) => Operand::Const(constant.clone()),
    }
}
