//! One instruction after the other: what is known is computed, the rest becomes an instruction of the residual program.

use super::arithmetic;
use super::operands::Leak;
use super::state::State;
use super::value::{ObjectId, Value};
use super::{Evaluator, Stop};
use crate::ir::{Access, Binary, Cast, Compare, Const, Instruction, Op, Operand, Type, ValueId};

impl Evaluator<'_> {
    /// Evaluates the instruction that a path stands at and goes on to the next; calls may enter another function.
    pub fn step(&mut self, state: &mut State, instruction: &Instruction) -> Result<(), Stop> {
        let ty = &instruction.ty;
        let value = match &instruction.op {
            Op::Call { callee, args, attributes, variadic } => {
                return self.call(state, instruction, callee, args, *variadic, attributes);
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (self.value(state, a), self.value(state, b));
                self.binary(state, *op, a, b, ty)?
            }
            Op::Compare(op, a, b) => {
                let operands = (self.value(state, a), self.value(state, b));
                let operand_ty = state.top().body.clone().type_of(a);
                self.compare(state, *op, operands.0, operands.1, &operand_ty)?
            }
            Op::FloatCompare(op, a, b) => match (self.value(state, a), self.value(state, b)) {
                (Value::Const(a), Value::Const(b)) if arithmetic::float_compare(*op, &a, &b).is_some() => {
                    Value::bool(arithmetic::float_compare(*op, &a, &b) == Some(true))
                }
                _ => self.residual_instruction(state, instruction)?,
            },
            Op::FNeg(a) => match self.value(state, a) {
                Value::Const(Const::Double(bits)) => Value::Const(Const::Double(bits ^ (1 << 63))),
                Value::Const(Const::Float(bits)) => Value::Const(Const::Float(bits ^ (1 << 31))),
                _ => self.residual_instruction(state, instruction)?,
            },
            Op::Cast(op, a) => {
                let value = self.value(state, a);
                self.cast(state, *op, value, ty)?
            }
            Op::Freeze(a) => match self.value(state, a) {
                Value::Const(Const::Undef(ty)) => self.constant(&Const::Zero(ty)),
                value if value.is_static() => value,
                _ => self.residual_instruction(state, instruction)?,
            },
            Op::Select(condition, yes, no) => {
                let (condition, yes, no) =
                    (self.value(state, condition), self.value(state, yes), self.value(state, no));
                self.select(state, condition, yes, no, ty)?
            }
            Op::Load { from, align, access } => {
                let from = self.value(state, from);
                self.load(state, &from, ty, *access, *align)?
            }
            Op::Store { value, to, align, access } => {
                let stored = state.top().body.clone().type_of(value);
                let (value, to) = (self.value(state, value), self.value(state, to));
                self.store(state, &to, value, &stored, *access, *align)?;
                state.top().index += 1;
                return Ok(());
            }
            Op::Alloca { size, count, align } => {
                let result = instruction.result.unwrap_or(ValueId(0));
                let count = self.value(state, count);
                self.alloca(state, result, *size, &count, *align)?
            }
            Op::Address { base, offset, terms } => self.address(state, base, *offset, terms)?,
            Op::ExtractValue(aggregate, path) => {
                let mut ty = state.top().body.clone().type_of(aggregate);
                let mut value = self.value(state, aggregate);
                for at in path {
                    let fields = self.fields(state, &value, &ty)?;
                    value = fields[*at as usize].clone();
                    ty = field_type(&ty, *at);
                }
                value
            }
            Op::InsertValue(aggregate, field, path) => {
                let (whole, field) = (self.value(state, aggregate), self.value(state, field));
                self.insert(state, &whole, field, path, ty)?
            }
            Op::Phi(_) => return Err(Stop::Fail("a phi after other instructions".into())),
            Op::AtomicUpdate(..) | Op::CompareExchange(..) | Op::Fence => {
                self.clobber_escaped(state)?;
                let value = self.residual_instruction(state, instruction)?;
                self.clobber_escaped(state)?;
                value
            }
            Op::ExtractElement(..) | Op::InsertElement(..) | Op::Shuffle(..) => {
                self.residual_instruction(state, instruction)?
            }
        };
        if let Some(result) = instruction.result {
            if let Value::Dynamic(residual) = value {
                self.name_like(state, result, residual);
            }
            state.top().set(result, value);
        }
        state.top().index += 1;
        Ok(())
    }

    /// The same instruction in the residual program.
    fn residual_instruction(&mut self, state: &mut State, instruction: &Instruction) -> Result<Value, Stop> {
        let body = state.top().body.clone();
        let mut operands = Vec::new();
        let mut seen = Vec::new();
        super::flow::each_operand(&instruction.op, |operand| seen.push(operand.clone()));
        for operand in &seen {
            let ty = body.type_of(operand);
            let value = self.value(state, operand);
            if let Some(object) = self.pointee(&value) {
                self.escape(state, object)?;
            }
            operands.push(self.operand(state, &value, &ty, Leak::Yes)?);
        }
        let op = with_operands(&instruction.op, operands);
        if instruction.result.is_none() {
            self.effect(state, op);
            return Ok(Value::undef(&Type::Int(1)));
        }
        Ok(Value::Dynamic(self.emit(state, instruction.ty.clone(), op)))
    }

    /// Arithmetic; the type is that of both operands and of the result.
    pub fn binary(&mut self, state: &mut State, op: Binary, a: Value, b: Value, ty: &Type) -> Result<Value, Stop> {
        if let (Value::Const(a), Value::Const(b)) = (&a, &b)
            && matches!(ty, Type::Float | Type::Double)
            && let Some(result) = arithmetic::float_binary(op, a, b)
        {
            return Ok(Value::Const(result));
        }
        if let Type::Int(bits) = *ty {
            if let (Some(x), Some(y)) = (a.known_int(), b.known_int()) {
                return Ok(arithmetic::binary(op, bits, x, y).map_or_else(|| Value::undef(ty), |v| Value::int(bits, v)));
            }
            if let Some(result) = self.identity(op, bits, &a, &b) {
                return Ok(result);
            }
            if let Some(result) = self.address_arithmetic(op, &a, &b) {
                return Ok(result);
            }
            if let Some((base, offset)) = self.sum(op, bits, &a, &b) {
                let operand = Operand::Const(Const::int(bits, offset));
                let op = Op::Binary(Binary::Add, Operand::Value(base), operand);
                return Ok(if offset == 0 { Value::Dynamic(base) } else { Value::Dynamic(self.emit(state, ty.clone(), op)) });
            }
        }
        let a = self.operand(state, &a, ty, Leak::Yes)?;
        let b = self.operand(state, &b, ty, Leak::Yes)?;
        Ok(Value::Dynamic(self.emit(state, ty.clone(), Op::Binary(op, a, b))))
    }

    /// What follows from one operand alone.
    fn identity(&self, op: Binary, bits: u32, a: &Value, b: &Value) -> Option<Value> {
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

    /// Arithmetic on known addresses, as far as it gives something known.
    fn address_arithmetic(&self, op: Binary, a: &Value, b: &Value) -> Option<Value> {
        match (op, a, b) {
            (Binary::Add, Value::Address(object, offset), other) | (Binary::Add, other, Value::Address(object, offset)) => {
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
                let align = self.objects.origin(*object).align;
                let low = *offset as u64 & (align - 1);
                if mask < align {
                    return Some(Value::int(64, u128::from(low & mask)));
                }
                // Rounding down to an alignment.
                let kept = mask | (mask.wrapping_neg() & mask).wrapping_sub(1);
                (kept == u64::MAX && mask.wrapping_neg() <= align).then(|| {
                    Value::Address(*object, offset & mask as i64)
                })
            }
            _ => None,
        }
    }

    /// `base + constant`, if that is what a sum or difference comes to through a sum before it.
    fn sum(&self, op: Binary, bits: u32, a: &Value, b: &Value) -> Option<(ValueId, u128)> {
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
        match self.residual.definition(value) {
            Some(Op::Binary(Binary::Add, Operand::Value(base), Operand::Const(Const::Int { value, .. }))) => {
                Some((*base, cut(value.wrapping_add(constant))))
            }
            _ => Some((value, cut(constant))),
        }
    }

    /// A comparison of integers or pointers of a type.
    pub fn compare(&mut self, state: &mut State, op: Compare, a: Value, b: Value, ty: &Type) -> Result<Value, Stop> {
        if let (Some(x), Some(y), Type::Int(bits)) = (a.known_int(), b.known_int(), ty) {
            return Ok(Value::bool(arithmetic::compare(op, *bits, x, y)));
        }
        if let Some(ordering) = self.compare_addresses(state, &a, &b) {
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
        let mut operands = Vec::new();
        for value in [&a, &b] {
            operands.push(self.operand(state, value, ty, Leak::No)?);
        }
        let [x, y] = [operands[0].clone(), operands[1].clone()];
        Ok(Value::Dynamic(self.emit(state, Type::Int(1), Op::Compare(op, x, y))))
    }

    /// How two addresses stand to each other; where that isn't known but they differ, any order that isn't equality.
    fn compare_addresses(&mut self, state: &State, a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
        use std::cmp::Ordering;
        if a == b && !a.is_undef() {
            return Some(Ordering::Equal);
        }
        let null = |value: &Value| matches!(value, Value::Const(Const::Null)) || value.known_int() == Some(0);
        match (a, b) {
            (Value::Pointer(x, i) | Value::Address(x, i), Value::Pointer(y, j) | Value::Address(y, j)) => {
                if x == y {
                    return Some(i.cmp(j));
                }
                (!self.may_overlap(*x, *y) && !self.may_be_null(state, *x) && !self.may_be_null(state, *y))
                    .then_some(Ordering::Less)
            }
            (Value::Pointer(x, _) | Value::Address(x, _), other) => self.differs(state, *x, other, null(other)),
            (other, Value::Pointer(x, _) | Value::Address(x, _)) => self.differs(state, *x, other, null(other)),
            (Value::Const(Const::Function(f)), Value::Const(Const::Function(g))) if f != g => Some(Ordering::Less),
            (Value::Const(Const::Function(_)), other) | (other, Value::Const(Const::Function(_))) if null(other) => {
                Some(Ordering::Less)
            }
            _ => None,
        }
    }

    fn differs(&mut self, state: &State, object: ObjectId, other: &Value, null: bool) -> Option<std::cmp::Ordering> {
        let apart = match other {
            _ if null => !self.may_be_null(state, object),
            Value::Const(Const::Function(_)) => !self.may_be_null(state, object),
            // A pointer that came from elsewhere can't point to what nobody else knows.
            Value::Dynamic(_) => {
                let known = self.pointee(other);
                let private = state.memory.get(object).is_some_and(|contents| !contents.escaped);
                private && known != Some(object) && !self.may_be_null(state, object) && self.is_local(object)
            }
            _ => false,
        };
        apart.then_some(std::cmp::Ordering::Less)
    }

    /// A conversion.
    pub fn cast(&mut self, state: &mut State, op: Cast, value: Value, ty: &Type) -> Result<Value, Stop> {
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
            && let Some(Op::Cast(Cast::ZExt | Cast::SExt, Operand::Value(inner))) = self.residual.definition(*residual)
            && self.residual.type_of(*inner) == ty
        {
            return Ok(Value::Dynamic(*inner));
        }
        if let Value::Dynamic(_) = value
            && op == Cast::PtrToInt
            && let Some(object) = self.pointee(&value)
        {
            self.escape(state, object)?;
        }
        let operand = self.operand(state, &value, &from, Leak::Yes)?;
        Ok(Value::Dynamic(self.emit(state, ty.clone(), Op::Cast(op, operand))))
    }

    /// One of two values.
    pub fn select(&mut self, state: &mut State, condition: Value, yes: Value, no: Value, ty: &Type) -> Result<Value, Stop> {
        if let Some(known) = condition.known_int() {
            return Ok(if known != 0 { yes } else { no });
        }
        if yes == no {
            return Ok(yes);
        }
        let together = self.one_object(&[yes.clone(), no.clone()]);
        let leak = if let Some(object) = together {
            self.materialise(state, object)?;
            Leak::No
        } else {
            Leak::Yes
        };
        if together.is_none() {
            for value in [&yes, &no] {
                if let Some(object) = self.pointee(value) {
                    self.escape(state, object)?;
                }
            }
        }
        let condition = self.operand(state, &condition, &Type::Int(1), Leak::No)?;
        let yes = self.operand(state, &yes, ty, leak)?;
        let no = self.operand(state, &no, ty, leak)?;
        let value = self.emit(state, ty.clone(), Op::Select(condition, yes, no));
        if let Some(object) = together {
            self.pointees.insert(value, object);
        }
        Ok(Value::Dynamic(value))
    }

    /// The object that all of some pointers point into, null aside; none if there are several.
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

    fn address(&mut self, state: &mut State, base: &Operand, offset: i64, terms: &[(Operand, i64)]) -> Result<Value, Stop> {
        let base = self.value(state, base);
        let body = state.top().body.clone();
        let mut offset = offset;
        let mut left = Vec::new();
        for (index, scale) in terms {
            let Type::Int(bits) = body.type_of(index) else {
                return Err(Stop::Fail("an index that is no integer".into()));
            };
            let value = self.value(state, index);
            match value.known_int() {
                Some(known) => {
                    let index = arithmetic::signed(bits, known) as i64;
                    offset = offset.wrapping_add(index.wrapping_mul(*scale));
                }
                None => left.push((value, body.type_of(index), *scale)),
            }
        }
        if left.is_empty() {
            return Ok(match base {
                Value::Pointer(object, at) => Value::Pointer(object, at.wrapping_add(offset)),
                Value::Const(Const::Null) if offset == 0 => base,
                Value::Const(Const::Undef(_)) => base,
                _ => {
                    let pointee = self.pointee(&base);
                    let operand = self.operand(state, &base, &Type::Ptr, Leak::No)?;
                    let operand = self.residual.address(state.block, operand, offset, self.place);
                    self.pointing(operand, pointee)
                }
            });
        }
        let pointee = self.pointee(&base);
        if let Some(object) = pointee {
            self.materialise(state, object)?;
        }
        let base = self.operand(state, &base, &Type::Ptr, Leak::No)?;
        let mut terms = Vec::new();
        for (value, ty, scale) in left {
            terms.push((self.operand(state, &value, &ty, Leak::Yes)?, scale));
        }
        let value = self.emit(state, Type::Ptr, Op::Address { base, offset, terms });
        Ok(self.pointing(Operand::Value(value), pointee))
    }

    /// A residual pointer with the object that it points into, if that is known.
    pub fn pointing(&mut self, operand: Operand, object: Option<ObjectId>) -> Value {
        if let (Operand::Value(value), Some(object)) = (&operand, object) {
            self.pointees.insert(*value, object);
        }
        self.known_or_dynamic(operand)
    }

    fn insert(&mut self, state: &mut State, whole: &Value, field: Value, path: &[u32], ty: &Type) -> Result<Value, Stop> {
        let Some((at, rest)) = path.split_first() else { return Ok(field) };
        let mut fields = self.fields(state, whole, ty)?.to_vec();
        let inner = fields[*at as usize].clone();
        fields[*at as usize] = self.insert(state, &inner, field, rest, &field_type(ty, *at))?;
        Ok(Value::Aggregate(fields.into()))
    }
}

fn field_type(ty: &Type, at: u32) -> Type {
    match ty {
        Type::Struct { fields, .. } => fields[at as usize].clone(),
        Type::Array(_, element) => (**element).clone(),
        _ => Type::Void,
    }
}

/// The same operation on other operands, in the order in which `each_operand` gives them.
fn with_operands(op: &Op, operands: Vec<Operand>) -> Op {
    let mut operands = operands.into_iter();
    let mut next = || operands.next().unwrap_or(Operand::Const(Const::Null));
    match op {
        Op::Binary(op, ..) => Op::Binary(*op, next(), next()),
        Op::FNeg(_) => Op::FNeg(next()),
        Op::Compare(op, ..) => Op::Compare(*op, next(), next()),
        Op::FloatCompare(op, ..) => Op::FloatCompare(*op, next(), next()),
        Op::Cast(op, _) => Op::Cast(*op, next()),
        Op::Select(..) => Op::Select(next(), next(), next()),
        Op::Freeze(_) => Op::Freeze(next()),
        Op::ExtractElement(..) => Op::ExtractElement(next(), next()),
        Op::InsertElement(..) => Op::InsertElement(next(), next(), next()),
        Op::Shuffle(_, _, order) => Op::Shuffle(next(), next(), order.clone()),
        Op::AtomicUpdate(name, ..) => Op::AtomicUpdate(name.clone(), next(), next()),
        Op::CompareExchange(..) => Op::CompareExchange(next(), next(), next()),
        other => other.clone(),
    }
}

/// Whether an instruction touches memory, so that it is "eliminated" rather than computed when nothing is left of it.
pub(super) fn touches_memory(op: &Op) -> bool {
    matches!(op, Op::Load { access: Access::Plain, .. } | Op::Store { .. } | Op::Alloca { .. })
}
