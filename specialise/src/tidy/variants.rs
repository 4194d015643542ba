//! Makes a function of variants of the blocks of another one, with phis where different variants of a value meet.

use super::operands::{each, each_mut, of_terminator, of_terminator_mut, successors};
use crate::ir::{Block, BlockId, Body, Instruction, Op, Operand, Terminator, Type, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// A copy of a block.
pub(super) struct Variant {
    /// The block.
    pub(super) block: usize,
    /// How the copy ends; its blocks are variants.
    pub(super) terminator: Terminator,
}

/// The function that consists of these variants, the first of which is its entry.
pub(super) fn rebuild(body: &Body, variants: &[Variant]) -> Body {
    let mut rebuild = Rebuild::new(body, variants);
    rebuild.name_results();
    let order = rebuild.order();
    rebuild.name_entries(&order);
    let blocks = (0..variants.len()).map(|at| rebuild.block(at)).collect();
    Body { blocks, types: rebuild.types, names: body.names.clone() }
}

/// A function in the making.
struct Rebuild<'a> {
    /// The old one.
    body: &'a Body,
    /// The blocks of the new one.
    variants: &'a [Variant],
    /// By variant: the variants that lead to it, as often as they name it.
    before: Vec<Vec<usize>>,
    /// By value: the block that makes it, if there are several variants of that.
    home: Vec<Option<usize>>,
    /// By old block: the values with several variants that are used there or later, and made before.
    live: Vec<BTreeSet<ValueId>>,
    /// What the results of a variant are called, if not as of old.
    results: BTreeMap<(usize, ValueId), ValueId>,
    /// What values that were made before a variant are called there.
    entries: BTreeMap<(usize, ValueId), ValueId>,
    /// By variant: the values that it has a new phi for.
    meeting: Vec<Vec<ValueId>>,
    /// The types of the new values.
    types: Vec<Type>,
}

