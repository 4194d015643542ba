//! Paths that meet stay apart where what is known on one of them decides a later branch: the layers above ask again
//! what the layers below have found out, and between the two the paths have met.
//!
//! Each block is looked at once for each set of facts that reaches it and that a later branch may depend on. Of these
//! variants those that go on alike are one again. What comes of it is taken only if the function gets no larger.
//!
//! It refuses to copy large blocks and heads of loops: nothing is known there that isn't known on all ways in.

use super::facts::{Facts, Origins};
use super::operands::{each, successors, successors_mut};
use super::variants::{Variant, rebuild};
use super::{Surroundings, size, tidy};
use crate::ir::{BlockId, Body, Const, Instruction, Op, Operand, Terminator, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A function of more blocks stays as it is; more would make it slow.
const BLOCKS: usize = 400;

/// The instructions of a block that is copied.
const LARGEST: usize = 24;

/// The variants of a block; what is known of others is forgotten.
const VARIANTS: usize = 16;

/// Keeps paths apart where it pays.
pub(crate) fn part(body: &mut Body, around: &Surroundings) {
    if body.blocks.len() > BLOCKS {
        return;
    }
    let explored = Paths::new(body).explore();
    if !explored.iter().any(|visit| visit.decided) {
        return;
    }
    let mut parted = rebuild(body, &merged(&explored));
    tidy(&mut parted, around);
    if instructions_and_blocks(&parted) <= instructions_and_blocks(body) {
        *body = parted;
    }
}

/// How large a function is.
fn instructions_and_blocks(body: &Body) -> usize {
    let (blocks, instructions) = size(body);
    blocks + instructions
}

/// A block with what is known when it is entered.
struct Visit {
    /// The block.
    block: usize,
    /// How it ends then; blocks are visits.
    terminator: Terminator,
    /// Whether that says less than the block itself does.
    decided: bool,
}

/// What exploring a function needs to know.
struct Paths<'a> {
    /// Where values come from.
    origins: Origins<'a>,
    /// By block: the values that a branch from there on may depend on, phis of the block included.
    relevant: Vec<BTreeSet<ValueId>>,
}

impl<'a> Paths<'a> {
    fn new(body: &'a Body) -> Paths<'a> {
        let mut closed = heads_of_loops(body);
        for (closed, block) in closed.iter_mut().zip(&body.blocks) {
            *closed |= block.instructions.len() > LARGEST;
        }
        Paths { origins: Origins::new(body), relevant: relevant(body, &closed) }
    }

    /// Visits every block with every set of facts that reaches it; the entry comes first.
    fn explore(&self) -> Vec<Visit> {
        let body = self.origins.body;
        let mut numbers: Vec<BTreeMap<Facts, u32>> = vec![BTreeMap::new(); body.blocks.len()];
        let mut waiting = vec![(0, Facts::default())];
        numbers[0].insert(Facts::default(), 0);
        let mut visits = Vec::new();
        while visits.len() < waiting.len() {
            let (block, mut facts) = waiting[visits.len()].clone();
            for instruction in body.blocks[block].instructions.iter().filter(|i| !is_phi(i)) {
                facts.pass(instruction, body);
            }
            let mut number = |to: BlockId, facts: &Facts| {
                let to = to.0 as usize;
                let mut facts = self.entering(block, to, facts);
                if numbers[to].len() >= VARIANTS && !numbers[to].contains_key(&facts) {
                    facts = Facts::default();
                }
                BlockId(*numbers[to].entry(facts.clone()).or_insert_with(|| {
                    waiting.push((to, facts));
                    waiting.len() as u32 - 1
                }))
            };
            let (terminator, decided) = self.end(&body.blocks[block].terminator, &facts, &mut number);
            visits.push(Visit { block, terminator, decided });
        }
        visits
    }

    /// How a block ends with what is known there, and whether that is decided; what is learned goes along.
    fn end(
        &self,
        terminator: &Terminator,
        facts: &Facts,
        number: &mut dyn FnMut(BlockId, &Facts) -> BlockId,
    ) -> (Terminator, bool) {
        let mut learned = |on: &Operand, value: u128, to: BlockId| {
            let mut facts = facts.clone();
            facts.learn(on, value, &self.origins);
            number(to, &facts)
        };
        let end = match terminator {
            Terminator::Branch(on, then, other) => match facts.number(on) {
                Some(known) => {
                    return (Terminator::Jump(number(if known == 0 { *other } else { *then }, facts)), true);
                }
                None => Terminator::Branch(on.clone(), learned(on, 1, *then), learned(on, 0, *other)),
            },
            Terminator::Switch(on, other, cases) => match facts.number(on) {
                Some(known) => {
                    let case = cases.iter().find(|(case, _)| *case == known);
                    return (Terminator::Jump(number(case.map_or(*other, |(_, to)| *to), facts)), true);
                }
                None => {
                    let possible: Vec<_> =
                        cases.iter().filter(|(case, _)| !facts.excludes(on, *case)).collect();
                    let all = possible.len() == cases.len();
                    let new =
                        possible.into_iter().map(|(case, to)| (*case, learned(on, *case, *to))).collect();
                    let mut facts = facts.clone();
                    facts.exclude(on, cases.iter().map(|(case, _)| *case));
                    return (Terminator::Switch(on.clone(), number(*other, &facts), new), !all);
                }
            },
            Terminator::Jump(to) => Terminator::Jump(number(*to, facts)),
            Terminator::Return(_) | Terminator::Unreachable => terminator.clone(),
        };
        (end, false)
    }

    /// What is known in a block, behind its phis, when it is entered from another one.
    fn entering(&self, from: usize, to: usize, before: &Facts) -> Facts {
        let mut facts = before.clone();
        for (result, input) in inputs(&self.origins.body.blocks[to].instructions, from) {
            facts.assign(result, input, before);
        }
        facts.keep(&self.relevant[to]);
        facts
    }
}

fn is_phi(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Phi(_))
}

