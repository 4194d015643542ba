//! Arithmetic, comparisons and conversions of partly known values.

use super::Machine;
use super::operands::Leak;
use crate::evaluate::arithmetic;
use crate::evaluate::facts::Facts;
use crate::evaluate::objects::Objects;
use crate::evaluate::residual::Residual;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Binary, Cast, Compare, Const, Op, Operand, Type, ValueId};

impl Machine<'_> {
    /// Arithmetic on operands of a type, which is the result's type too.
    pub fn binary(
        &mut self,
        facts: &mut Facts,
        op: Binary,
        a: Value,
        b: Value,
        ty: &Type,
    ) -> Result<Value, Stop> {
        if let (Value::Const(a), Value::Const(b)) = (&a, &b)
            && matches!(ty, Type::Float | Type::Double)
            && let Some(result) = arithmetic::float_binary(op, a, b)
        {
            return Ok(Value::Const(result));
        }
        if let Type::Int(bits) = *ty {
            if let (Some(x), Some(y)) = (a.known_int(), b.known_int()) {
                return Ok(arithmetic::binary(op, bits, x, y)
                    .map_or_else(|| Value::undef(ty), |v| Value::int(bits, v)));
            }
            if let Some(result) = identity(op, bits, &a, &b) {
                return Ok(result);
            }
            if let Some(result) = address_arithmetic(op, &a, &b, self.objects) {
                return Ok(result);
            }
            if let Some((base, offset)) = sum(op, bits, &a, &b, &self.residual) {
                let operand = Operand::Const(Const::int(bits, offset));
                let op = Op::Binary(Binary::Add, Operand::Value(base), operand);
                return Ok(if offset == 0 {
                    Value::Dynamic(base)
                } else {
                    Value::Dynamic(self.emit(facts, ty.clone(), op))
                });
            }
        }
        let a = self.operand(facts, &a, ty, Leak::Yes)?;
        let b = self.operand(facts, &b, ty, Leak::Yes)?;
        Ok(Value::Dynamic(self.emit(facts, ty.clone(), Op::Binary(op, a, b))))
    }

    /// A comparison of integers or pointers of a type.
    pub fn compare(
        &mut self,
        facts: &mut Facts,
        op: Compare,
        a: Value,
        b: Value,
        ty: &Type,
    ) -> Result<Value, Stop> {
        // A known operand goes to the right, where `refine` looks for it.
        if a.is_static() && !b.is_static() {
            return self.compare(facts, op.swapped(), b, a, ty);
        }
        if let (Some(x), Some(y), Type::Int(bits)) = (a.known_int(), b.known_int(), ty) {
            return Ok(Value::bool(op.holds(*bits, x, y)));
        }
        if let Some(ordering) = self.compare_addresses(facts, &a, &b) {
            let holds = match op {
                Compare::Eq => ordering.is_eq(),
                Compare::Ne => ordering.is_ne(),
                Compare::Ugt | Compare::Sgt => ordering.is_gt(),
                Compare::Uge | Compare::Sge => ordering.is_ge(),
                Compare::Ult | Compare::Slt => ordering.is_lt(),
                Compare::Ule | Compare::Sle => ordering.is_le(),
            };
            let same = a.object().is_some() && a.object() == b.object();
            if same || a == b || matches!(op, Compare::Eq | Compare::Ne) {
                return Ok(Value::bool(holds));
            }
        }
        if let (Value::Dynamic(value), Compare::Eq | Compare::Ne) = (&a, op)
            && b.is_zero()
            && facts.not_zero.contains(value)
        {
            return Ok(Value::bool(op == Compare::Ne));
        }
        if let Type::Int(bits) = *ty
            && let Some(result) = out_of_range(op, bits, &a, &b)
        {
            return Ok(Value::bool(result));
        }
        let mut operands = Vec::new();
        for value in [&a, &b] {
            operands.push(self.operand(facts, value, ty, Leak::No)?);
        }
        let [x, y] = [operands[0].clone(), operands[1].clone()];
        Ok(Value::Dynamic(self.emit(facts, Type::Int(1), Op::Compare(op, x, y))))
    }

    /// The order of two addresses, if known. If it is only known that they differ, the result is any order other than
    /// equal.
    fn compare_addresses(&mut self, facts: &Facts, a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
        use std::cmp::Ordering;
        if a == b && !a.is_undef() {
            return Some(Ordering::Equal);
        }
        match (a, b) {
            (Value::Pointer(x, i) | Value::Address(x, i), Value::Pointer(y, j) | Value::Address(y, j)) => {
                if x == y {
                    return Some(i.cmp(j));
                }
                // An unaliased argument may still equal another pointer, as long as nothing is written there.
                let apart = |object| !self.objects.is_argument(object) && !self.may_be_null(facts, object);
                (!self.objects.may_overlap(*x, *y) && apart(*x) && apart(*y)).then_some(Ordering::Less)
            }
            (Value::Pointer(x, _) | Value::Address(x, _), other) => self.differs(facts, *x, other),
            (other, Value::Pointer(x, _) | Value::Address(x, _)) => self.differs(facts, *x, other),
            // A replaceable function may be replaced by an alias of the other one.
            (Value::Const(Const::Function(f)), Value::Const(Const::Function(g)))
                if f != g && !self.program.is_replaceable(*f) && !self.program.is_replaceable(*g) =>
            {
                Some(Ordering::Less)
            }
            (Value::Const(Const::Function(f)), other) | (other, Value::Const(Const::Function(f)))
                if other.is_zero() && !self.program.may_be_missing(*f) =>
            {
                Some(Ordering::Less)
            }
            _ => None,
        }
    }

    fn differs(&mut self, facts: &Facts, object: ObjectId, other: &Value) -> Option<std::cmp::Ordering> {
        let apart = match other {
            _ if other.is_zero() => !self.may_be_null(facts, object),
            Value::Const(Const::Function(_)) => !self.may_be_null(facts, object),
            // A pointer of other origin can't point to an object whose address has never escaped.
            Value::Dynamic(_) => {
                let known = self.pointee(other);
                let private = facts.memory.get(object).is_some_and(|contents| !contents.escaped);
                private
                    && known != Some(object)
                    && !self.may_be_null(facts, object)
                    && self.objects.is_local(object)
            }
            _ => false,
        };
        apart.then_some(std::cmp::Ordering::Less)
    }

    /// A conversion.
    pub fn cast(&mut self, facts: &mut Facts, op: Cast, value: Value, ty: &Type) -> Result<Value, Stop> {
        if value.is_undef() {
            return Ok(Value::undef(ty));
        }
        match (&value, op) {
            (Value::Const(constant), _) => {
                if let Some(result) = arithmetic::cast(op, constant, ty) {
                    return Ok(self.constant(&result));
                }
            }
            (Value::Pointer(object, offset), Cast::PtrToInt) if *ty == Type::WORD => {
                return Ok(Value::Address(*object, *offset));
            }
            (Value::Address(object, offset), Cast::IntToPtr) => return Ok(Value::Pointer(*object, *offset)),
            _ => {}
        }
        let from = self.type_of(&value);
        if from == *ty {
            return Ok(value);
        }
        if let Value::Dynamic(residual) = &value
            && op == Cast::Trunc
            && let Some(Op::Cast(Cast::ZExt | Cast::SExt, Operand::Value(inner))) =
                self.residual.definition(*residual)
            && self.residual.type_of(*inner) == ty
        {
            return Ok(Value::Dynamic(*inner));
        }
        if let Value::Dynamic(_) = value
            && op == Cast::PtrToInt
            && let Some(object) = self.pointee(&value)
        {
            self.escape(facts, object)?;
        }
        let operand = self.operand(facts, &value, &from, Leak::Yes)?;
        Ok(Value::Dynamic(self.emit(facts, ty.clone(), Op::Cast(op, operand))))
    }
}

