//! Records for the report, while the program is evaluated, what becomes of its instructions and buffers.

use super::objects::Objects;
use super::report::{Buffer, Copied, Report};
use super::residual::Residual;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Instruction, Op, Operand, ValueId};
use std::collections::{BTreeMap, HashMap};

/// Conversions that may lie between a load and a store of the same bytes.
const STEPS: usize = 6;

/// The report of one attempt, and what it takes to write it.
#[derive(Default)]
pub(super) struct Notes {
    pub report: Report,
    /// The bytes that a residual value was loaded from.
    pub loaded: HashMap<ValueId, (ObjectId, u64)>,
    /// Which buffer of the report each object is.
    buffers: BTreeMap<ObjectId, usize>,
}

/// Where a copy begins: an object, and bytes from its start.
type Place = (ObjectId, u64);

impl Notes {
    /// Notes what became of an instruction.
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

    /// Notes why calls of a function are left, the first reason of each.
    pub fn kept(&mut self, name: &str, reason: &str) {
        if !name.starts_with("llvm.") {
            self.report.kept.entry(name.to_owned()).or_insert_with(|| reason.to_owned());
        }
    }

    /// Notes a copy; one that goes on where the last one ended is part of it.
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

    /// Notes that a value which may have come from memory goes to memory: a copy, whatever was done to it on the way.
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

/// Whether an instruction touches memory, so that it is "eliminated" rather than computed when nothing is left of it.
fn touches_memory(op: &Op) -> bool {
    matches!(op, Op::Load { access: Access::Plain, .. } | Op::Store { .. } | Op::Alloca { .. })
}
