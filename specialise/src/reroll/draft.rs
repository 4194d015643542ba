//! Instructions of new loops and calls.

use super::fit::operand;
use super::steps::{Seen, What};
use crate::ir::{Binary, Cast, Const, Instruction, Op, Operand, PlaceId, Type, ValueId};

/// The new values of a function.
pub(super) struct Fresh {
    /// The number of values that the function had.
    first: usize,
    /// The types of the new ones.
    pub(super) types: Vec<Type>,
}

impl Fresh {
    /// No new values, for a function with this many values.
    pub(super) fn after(first: usize) -> Fresh {
        Fresh { first, types: Vec::new() }
    }

    /// A new value.
    pub(super) fn value(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        ValueId((self.first + self.types.len() - 1) as u32)
    }
}

/// A sequence of new instructions.
pub(super) struct Draft<'a> {
    /// The numbering of new values.
    pub(super) fresh: &'a mut Fresh,
    /// The instructions written so far.
    pub(super) instructions: Vec<Instruction>,
    /// The source place of the next instruction.
    pub(super) place: Option<PlaceId>,
}

impl<'a> Draft<'a> {
    /// An empty sequence.
    pub(super) fn new(fresh: &'a mut Fresh, place: Option<PlaceId>) -> Draft<'a> {
        Draft { fresh, instructions: Vec::new(), place }
    }

    /// Writes an instruction with a result.
    pub(super) fn compute(&mut self, ty: Type, op: Op) -> Operand {
        let result = self.fresh.value(ty.clone());
        self.instructions.push(Instruction { result: Some(result), ty, op, place: self.place });
        Operand::Value(result)
    }

    /// An operand with a constant number. Its indices have been computed.
    pub(super) fn fixed(&mut self, what: What, number: u128, terms: Vec<(Operand, i64)>) -> Operand {
        let base = match what {
            What::Int(bits) => return Operand::Const(Const::int(bits, number)),
            what => operand(what),
        };
        self.address(base, number, terms)
    }

    /// An address. It is the base itself if nothing is added.
    pub(super) fn address(&mut self, base: Operand, offset: u128, terms: Vec<(Operand, i64)>) -> Operand {
        let offset = (offset as u64).cast_signed();
        match base {
            base if offset == 0 && terms.is_empty() => base,
            Operand::Const(Const::Global(global, start)) if terms.is_empty() => {
                Operand::Const(Const::Global(global, start.wrapping_add(offset)))
            }
            base => self.compute(Type::Ptr, Op::Address { base, offset, terms }),
        }
    }

    /// `first + step * index`, as an integer of this many bits.
    pub(super) fn advancing(&mut self, bits: u32, first: u128, step: u128, index: &Operand) -> Operand {
        let ty = Type::Int(bits);
        let number = |value| Operand::Const(Const::int(bits, value));
        let index = match bits.cmp(&64) {
            std::cmp::Ordering::Less => self.compute(ty.clone(), Op::Cast(Cast::Trunc, index.clone())),
            std::cmp::Ordering::Equal => index.clone(),
            std::cmp::Ordering::Greater => self.compute(ty.clone(), Op::Cast(Cast::ZExt, index.clone())),
        };
        let steps = match step {
            1 => index,
            step => self.compute(ty.clone(), Op::Binary(Binary::Mul, index, number(step))),
        };
        match first {
            0 => steps,
            first => self.compute(ty, Op::Binary(Binary::Add, steps, number(first))),
        }
    }

    /// An operand's value before the first repetition.
    pub(super) fn initial(&mut self, seen: &Seen) -> Operand {
        self.fixed(seen.what, seen.number, Vec::new())
    }
}
