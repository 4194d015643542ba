//! What is known of values on one path through a function, and what follows from it.

use super::operands::known;
use crate::ir::{Binary, Body, Compare, Const, Instruction, Op, Operand, Type, ValueId};
use crate::parse::fold;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of an integer; the null pointer counts as 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fact {
    /// It is this number.
    Is(u128),
    /// It is none of these.
    IsNot(BTreeSet<u128>),
}

/// What is known of values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Facts(BTreeMap<ValueId, Fact>);

/// Where values come from.
pub(super) struct Origins<'a> {
    /// The function.
    pub(super) body: &'a Body,
    /// The instruction that makes a value, by value.
    made_by: Vec<Option<&'a Instruction>>,
}

impl<'a> Origins<'a> {
    /// Of all values of a function.
    pub(super) fn new(body: &'a Body) -> Origins<'a> {
        let mut made_by = vec![None; body.types.len()];
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(result) = instruction.result {
                made_by[result.0 as usize] = Some(instruction);
            }
        }
        Origins { body, made_by }
    }

    /// What makes a value; none for parameters.
    fn op(&self, value: ValueId) -> Option<&'a Op> {
        self.made_by[value.0 as usize].map(|instruction| &instruction.op)
    }
}

impl Facts {
    /// The number that an operand is known to be.
    pub(super) fn number(&self, operand: &Operand) -> Option<u128> {
        match operand {
            Operand::Const(Const::Null) => Some(0),
            Operand::Const(_) => known(operand),
            Operand::Value(value) => match self.0.get(value) {
                Some(Fact::Is(number)) => Some(*number),
                _ => None,
            },
        }
    }

    /// What is known of an operand becomes known of a value; nothing else is.
    pub(super) fn assign(&mut self, value: ValueId, operand: &Operand, before: &Facts) {
        let fact = match operand {
            Operand::Value(other) => before.0.get(other).cloned(),
            Operand::Const(_) => before.number(operand).map(Fact::Is),
        };
        match fact {
            Some(fact) => self.0.insert(value, fact),
            None => self.0.remove(&value),
        };
    }

    /// Forgets all but what is known of some values.
    pub(super) fn keep(&mut self, values: &BTreeSet<ValueId>) {
        self.0.retain(|value, _| values.contains(value));
    }

    /// Goes past an instruction that isn't a phi.
    pub(super) fn pass(&mut self, instruction: &Instruction, body: &Body) {
        let Some(result) = instruction.result else { return };
        match self.result(instruction, body) {
            Some(number) => self.0.insert(result, Fact::Is(number)),
            None => self.0.remove(&result),
        };
    }

    /// A value is a number.
    pub(super) fn learn(&mut self, operand: &Operand, number: u128, origins: &Origins) {
        let mut learned = vec![(operand, number)];
        while let Some((operand, number)) = learned.pop() {
            let Operand::Value(value) = operand else { continue };
            self.0.insert(*value, Fact::Is(number));
            if origins.body.types[value.0 as usize] != Type::Int(1) {
                continue;
            }
            match origins.op(*value) {
                Some(Op::Compare(Compare::Eq, a, b)) => self.learn_compared(a, b, number == 1),
                Some(Op::Compare(Compare::Ne, a, b)) => self.learn_compared(a, b, number == 0),
                Some(Op::Binary(Binary::And, a, b)) if number == 1 => learned.extend([(a, 1), (b, 1)]),
                Some(Op::Binary(Binary::Or, a, b)) if number == 0 => learned.extend([(a, 0), (b, 0)]),
                Some(Op::Select(a, b, none)) if number == 1 && known(none) == Some(0) => {
                    learned.extend([(a, 1), (b, 1)]);
                }
                Some(Op::Select(a, all, b)) if number == 0 && known(all) == Some(1) => {
                    learned.extend([(a, 0), (b, 0)]);
                }
                _ => {}
            }
        }
    }

