//! What became of the source: for each place of it whether it was computed, left out or kept, what was copied where, and
//! which calls stayed generic.

use super::value::{ObjectId, Value};
use super::{Evaluator, instructions};
use crate::ir::{Instruction, Op, Operand, PlaceId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Conversions that may lie between a load and a store of the same bytes.
const STEPS: usize = 6;

/// How often an instruction of the source came to what.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// It was computed when the program was specialised.
    pub known: u32,
    /// It was an access to memory that is no longer there.
    pub eliminated: u32,
    /// It became code of the residual program.
    pub residual: u32,
}

/// Memory that the evaluator followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// What it is called in the source.
    pub name: Rc<str>,
    /// Bytes, if they are known.
    pub size: Option<u64>,
    /// Whether it lies in the residual program's memory.
    pub real: bool,
}

/// Bytes that were copied from one buffer to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Position in [`Report::buffers`].
    pub from: usize,
    /// Bytes from its start.
    pub from_offset: u64,
    /// Position in [`Report::buffers`].
    pub to: usize,
    /// Bytes from its start.
    pub to_offset: u64,
    /// How many bytes.
    pub size: u64,
}

/// What became of a program.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// What became of each place of the source.
    pub outcomes: BTreeMap<PlaceId, Outcome>,
    /// Functions of which calls were left, and why.
    pub kept: BTreeMap<String, String>,
    /// Loops that were not unrolled because something was spent before: a sentence for each.
    pub spent: Vec<String>,
    /// The buffers of the program, in the order in which they were met.
    pub buffers: Vec<Buffer>,
    /// The copies between them, in the order in which they were made.
    pub copies: Vec<Copied>,
    /// Instructions of the source that were evaluated.
    pub evaluated: u64,
    /// Instructions of the residual program before it was tidied up.
    pub residual: usize,
    /// How often the evaluation was begun.
    pub attempts: u32,
    /// Which buffer each object is.
    known: BTreeMap<ObjectId, usize>,
}

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

    pub(super) fn keep(&mut self, name: &str, reason: &str) {
        self.kept.entry(name.to_owned()).or_insert_with(|| reason.to_owned());
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