/// The phis among instructions, with what they are when control comes from a block.
fn inputs(instructions: &[Instruction], from: usize) -> impl Iterator<Item = (ValueId, &Operand)> {
    instructions.iter().filter_map(move |instruction| {
        let Op::Phi(inputs) = &instruction.op else { return None };
        let (input, _) = inputs.iter().find(|(_, block)| block.0 as usize == from)?;
        Some((instruction.result?, input))
    })
}

/// By block: whether control may come back to it from a block that it leads to.
fn heads_of_loops(body: &Body) -> Vec<bool> {
    let ways_on = |at: usize| {
        let mut to = Vec::new();
        successors(&body.blocks[at].terminator, |next| to.push(next.0 as usize));
        to
    };
    let mut heads = vec![false; body.blocks.len()];
    let mut seen = vec![false; body.blocks.len()];
    let mut open = vec![false; body.blocks.len()];
    let mut path = vec![(0, ways_on(0))];
    (seen[0], open[0]) = (true, true);
    while let Some((at, left)) = path.last_mut() {
        match left.pop() {
            Some(next) if open[next] => heads[next] = true,
            Some(next) if !seen[next] => {
                (seen[next], open[next]) = (true, true);
                path.push((next, ways_on(next)));
            }
            Some(_) => {}
            None => {
                open[*at] = false;
                path.pop();
            }
        }
    }
    heads
}

/// By block: the values that a branch from there on may depend on. Where a block is closed, nothing is.
fn relevant(body: &Body, closed: &[bool]) -> Vec<BTreeSet<ValueId>> {
    let mut relevant: Vec<BTreeSet<ValueId>> = vec![BTreeSet::new(); body.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, block) in body.blocks.iter().enumerate().rev().filter(|(at, _)| !closed[*at]) {
            let mut now = BTreeSet::new();
            if let Terminator::Branch(on, ..) | Terminator::Switch(on, ..) = &block.terminator {
                now.extend(value(on));
            }
            successors(&block.terminator, |to| {
                let to = to.0 as usize;
                let mut there = relevant[to].clone();
                for (result, input) in inputs(&body.blocks[to].instructions, at) {
                    if there.remove(&result) {
                        now.extend(value(input));
                    }
                }
                now.extend(there);
            });
            for instruction in block.instructions.iter().rev().filter(|i| !is_phi(i)) {
                if instruction.result.is_some_and(|result| now.remove(&result)) {
                    depends_on(&instruction.op, &mut now);
                }
            }
            if now != relevant[at] {
                relevant[at] = now;
                changed = true;
            }
        }
    }
    relevant
}

/// Adds the values on which it depends what an instruction gives, as far as it can be found out.
fn depends_on(op: &Op, values: &mut BTreeSet<ValueId>) {
    let constant = |operand: &Operand| matches!(operand, Operand::Const(Const::Int { .. } | Const::Null));
    match op {
        Op::Compare(_, a, b) if !constant(a) && !constant(b) => {}
        Op::Binary(..) | Op::Compare(..) | Op::Cast(..) | Op::Select(..) | Op::Freeze(_) => {
            each(op, |operand| values.extend(value(operand)));
        }
        _ => {}
    }
}

/// The value that an operand is.
fn value(operand: &Operand) -> Option<ValueId> {
    match operand {
        Operand::Value(value) => Some(*value),
        Operand::Const(_) => None,
    }
}

/// Visits that end alike and lead to what goes on alike are one variant; the one of the entry comes first.
fn merged(visits: &[Visit]) -> Vec<Variant> {
    let mut class: Vec<u32> = visits.iter().map(|visit| visit.block as u32).collect();
    let mut count = 0;
    loop {
        let mut numbers = HashMap::new();
        let finer: Vec<u32> = visits
            .iter()
            .map(|visit| {
                let mut ways_on = Vec::new();
                successors(&visit.terminator, |to| ways_on.push(class[to.0 as usize]));
                let next = numbers.len() as u32;
                *numbers.entry((visit.block, visit.decided, ways_on)).or_insert(next)
            })
            .collect();
        let done = numbers.len() == count;
        count = numbers.len();
        class = finer;
        if done {
            break;
        }
    }
    let mut variants: Vec<Variant> = Vec::new();
    for (visit, class_of) in visits.iter().zip(&class) {
        if *class_of as usize == variants.len() {
            let mut terminator = visit.terminator.clone();
            successors_mut(&mut terminator, |to| to.0 = class[to.0 as usize]);
            variants.push(Variant { block: visit.block, terminator });
        }
    }
    variants
}