    /// A value is none of some numbers.
    pub(super) fn exclude(&mut self, operand: &Operand, numbers: impl IntoIterator<Item = u128>) {
        let Operand::Value(value) = operand else { return };
        match self.0.entry(*value).or_insert_with(|| Fact::IsNot(BTreeSet::new())) {
            Fact::Is(_) => {}
            Fact::IsNot(excluded) => excluded.extend(numbers),
        }
    }

    /// Whether a value is known not to be a number.
    pub(super) fn excludes(&self, operand: &Operand, number: u128) -> bool {
        match operand {
            Operand::Value(value) => {
                matches!(self.0.get(value), Some(Fact::IsNot(numbers)) if numbers.contains(&number))
            }
            Operand::Const(_) => false,
        }
    }

    /// Two values are equal or not.
    fn learn_compared(&mut self, a: &Operand, b: &Operand, equal: bool) {
        for (value, other) in [(a, b), (b, a)] {
            let (Operand::Value(id), Some(number)) = (value, self.number(other)) else { continue };
            if equal {
                self.0.insert(*id, Fact::Is(number));
            } else {
                self.exclude(value, [number]);
            }
        }
    }

    /// The number that an instruction gives.
    fn result(&self, instruction: &Instruction, body: &Body) -> Option<u128> {
        let constant = |operand: &Operand| match (self.number(operand)?, body.type_of(operand)) {
            (number, Type::Int(bits)) => Some(Const::int(bits, number)),
            (0, Type::Ptr) => Some(Const::Null),
            _ => None,
        };
        let folded = match &instruction.op {
            Op::Binary(Binary::And, a, b) if [a, b].into_iter().any(|o| self.number(o) == Some(0)) => {
                return Some(0);
            }
            Op::Binary(operation, a, b) => fold::binary(*operation, constant(a)?, constant(b)?),
            Op::Cast(cast, from) => fold::cast(*cast, constant(from)?, &instruction.ty),
            Op::Compare(comparison, a, b) => return self.comparison(*comparison, a, b, body),
            Op::Select(condition, then, other) => {
                return self.number(if self.number(condition)? == 0 { other } else { then });
            }
            Op::Freeze(same) => return self.number(same),
            _ => return None,
        };
        self.number(&Operand::Const(folded.ok()?))
    }

    /// What a comparison gives.
    fn comparison(&self, comparison: Compare, a: &Operand, b: &Operand, body: &Body) -> Option<u128> {
        if let (Some(left), Some(right)) = (self.number(a), self.number(b)) {
            let bits = u32::try_from(body.type_of(a).bits()).ok()?;
            return Some(u128::from(holds(comparison, bits, left, right)));
        }
        let excluded = |value, other| self.number(other).is_some_and(|number| self.excludes(value, number));
        match comparison {
            Compare::Eq if excluded(a, b) || excluded(b, a) => Some(0),
            Compare::Ne if excluded(a, b) || excluded(b, a) => Some(1),
            _ => None,
        }
    }
}

/// The integer or null pointer that an instruction with constant operands gives.
pub(super) fn folded(instruction: &Instruction, body: &Body) -> Option<Const> {
    match (Facts::default().result(instruction, body)?, &instruction.ty) {
        (number, Type::Int(bits)) => Some(Const::int(*bits, number)),
        (0, Type::Ptr) => Some(Const::Null),
        _ => None,
    }
}

/// Whether a comparison of known integers of so many bits holds.
fn holds(comparison: Compare, bits: u32, a: u128, b: u128) -> bool {
    let signed = |number: u128| (number << (128 - bits)) as i128;
    match comparison {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Ugt => a > b,
        Compare::Uge => a >= b,
        Compare::Ult => a < b,
        Compare::Ule => a <= b,
        Compare::Sgt => signed(a) > signed(b),
        Compare::Sge => signed(a) >= signed(b),
        Compare::Slt => signed(a) < signed(b),
        Compare::Sle => signed(a) <= signed(b),
    }
}
