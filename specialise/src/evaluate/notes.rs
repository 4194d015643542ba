//! Records, during the evaluation, what happens to instructions and buffers, for the report.

use super::objects::Objects;
use super::report::{Buffer, Copied, Report};
use super::residual::Residual;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Instruction, Op, Operand, ValueId};
use std::collections::{BTreeMap, HashMap};

/// The greatest number of conversions between a load and a store of the same bytes.
const STEPS: usize = 6;

/// The report of one attempt, and the data needed to write it.
#[derive(Default)]
pub(super) struct Notes {
    pub report: Report,
    /// The bytes from which a residual value was loaded.
    pub loaded: HashMap<ValueId, (ObjectId, u64)>,
    /// The index of each object in the report's buffers.
    buffers: BTreeMap<ObjectId, usize>,
}

/// The beginning of a copy: an object and an offset.
type Place = (ObjectId, u64);

impl Notes {
    /// Notes the outcome of an instruction.
    pub fn instruction(&mut self, instruction: &Instruction, grew: bool) {
        let Some(place) = instruction.place else { return };
        let outcome = self.report.outcomes.entry(place).or_default();
        if grew {
            outcome.residual += 1;
        } else if touches_memory(&instruction.op) || matches!(instruction.op, Op::Call { .. }) {
            outcome.eliminated += 1;
        } else {
            outcome.known += 1;
        }
    }

    /// Notes the first reason why calls of a function are left.
    pub fn kept(&mut self, name: &str, reason: &str) {
        if !name.starts_with("llvm.") {
            self.report.kept.entry(name.to_owned()).or_insert_with(|| reason.to_owned());
        }
    }

    /// Notes a copy. A copy that continues the last one is joined to it.
    pub fn copy(&mut self, to: Place, from: Place, size: u64, objects: &Objects) {
        let ((from, from_offset), (to, to_offset)) = (from, to);
        let (from, to) = (self.buffer(from, objects), self.buffer(to, objects));
        if let Some(last) = self.report.copies.last_mut()
            && (last.from, last.to) == (from, to)
            && (last.from_offset + last.size, last.to_offset + last.size) == (from_offset, to_offset)
        {
            last.size += size;
            return;
        }
        self.report.copies.push(Copied { from, from_offset, to, to_offset, size });
    }

    /// Notes that an object lies in the residual program's memory.
    pub fn materialised(&mut self, object: ObjectId, objects: &Objects) {
        let buffer = self.buffer(object, objects);
        self.report.buffers[buffer].real = true;
    }

    /// Notes a store of a value that may have been loaded: this is a copy, with or without changes on the way.
    pub fn store(&mut self, to: Place, value: &Value, size: u64, residual: &Residual, objects: &Objects) {
        let Value::Dynamic(mut value) = *value else { return };
        for _ in 0..STEPS {
            if let Some(from) = self.loaded.get(&value) {
                return self.copy(to, *from, size, objects);
            }
            let next = match residual.definition(value) {
                Some(Op::Cast(_, Operand::Value(from))) => *from,
                Some(Op::Call { args, .. }) => match args.first() {
                    Some(Operand::Value(from)) => *from,
                    _ => return,
                },
                _ => return,
            };
            value = next;
        }
    }

    fn buffer(&mut self, object: ObjectId, objects: &Objects) -> usize {
        *self.buffers.entry(object).or_insert_with(|| {
            let origin = objects.origin(object);
            let real = !objects.is_local(object);
            self.report.buffers.push(Buffer { name: origin.name.clone(), size: origin.size, real });
            self.report.buffers.len() - 1
        })
    }
}

/// Whether an instruction accesses memory. If nothing is left of it, it counts as eliminated, otherwise as computed.
fn touches_memory(op: &Op) -> bool {
    matches!(op, Op::Load { access: Access::Plain, .. } | Op::Store { .. } | Op::Alloca { .. })
}
