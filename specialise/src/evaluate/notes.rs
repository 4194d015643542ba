//! What is noted for the report while the program is evaluated.

use super::evaluator::Evaluator;
use super::instructions;
use super::report::{Buffer, Copied, Report};
use super::value::{ObjectId, Value};
use crate::ir::{Instruction, Op, Operand};

/// Conversions that may lie between a load and a store of the same bytes.
const STEPS: usize = 6;

impl Report {
    /// Notes what became of an instruction.
    pub(super) fn note(&mut self, instruction: &Instruction, grew: bool) {
        let Some(place) = instruction.place else { return };
        let outcome = self.outcomes.entry(place).or_default();
        if grew {
            outcome.residual += 1;
        } else if instructions::touches_memory(&instruction.op) || matches!(instruction.op, Op::Call { .. }) {
            outcome.eliminated += 1;
        } else {
            outcome.known += 1;
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn report_kept(&mut self, name: &str, reason: &str) {
        if !name.starts_with("llvm.") {
            self.report.keep(name, reason);
        }
    }

    pub(super) fn note_copy(
        &mut self,
        to: ObjectId,
        to_offset: u64,
        from: ObjectId,
        from_offset: u64,
        size: u64,
    ) {
        let (from, to) = (self.buffer(from), self.buffer(to));
        if let Some(last) = self.report.copies.last_mut()
            && (last.from, last.to) == (from, to)
            && (last.from_offset + last.size, last.to_offset + last.size) == (from_offset, to_offset)
        {
            last.size += size;
            return;
        }
        self.report.copies.push(Copied { from, from_offset, to, to_offset, size });
    }

    pub(super) fn note_materialised(&mut self, object: ObjectId) {
        let buffer = self.buffer(object);
        self.report.buffers[buffer].real = true;
    }

    /// Notes that a value which may have come from memory goes to memory: a copy, whatever was done to it on the way.
    pub(super) fn note_store(&mut self, to: ObjectId, offset: u64, value: &Value, size: u64) {
        let Value::Dynamic(mut value) = *value else { return };
        for _ in 0..STEPS {
            if let Some((from, from_offset)) = self.loaded.get(&value) {
                let (from, from_offset) = (*from, *from_offset);
                return self.note_copy(to, offset, from, from_offset, size);
            }
            let next = match self.residual.definition(value) {
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

    fn buffer(&mut self, object: ObjectId) -> usize {
        if let Some(known) = self.report.known.get(&object) {
            return *known;
        }
        let origin = self.learnt.objects.origin(object);
        let real = !self.is_local(object);
        self.report.buffers.push(Buffer { name: origin.name.clone(), size: origin.size, real });
        self.report.known.insert(object, self.report.buffers.len() - 1);
        self.report.buffers.len() - 1
    }
}
