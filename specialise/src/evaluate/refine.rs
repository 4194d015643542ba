//! Refinement: facts about values that follow from a condition that holds or does not hold.

use super::machine::Machine;
use super::state::State;
use super::value::{ObjectId, Value};
use crate::ir::{Binary, Cast, Compare, Const, Op, Operand, Type, ValueId};
use std::rc::Rc;

impl State {
    /// Adds the facts that follow from a condition that holds or does not hold.
    pub fn refine(&mut self, condition: ValueId, holds: bool, machine: &Machine) {
        self.substitute(&Value::Dynamic(condition), &Value::bool(holds));
        match machine.residual.definition(condition) {
            Some(Op::Compare(op @ (Compare::Eq | Compare::Ne), a, Operand::Const(b))) => {
                self.refine_equality(a, b, (*op == Compare::Eq) == holds, machine);
            }
            Some(Op::Binary(Binary::And, a, b)) if holds => self.refine_both([a, b], true, machine),
            Some(Op::Binary(Binary::Or, a, b)) if !holds => self.refine_both([a, b], false, machine),
            Some(Op::Binary(
                Binary::Xor,
                Operand::Value(a),
                Operand::Const(Const::Int { value: 1, bits: 1 }),
            )) => self.refine(*a, !holds, machine),
            _ => {}
        }
    }

    /// Adds the facts that follow if an operand equals a constant, or does not.
    fn refine_equality(&mut self, operand: &Operand, to: &Const, equal: bool, machine: &Machine) {
        let Operand::Value(value) = *operand else { return };
        match (self.allocated_at(value, machine), to) {
            (Some(object), Const::Null) if equal => self.forget_null(object),
            (Some(object), Const::Null) => {
                self.facts.not_null.insert(object);
            }
            (_, Const::Null | Const::Int { .. }) if equal => {
                self.substitute(&Value::Dynamic(value), &Value::Const(to.clone()));
            }
            _ => {}
        }
        let is_zero = match to {
            Const::Null | Const::Int { value: 0, .. } => equal,
            Const::Int { .. } if equal => false,
            _ => return,
        };
        if !is_zero {
            Rc::make_mut(&mut self.facts.not_zero).edit(|values| values.insert(value));
        }
        match machine.residual.definition(value) {
            Some(Op::Cast(Cast::ZExt | Cast::SExt, Operand::Value(bit)))
                if *machine.residual.type_of(*bit) == Type::Int(1) =>
            {
                self.refine(*bit, !is_zero, machine);
            }
            _ => {}
        }
    }

    fn refine_both(&mut self, conditions: [&Operand; 2], hold: bool, machine: &Machine) {
        for condition in conditions {
            if let Operand::Value(value) = condition
                && *machine.residual.type_of(*value) == Type::Int(1)
            {
                self.refine(*value, hold, machine);
            }
        }
    }

    /// The allocated object with this address; the address may be null.
    fn allocated_at(&self, value: ValueId, machine: &Machine) -> Option<ObjectId> {
        let mut objects = self.facts.memory.iter();
        let by_state = objects.find(|(_, contents)| contents.base == Some(value)).map(|(object, _)| object);
        by_state.or_else(|| machine.allocated_at(value))
    }

    /// Replaces a value by another throughout the path.
    pub fn substitute(&mut self, old: &Value, new: &Value) {
        for frame in self.frames.elements() {
            if frame.values.contains(old) {
                Rc::make_mut(&mut frame.values)
                    .elements()
                    .iter_mut()
                    .filter(|value| *value == old)
                    .for_each(|value| *value = new.clone());
            }
        }
        let memory = &mut self.facts.memory;
        let held: Vec<ObjectId> =
            memory.iter().filter(|(_, contents)| contents.holds(old)).map(|(object, _)| object).collect();
        for object in held {
            if let Some(contents) = memory.get_mut(object) {
                contents.substitute(old, new);
            }
        }
    }

    /// Replaces pointers to an allocated object by null, because the allocation turned out to have failed.
    fn forget_null(&mut self, object: ObjectId) {
        let null = Value::Const(Const::Null);
        let replace = |value: &mut Value| {
            if value.object() == Some(object) {
                *value = null.clone();
            }
        };
        for frame in self.frames.elements() {
            if frame.values.iter().any(|value| value.object() == Some(object)) {
                Rc::make_mut(&mut frame.values).elements().iter_mut().for_each(replace);
            }
        }
        let memory = &mut self.facts.memory;
        let holders: Vec<ObjectId> = memory.iter().map(|(holder, _)| holder).collect();
        for holder in holders {
            if let Some(contents) = memory.get_mut(holder) {
                contents.replace_pointers(object, &null);
            }
        }
        memory.remove(object);
    }
}
