//! One instruction after the other: what is known is computed, the rest becomes an instruction of the residual program.

use super::arithmetic;
use super::evaluator::{Evaluator, Stop};
use super::operands::Leak;
use super::state::State;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Const, Instruction, Op, Operand, Type, ValueId, signed};

/// A path that has parted so often does not part at a choice any more.
const MOST_PARTED: u32 = 10_000;

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
                if let Value::Dynamic(unknown) = condition
                    && self.leads_on(state, instruction, &yes, &no)
                {
                    return Err(self.part_here(state, unknown));
                }
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
        let mut op = instruction.op.clone();
        for operand in op.operands_mut() {
            let ty = body.type_of(operand);
            let value = self.value(state, operand);
            if let Some(object) = self.pointee(&value) {
                self.escape(state, object)?;
            }
            *operand = self.operand(state, &value, &ty, Leak::Yes)?;
        }
        if instruction.result.is_none() {
            self.effect(state, op);
            return Ok(Value::undef(&Type::Int(1)));
        }
        Ok(Value::Dynamic(self.emit(state, instruction.ty.clone(), op)))
    }

    /// Whether it pays to know which of two known values is chosen, because an address or a branch follows from it.
    fn leads_on(&mut self, state: &mut State, instruction: &Instruction, yes: &Value, no: &Value) -> bool {
        let known = yes.is_static() && no.is_static() && yes != no && !yes.is_undef() && !no.is_undef();
        if !known || state.branches >= MOST_PARTED {
            return false;
        }
        let frame = state.top();
        let body = frame.body.clone();
        instruction.result.is_some_and(|result| frame.flow.steers(&body, result))
    }

    /// One of two values.
    pub fn select(
        &mut self,
        state: &mut State,
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

    fn address(
        &mut self,
        state: &mut State,
        base: &Operand,
        offset: i64,
        terms: &[(Operand, i64)],
    ) -> Result<Value, Stop> {
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
                    let index = signed(bits, known) as i64;
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

    fn insert(
        &mut self,
        state: &mut State,
        whole: &Value,
        field: Value,
        path: &[u32],
        ty: &Type,
    ) -> Result<Value, Stop> {
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

/// Whether an instruction touches memory, so that it is "eliminated" rather than computed when nothing is left of it.
pub(super) fn touches_memory(op: &Op) -> bool {
    matches!(op, Op::Load { access: Access::Plain, .. } | Op::Store { .. } | Op::Alloca { .. })
}
