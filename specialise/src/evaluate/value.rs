//! Abstract values, in the order of decreasing knowledge:
//!
//! * undefined: any value will do;
//! * known: a constant, or an address, which is an object and a distance from its start;
//! * an aggregate of such values;
//! * dynamic: a value of the residual program.
//!
//! Where paths are merged, values that agree are kept; others become dynamic, that is, phis. Binding times follow from
//! this: a computation on known values gives a known (static) value.

use crate::ir::{Const, Type, ValueId};
use std::rc::Rc;

/// Memory that the evaluator follows: a local or global variable, the target of an argument, or allocated memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct ObjectId(pub u32);

/// An abstract value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    /// A constant; `Undef` is undefined.
    Const(Const),
    /// A pointer at an offset from the start of an object.
    Pointer(ObjectId, i64),
    /// Such a pointer as a 64-bit integer.
    Address(ObjectId, i64),
    /// A value of the residual program.
    Dynamic(ValueId),
    /// A structure as a value.
    Aggregate(Rc<[Value]>),
}

impl Value {
    pub fn int(bits: u32, value: u128) -> Value {
        Value::Const(Const::int(bits, value))
    }

    pub fn bool(value: bool) -> Value {
        Value::int(1, u128::from(value))
    }

    pub fn undef(ty: &Type) -> Value {
        Value::Const(Const::Undef(ty.clone()))
    }

    pub fn is_undef(&self) -> bool {
        matches!(self, Value::Const(Const::Undef(_)))
    }

    /// The value of a known integer, zero-extended.
    pub fn known_int(&self) -> Option<u128> {
        match self {
            Value::Const(Const::Int { value, .. }) => Some(*value),
            Value::Const(Const::Zero(Type::Int(_)) | Const::Undef(Type::Int(_))) => Some(0),
            _ => None,
        }
    }

    /// Whether it is known to be zero or null.
    pub fn is_zero(&self) -> bool {
        matches!(self, Value::Const(Const::Null)) || self.known_int() == Some(0)
    }

    /// Whether the value is known without the residual program.
    pub fn is_static(&self) -> bool {
        match self {
            Value::Dynamic(_) => false,
            Value::Aggregate(fields) => fields.iter().all(Value::is_static),
            _ => true,
        }
    }

    /// The object into which it points, at any offset.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Value::Pointer(object, _) | Value::Address(object, _) => Some(*object),
            _ => None,
        }
    }

    /// One byte of the value as it lies in memory, if known.
    pub fn known_byte(&self, byte: u32) -> Option<u8> {
        let bits = match self {
            Value::Const(Const::Int { value, .. }) => *value,
            Value::Const(Const::Float(bits)) => u128::from(*bits),
            Value::Const(Const::Double(bits)) => u128::from(*bits),
            Value::Const(Const::Null | Const::Undef(_) | Const::Zero(_)) => 0,
            _ => return None,
        };
        Some(if byte < 16 { (bits >> (byte * 8)) as u8 } else { 0 })
    }
}
