//! Writes a run as a counted loop of one block.

use super::draft::{Draft, Fresh};
use super::fit::{Fit, Slot, Source, operand};
use super::rewrite::Made;
use super::steps::{Steps, What};
use crate::ir::{Instruction, Op, Operand, Type, ValueId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Writes the loop. Results of the last repetition keep their values, so later instructions use them as before.
pub(super) fn counted(steps: &Steps, fit: &Fit, fresh: &mut Fresh) -> Made {
    let place = steps.instruction(fit.start).place;
    let mut ahead = Draft::new(fresh, place);
    let mut carried = Vec::new();
    let mut phis = BTreeMap::new();
    for (position, initial) in &fit.initial {
        let last = steps.instruction(fit.last(*position));
        let Some(result) = last.result else { continue };
        let initial = ahead.initial(initial);
        let phi = ahead.fresh.value(last.ty.clone());
        carried.push((phi, initial, Operand::Value(result)));
        phis.insert(*position, phi);
    }
    let ahead = ahead.instructions;
    let index = fresh.value(Type::WORD);
    let mut writer =
        Writer { steps, fit, phis, index: Operand::Value(index), draft: Draft::new(fresh, place) };
    let mut slots = fit.slots.iter();
    for position in 0..fit.period {
        writer.step(position, &mut slots);
    }
    let group = writer.draft.instructions;
    let next = fresh.value(Type::WORD);
    let goes_on = fresh.value(Type::Int(1));
    Made::Loop { ahead, carried, index, next, goes_on, group, repetitions: fit.repetitions, place }
}

/// Writes the body of the loop.
struct Writer<'a> {
    /// The block.
    steps: &'a Steps<'a>,
    /// The run.
    fit: &'a Fit<'a>,
    /// The phis with results of the previous repetition, by position in the group.
    phis: BTreeMap<usize, ValueId>,
    /// The number of the repetition.
    index: Operand,
    /// The instructions so far.
    draft: Draft<'a>,
}

impl Writer<'_> {
    /// Writes a step of the group.
    fn step<'s>(&mut self, position: usize, slots: &mut impl Iterator<Item = &'s Slot<'s>>) {
        let first = self.steps.instruction(self.fit.start + position);
        let last = self.steps.instruction(self.fit.last(position));
        self.draft.place = first.place;
        let mut op = first.op.clone();
        for operand in op.operands_mut() {
            if let Some(slot) = slots.next() {
                let terms = (0..slot.first.terms).filter_map(|_| slots.next());
                let terms = terms.map(|term| (self.operand(term, Vec::new()), term.first.scale)).collect();
                *operand = self.operand(slot, terms);
            }
        }
        match &mut op {
            Op::Load { align, .. } | Op::Store { align, .. } => *align = self.fit.aligns[position],
            Op::Call { attributes, .. } if self.fit.loose[position] => {
                let mut loose = attributes.as_ref().clone();
                loose.params.iter_mut().for_each(|param| param.align = None);
                *attributes = Rc::new(loose);
            }
            _ => {}
        }
        self.draft.instructions.push(Instruction {
            result: last.result,
            ty: first.ty.clone(),
            op,
            place: first.place,
        });
    }

    /// Writes an operand.
    fn operand(&mut self, slot: &Slot, mut terms: Vec<(Operand, i64)>) -> Operand {
        let base = match slot.source {
            Source::Always(What::Int(bits)) if slot.step != 0 => {
                return self.draft.advancing(bits, slot.first.number, slot.step, &self.index);
            }
            Source::Always(What::Int(_)) => {
                return self.draft.fixed(slot.first.what, slot.first.number, terms);
            }
            Source::Always(what) => operand(what),
            Source::Same(position) => {
                self.result(self.steps.instruction(self.fit.last(position)).result, slot)
            }
            Source::Before(position) => self.result(self.phis.get(&position).copied(), slot),
        };
        if slot.step != 0 {
            terms.push((self.index.clone(), (slot.step as u64).cast_signed()));
        }
        self.draft.address(base, slot.first.number, terms)
    }

    /// A value of the loop. Every result that is used has one.
    fn result(&self, value: Option<ValueId>, slot: &Slot) -> Operand {
        value.map_or_else(|| operand(slot.first.what), Operand::Value)
    }
}
