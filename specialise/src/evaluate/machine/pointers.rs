//! Pointers with a known object and an unknown value.

use super::Machine;
use super::operands::Leak;
use crate::evaluate::facts::Facts;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Const, Op, Operand, Type, ValueId};

impl Machine<'_> {
    /// Records that a residual pointer points into an object.
    pub fn points_into(&mut self, pointer: ValueId, object: ObjectId) {
        self.pointees.insert(pointer, object);
    }

    /// The allocated object with this address on all paths; the address may be null.
    pub fn allocated_at(&self, value: ValueId) -> Option<ObjectId> {
        let operand = Operand::Value(value);
        let found = self.bases.iter().find(|(_, base)| **base == operand).map(|(object, _)| *object);
        found.filter(|object| self.objects.origin(*object).allocated)
    }

    /// The object into which a pointer is known to point.
    pub fn pointee(&self, value: &Value) -> Option<ObjectId> {
        match value {
            Value::Pointer(object, _) => Some(*object),
            Value::Dynamic(value) => self.pointees.get(value).copied(),
            _ => None,
        }
    }

    /// A residual pointer, recorded with its object if that is known.
    fn pointing(&mut self, operand: Operand, object: Option<ObjectId>) -> Value {
        if let (Operand::Value(value), Some(object)) = (&operand, object) {
            self.pointees.insert(*value, object);
        }
        self.known_or_dynamic(operand)
    }

    /// The object into which all these pointers point, apart from null; `None` if there are several.
    pub fn one_object(&self, values: &[Value]) -> Option<ObjectId> {
        let mut found = None;
        for value in values {
            if matches!(value, Value::Const(Const::Null | Const::Undef(_))) {
                continue;
            }
            let object = match value {
                Value::Address(..) => return None,
                _ => self.pointee(value)?,
            };
            if found.is_some_and(|other| other != object) {
                return None;
            }
            found = Some(object);
        }
        found
    }

    /// An address: a base plus known bytes and unknown indices.
    pub fn address(
        &mut self,
        facts: &mut Facts,
        base: Value,
        offset: i64,
        indices: Vec<(Value, Type, i64)>,
    ) -> Result<Value, Stop> {
        if indices.is_empty() {
            return Ok(match base {
                Value::Pointer(object, at) => Value::Pointer(object, at.wrapping_add(offset)),
                Value::Const(Const::Null) if offset == 0 => base,
                Value::Const(Const::Undef(_)) => base,
                _ => {
                    let pointee = self.pointee(&base);
                    let operand = self.operand(facts, &base, &Type::Ptr, Leak::No)?;
                    let operand = self.residual.address(facts.block, operand, offset);
                    self.pointing(operand, pointee)
                }
            });
        }
        let pointee = self.pointee(&base);
        if let Some(object) = pointee {
            self.materialise(facts, object)?;
        }
        let base = self.operand(facts, &base, &Type::Ptr, Leak::No)?;
        let mut terms = Vec::new();
        for (value, ty, scale) in indices {
            terms.push((self.operand(facts, &value, &ty, Leak::Yes)?, scale));
        }
        let value = self.emit(facts, Type::Ptr, Op::Address { base, offset, terms });
        Ok(self.pointing(Operand::Value(value), pointee))
    }

    /// A choice between two values.
    pub fn select(
        &mut self,
        facts: &mut Facts,
        condition: Value,
        yes: Value,
        no: Value,
        ty: &Type,
    ) -> Result<Value, Stop> {
        if let Some(known) = condition.known_int() {
            return Ok(if known != 0 { yes } else { no });
        }
        if yes == no {
            return Ok(yes);
        }
        if yes == Value::bool(true) && no == Value::bool(false) {
            return Ok(condition);
        }
        let together = self.one_object(&[yes.clone(), no.clone()]);
        let leak = if let Some(object) = together {
            self.materialise(facts, object)?;
            Leak::No
        } else {
            Leak::Yes
        };
        if together.is_none() {
            for value in [&yes, &no] {
                if let Some(object) = self.pointee(value) {
                    self.escape(facts, object)?;
                }
            }
        }
        let condition = self.operand(facts, &condition, &Type::Int(1), Leak::No)?;
        let yes = self.operand(facts, &yes, ty, leak)?;
        let no = self.operand(facts, &no, ty, leak)?;
        let value = self.emit(facts, ty.clone(), Op::Select(condition, yes, no));
        if let Some(object) = together {
            self.pointees.insert(value, object);
        }
        Ok(Value::Dynamic(value))
    }
}