/// The result, if one operand alone determines it.
fn identity(op: Binary, bits: u32, a: &Value, b: &Value) -> Option<Value> {
    let ones = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
    let zero = Value::int(bits, 0);
    match (op, a.known_int(), b.known_int()) {
        (Binary::Add | Binary::Or | Binary::Xor, Some(0), _) => Some(b.clone()),
        (Binary::Add | Binary::Or | Binary::Xor | Binary::Sub, _, Some(0)) => Some(a.clone()),
        (Binary::Shl | Binary::LShr | Binary::AShr, _, Some(0)) => Some(a.clone()),
        (Binary::Mul | Binary::UDiv | Binary::SDiv, _, Some(1)) => Some(a.clone()),
        (Binary::Mul, Some(1), _) => Some(b.clone()),
        (Binary::And, Some(x), _) if x == ones => Some(b.clone()),
        (Binary::And, _, Some(y)) if y == ones => Some(a.clone()),
        (Binary::And | Binary::Mul, Some(0), _) | (Binary::And | Binary::Mul, _, Some(0)) => Some(zero),
        (Binary::Or, Some(x), _) if x == ones => Some(a.clone()),
        (Binary::Or, _, Some(y)) if y == ones => Some(b.clone()),
        _ if a == b && matches!(op, Binary::Sub | Binary::Xor) => Some(zero),
        _ if a == b && matches!(op, Binary::And | Binary::Or) => Some(a.clone()),
        _ => None,
    }
}