impl<'a> Rebuild<'a> {
    fn new(body: &'a Body, variants: &'a [Variant]) -> Rebuild<'a> {
        let mut before = vec![Vec::new(); variants.len()];
        let mut copies = vec![0; body.blocks.len()];
        for (at, variant) in variants.iter().enumerate() {
            copies[variant.block] += 1;
            successors(&variant.terminator, |to| before[to.0 as usize].push(at));
        }
        let mut home = vec![None; body.types.len()];
        for (at, block) in body.blocks.iter().enumerate().filter(|(at, _)| copies[*at] > 1) {
            for result in block.instructions.iter().filter_map(|instruction| instruction.result) {
                home[result.0 as usize] = Some(at);
            }
        }
        let live = live(body, &home);
        let (results, entries) = Default::default();
        let (meeting, types) = (vec![Vec::new(); variants.len()], body.types.clone());
        Rebuild { body, variants, before, home, live, results, entries, meeting, types }
    }

    /// A new value of the type of an old one.
    fn fresh(&mut self, like: ValueId) -> ValueId {
        self.types.push(self.types[like.0 as usize].clone());
        ValueId(self.types.len() as u32 - 1)
    }

    /// All variants of a block but the first make values of their own.
    fn name_results(&mut self) {
        let mut is_there = vec![false; self.body.blocks.len()];
        for (at, variant) in self.variants.iter().enumerate() {
            if !std::mem::replace(&mut is_there[variant.block], true) {
                continue;
            }
            for result in self.body.blocks[variant.block].instructions.iter().filter_map(|i| i.result) {
                let own = self.fresh(result);
                self.results.insert((at, result), own);
            }
        }
    }

    /// The variants in an order in which one that a single other leads to comes after that.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.variants.len()];
        let mut order = Vec::new();
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                order.push(at);
                successors(&self.variants[at].terminator, |to| waiting.push(to.0 as usize));
            }
        }
        order
    }

    /// Where several variants lead to one, values that were made before meet in phis.
    fn name_entries(&mut self, order: &[usize]) {
        for at in order {
            let from = self.before[*at].first().copied();
            let single = from.filter(|first| self.before[*at].iter().all(|other| other == first));
            let live = std::mem::take(&mut self.live[self.variants[*at].block]);
            for value in &live {
                let called = match single {
                    Some(from) => self.within(from, *value),
                    None => {
                        self.meeting[*at].push(*value);
                        self.fresh(*value)
                    }
                };
                self.entries.insert((*at, *value), called);
            }
            self.live[self.variants[*at].block] = live;
        }
    }

    /// What a value is called in a variant, and at its end.
    fn within(&self, at: usize, value: ValueId) -> ValueId {
        let made_here = self.home[value.0 as usize] == Some(self.variants[at].block);
        let called = if made_here { &self.results } else { &self.entries };
        called.get(&(at, value)).copied().unwrap_or(value)
    }

    /// A block of the new function.
    fn block(&self, at: usize) -> Block {
        let Variant { block, terminator } = &self.variants[at];
        let old = &self.body.blocks[*block];
        let meeting = self.meeting[at].iter().map(|value| self.phi(at, *value));
        let copied = old.instructions.iter().map(|instruction| self.copied(at, instruction));
        let mut terminator = terminator.clone();
        if let Some(operand) = of_terminator_mut(&mut terminator) {
            self.rename(at, operand);
        }
        Block { instructions: meeting.chain(copied).collect(), terminator, ..old.clone() }
    }

    /// The phi in which variants of a value meet.
    fn phi(&self, at: usize, value: ValueId) -> Instruction {
        let input = |from: &usize| (Operand::Value(self.within(*from, value)), BlockId(*from as u32));
        Instruction {
            result: self.entries.get(&(at, value)).copied(),
            ty: self.types[value.0 as usize].clone(),
            op: Op::Phi(self.before[at].iter().map(input).collect()),
            place: None,
        }
    }

    /// An instruction of a variant.
    fn copied(&self, at: usize, old: &Instruction) -> Instruction {
        let mut new = old.clone();
        new.result = old.result.map(|result| self.results.get(&(at, result)).copied().unwrap_or(result));
        if let Op::Phi(inputs) = &old.op {
            let input = |from: &usize| {
                let (operand, _) =
                    inputs.iter().find(|(_, block)| block.0 as usize == self.variants[*from].block)?;
                let mut operand = operand.clone();
                self.rename(*from, &mut operand);
                Some((operand, BlockId(*from as u32)))
            };
            new.op = Op::Phi(self.before[at].iter().filter_map(input).collect());
        } else {
            each_mut(&mut new.op, |operand| self.rename(at, operand));
        }
        new
    }

    /// An operand as it is called in a variant.
    fn rename(&self, at: usize, operand: &mut Operand) {
        if let Operand::Value(value) = operand {
            *value = self.within(at, *value);
        }
    }
}

/// By block: the values with a home that are used there or later, and made before.
fn live(body: &Body, home: &[Option<usize>]) -> Vec<BTreeSet<ValueId>> {
    let mut before = vec![Vec::new(); body.blocks.len()];
    let mut live = vec![BTreeSet::new(); body.blocks.len()];
    for (at, block) in body.blocks.iter().enumerate() {
        successors(&block.terminator, |to| before[to.0 as usize].push(at));
    }
    for (at, block) in body.blocks.iter().enumerate() {
        let mut uses: Vec<(usize, ValueId)> = Vec::new();
        let mut used = |at: usize, operand: &Operand| {
            if let Operand::Value(value) = operand {
                uses.push((at, *value));
            }
        };
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Phi(inputs) => inputs.iter().for_each(|(input, from)| used(from.0 as usize, input)),
                op => each(op, |operand| used(at, operand)),
            }
        }
        of_terminator(&block.terminator).into_iter().for_each(|operand| used(at, operand));
        while let Some((at, value)) = uses.pop() {
            let made = home[value.0 as usize];
            if made.is_some_and(|made| made != at) && live[at].insert(value) {
                uses.extend(before[at].iter().map(|from| (*from, value)));
            }
        }
    }
    live
}
