//! Evaluates one instruction of a path: fetches its operands from the frame, and calls the `Machine`.

use super::arithmetic;
use super::evaluator::Evaluator;
use super::machine::operands::{Leak, field_type};
use super::objects::Identity;
use super::state::State;
use super::stop::Stop;
use super::value::Value;
use crate::ir::{Const, Instruction, Op, Operand, Type, ValueId, signed};

/// The number of unknown branches after which a path is no longer split at a choice.
const MOST_PARTED: u32 = 10_000;

impl Evaluator<'_> {
    /// Evaluates the current instruction of a path, and goes on to the next. A call may enter another function.
    pub fn step(&mut self, state: &mut State, instruction: &Instruction) -> Result<(), Stop> {
        let ty = &instruction.ty;
        let value = match &instruction.op {
            Op::Call { callee, args, attributes, variadic } => {
                return self.call(state, instruction, callee, args, *variadic, attributes);
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (self.value(state, a), self.value(state, b));
                self.machine.binary(&mut state.facts, *op, a, b, ty)?
            }
            Op::Compare(op, a, b) => {
                let operands = (self.value(state, a), self.value(state, b));
                let operand_ty = state.top().body.clone().type_of(a);
                self.machine.compare(&mut state.facts, *op, operands.0, operands.1, &operand_ty)?
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
                self.machine.cast(&mut state.facts, *op, value, ty)?
            }
            Op::Freeze(a) => match self.value(state, a) {
                Value::Const(Const::Undef(ty)) => self.machine.constant(&Const::Zero(ty)),
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
                self.machine.select(&mut state.facts, condition, yes, no, ty)?
            }
            Op::Load { from, align, access } => {
                let from = self.value(state, from);
                self.machine.load(&mut state.facts, &from, ty, *access, *align)?
            }
            Op::Store { value, to, align, access } => {
                let stored = state.top().body.clone().type_of(value);
                let (value, to) = (self.value(state, value), self.value(state, to));
                self.machine.store(&mut state.facts, &to, value, &stored, *access, *align)?;
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
                    let fields = self.machine.fields(&mut state.facts, &value, &ty)?;
                    value = fields[*at as usize].clone();
                    ty = field_type(&ty, *at);
                }
                value
            }
            Op::InsertValue(aggregate, field, path) => {
                let (whole, field) = (self.value(state, aggregate), self.value(state, field));
                self.machine.insert(&mut state.facts, &whole, field, path, ty)?
            }
            Op::Phi(_) => return Err(Stop::Fail("a phi after other instructions".into())),
            Op::AtomicUpdate(..) | Op::CompareExchange(..) | Op::Fence => {
                self.machine.clobber_escaped(&mut state.facts)?;
                let value = self.residual_instruction(state, instruction)?;
                self.machine.clobber_escaped(&mut state.facts)?;
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

    /// Whether it pays to split a path in order to know which of two known values is chosen: an address or a branch
    /// depends on it.
    fn leads_on(&mut self, state: &mut State, instruction: &Instruction, yes: &Value, no: &Value) -> bool {
        let known = yes.is_static() && no.is_static() && yes != no && !yes.is_undef() && !no.is_undef();
        if !known || state.branches >= MOST_PARTED {
            return false;
        }
        let frame = state.top();
        let body = frame.body.clone();
        instruction.result.is_some_and(|result| frame.flow.steers(&body, result))
    }

    /// Adds the same instruction to the residual program.
    fn residual_instruction(&mut self, state: &mut State, instruction: &Instruction) -> Result<Value, Stop> {
        let body = state.top().body.clone();
        let mut op = instruction.op.clone();
        for operand in op.operands_mut() {
            let ty = body.type_of(operand);
            let value = self.value(state, operand);
            if let Some(object) = self.machine.pointee(&value) {
                self.machine.escape(&mut state.facts, object)?;
            }
            *operand = self.machine.operand(&mut state.facts, &value, &ty, Leak::Yes)?;
        }
        if instruction.result.is_none() {
            self.machine.effect(&state.facts, op);
            return Ok(Value::undef(&Type::Int(1)));
        }
        Ok(Value::Dynamic(self.machine.emit(&state.facts, instruction.ty.clone(), op)))
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
        self.machine.address(&mut state.facts, base, offset, left)
    }

    /// A local variable. Its contents are followed if its size is known.
    fn alloca(
        &mut self,
        state: &mut State,
        result: ValueId,
        size: u64,
        count: &Value,
        align: u64,
    ) -> Result<Value, Stop> {
        let State { frames, facts, .. } = state;
        let frame = frames.elements().last_mut().expect("a path ends with its last frame");
        if let Some(known) = count.known_int() {
            let name = frame.body.names.get(result.0 as usize).cloned().unwrap_or_else(|| "local".into());
            let identity = Identity::Local(frame.chain, result);
            if let Some(object) = self.machine.local(facts, identity, &name, known as u64 * size, align) {
                frame.locals.push(object);
                return Ok(Value::Pointer(object, 0));
            }
        }
        let ty = self.machine.type_of(count);
        let count = self.machine.operand(facts, count, &ty, Leak::No)?;
        Ok(Value::Dynamic(self.machine.emit(facts, Type::Ptr, Op::Alloca { size, count, align })))
    }
}