/// Arithmetic on known addresses, if the result is known.
fn address_arithmetic(op: Binary, a: &Value, b: &Value, objects: &Objects) -> Option<Value> {
    match (op, a, b) {
        (Binary::Add, Value::Address(object, offset), other)
        | (Binary::Add, other, Value::Address(object, offset)) => {
            Some(Value::Address(*object, offset.wrapping_add(other.known_int()? as i64)))
        }
        (Binary::Sub, Value::Address(a, x), Value::Address(b, y)) if a == b => {
            Some(Value::int(64, x.wrapping_sub(*y) as u128))
        }
        (Binary::Sub, Value::Address(object, offset), other) => {
            Some(Value::Address(*object, offset.wrapping_sub(other.known_int()? as i64)))
        }
        (Binary::And, Value::Address(object, offset), other) => {
            let mask = other.known_int()? as u64;
            let align = objects.origin(*object).align;
            let low = *offset as u64 & (align - 1);
            if mask < align {
                return Some(Value::int(64, u128::from(low & mask)));
            }
            // Rounding down to a multiple of an alignment.
            let kept = mask | (mask.wrapping_neg() & mask).wrapping_sub(1);
            (kept == u64::MAX && mask.wrapping_neg() <= align)
                .then(|| Value::Address(*object, offset & mask as i64))
        }
        _ => None,
    }
}

/// The result as `base + constant`, if a sum or difference is one, possibly of an earlier sum.
fn sum(op: Binary, bits: u32, a: &Value, b: &Value, residual: &Residual) -> Option<(ValueId, u128)> {
    let (value, constant) = match (op, a, b) {
        (Binary::Add, Value::Dynamic(value), other) | (Binary::Add, other, Value::Dynamic(value)) => {
            (*value, other.known_int()?)
        }
        (Binary::Sub, Value::Dynamic(value), other) => (*value, other.known_int()?.wrapping_neg()),
        _ => return None,
    };
    let cut = |value: u128| match Const::int(bits, value) {
        Const::Int { value, .. } => value,
        _ => value,
    };
    match residual.definition(value) {
        Some(Op::Binary(Binary::Add, Operand::Value(base), Operand::Const(Const::Int { value, .. }))) => {
            Some((*base, cut(value.wrapping_add(constant))))
        }
        _ => Some((value, cut(constant))),
    }
}

/// The result of a comparison with the least or the greatest value of the type, if that alone determines it.
fn out_of_range(op: Compare, bits: u32, a: &Value, b: &Value) -> Option<bool> {
    let ones = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
    let (least, greatest) = (1 << (bits - 1), ones >> 1);
    match (op, a.known_int(), b.known_int()) {
        _ if a == b => {
            Some(matches!(op, Compare::Eq | Compare::Uge | Compare::Ule | Compare::Sge | Compare::Sle))
        }
        (Compare::Ugt, Some(0), _) | (Compare::Ult, _, Some(0)) => Some(false),
        (Compare::Ule, Some(0), _) | (Compare::Uge, _, Some(0)) => Some(true),
        (Compare::Ult, Some(x), _) | (Compare::Ugt, _, Some(x)) if x == ones => Some(false),
        (Compare::Uge, Some(x), _) | (Compare::Ule, _, Some(x)) if x == ones => Some(true),
        (Compare::Slt, Some(x), _) | (Compare::Sgt, _, Some(x)) if x == greatest => Some(false),
        (Compare::Sge, Some(x), _) | (Compare::Sle, _, Some(x)) if x == greatest => Some(true),
        (Compare::Sgt, Some(x), _) | (Compare::Slt, _, Some(x)) if x == least => Some(false),
        (Compare::Sle, Some(x), _) | (Compare::Sge, _, Some(x)) if x == least => Some(true),
        _ => None,
    }
}
