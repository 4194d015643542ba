//! Converts known values to operands of residual code, and back.

use super::Machine;
use crate::evaluate::facts::Facts;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Binary, Cast, Const, Op, Operand, Type, ValueId};
use std::rc::Rc;

/// Whether an operand lets an address escape to code that the evaluator doesn't see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leak {
    /// The operand is only used at once, for an access or a comparison.
    No,
    /// The operand is stored, passed or returned.
    Yes,
}

impl Machine<'_> {
    /// A constant of the program as a value: addresses of global variables become pointers to objects.
    pub fn constant(&mut self, constant: &Const) -> Value {
        match constant {
            Const::Global(global, offset) => {
                Value::Pointer(self.objects.global_of(*global, self.task.module), *offset)
            }
            Const::Address(64, inner) => match self.constant(inner) {
                Value::Pointer(object, offset) => Value::Address(object, offset),
                _ => Value::Const(constant.clone()),
            },
            Const::Pointer(inner) => match self.constant(inner) {
                Value::Address(object, offset) => Value::Pointer(object, offset),
                Value::Const(Const::Int { value: 0, .. }) => Value::Const(Const::Null),
                _ => Value::Const(constant.clone()),
            },
            Const::Zero(ty) => self.zero(ty),
            Const::Aggregate(Type::Struct { .. } | Type::Array(..), fields) => {
                let fields: Vec<Value> = fields.iter().map(|field| self.constant(field)).collect();
                Value::Aggregate(fields.into())
            }
            _ => Value::Const(constant.clone()),
        }
    }

    fn zero(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Int(bits) => Value::int(*bits, 0),
            Type::Float => Value::Const(Const::Float(0)),
            Type::Double => Value::Const(Const::Double(0)),
            Type::Ptr => Value::Const(Const::Null),
            Type::Struct { fields, .. } => {
                Value::Aggregate(fields.iter().map(|field| self.zero(field)).collect())
            }
            Type::Array(count, element) if *count <= 64 => {
                Value::Aggregate((0..*count).map(|_| self.zero(element)).collect())
            }
            _ => Value::Const(Const::Zero(ty.clone())),
        }
    }

    /// The type of a value.
    pub fn type_of(&self, value: &Value) -> Type {
        match value {
            Value::Const(constant) => constant.ty(),
            Value::Pointer(..) => Type::Ptr,
            Value::Address(..) => Type::WORD,
            Value::Dynamic(value) => self.residual.type_of(*value).clone(),
            Value::Aggregate(fields) => Type::Struct {
                fields: fields.iter().map(|field| self.type_of(field)).collect(),
                packed: false,
            },
        }
    }

    /// The residual address of an object's first byte.
    pub fn base(&mut self, facts: &Facts, object: ObjectId) -> Operand {
        if let Some(base) = facts.memory.get(object).and_then(|contents| contents.base) {
            return Operand::Value(base);
        }
        self.fixed_base(object)
    }

    /// A value as an operand of the type that the program uses for it.
    pub fn operand(
        &mut self,
        facts: &mut Facts,
        value: &Value,
        ty: &Type,
        leak: Leak,
    ) -> Result<Operand, Stop> {
        if let (Leak::Yes, Some(object)) = (leak, value.object()) {
            self.escape(facts, object)?;
        }
        Ok(match value {
            Value::Const(constant) => Operand::Const(constant.clone()),
            Value::Pointer(object, offset) => {
                let base = self.base(facts, *object);
                self.residual.address(facts.block, base, *offset)
            }
            Value::Address(object, offset) => {
                self.escape(facts, *object)?;
                let pointer =
                    self.operand(facts, &Value::Pointer(*object, *offset), &Type::Ptr, Leak::Yes)?;
                Operand::Value(self.emit(facts, Type::WORD, Op::Cast(Cast::PtrToInt, pointer)))
            }
            Value::Dynamic(value) => Operand::Value(*value),
            Value::Aggregate(fields) => {
                let Type::Struct { fields: types, .. } = self.aggregate_type(ty, fields.len()) else {
                    return Err(Stop::Fail(format!("a value of type {ty} is made of fields")));
                };
                let mut whole = Operand::Const(Const::Undef(ty.clone()));
                for (at, (field, field_ty)) in fields.iter().zip(types.iter()).enumerate() {
                    let field = self.operand(facts, field, field_ty, leak)?;
                    let op = Op::InsertValue(whole, field, vec![at as u32]);
                    whole = Operand::Value(self.emit(facts, ty.clone(), op));
                }
                whole
            }
        })
    }

    fn aggregate_type(&self, ty: &Type, fields: usize) -> Type {
        match ty {
            Type::Array(_, element) => {
                Type::Struct { fields: vec![(**element).clone(); fields].into(), packed: false }
            }
            _ => ty.clone(),
        }
    }

    /// Appends an instruction of the residual program to a path.
    pub fn emit(&mut self, facts: &Facts, ty: Type, op: Op) -> ValueId {
        self.residual.emit(facts.block, ty, op)
    }

    /// Appends an instruction without a result.
    pub fn effect(&mut self, facts: &Facts, op: Op) {
        self.residual.effect(facts.block, op);
    }

    /// A value as an integer of its size in the residual program.
    fn as_bits(&mut self, facts: &mut Facts, value: &Value) -> Result<(Operand, u32), Stop> {
        let ty = self.type_of(value);
        let bits = ty.store_size() as u32 * 8;
        let operand = self.operand(facts, value, &ty, Leak::Yes)?;
        let wide = Type::Int(bits);
        let operand = match ty {
            Type::Int(width) if width == bits => operand,
            Type::Int(_) => Operand::Value(self.emit(facts, wide, Op::Cast(Cast::ZExt, operand))),
            Type::Ptr => Operand::Value(self.emit(facts, wide, Op::Cast(Cast::PtrToInt, operand))),
            Type::Float | Type::Double => {
                Operand::Value(self.emit(facts, wide, Op::Cast(Cast::BitCast, operand)))
            }
            _ => return Err(Stop::Fail(format!("a part of a value of type {ty} is needed"))),
        };
        Ok((operand, bits))
    }

    /// A range of bytes of a value, as an integer of that size.
    pub(super) fn part(
        &mut self,
        facts: &mut Facts,
        value: &Value,
        start: u32,
        size: u64,
    ) -> Result<Value, Stop> {
        let width = size as u32 * 8;
        let known: Option<u128> = (0..size as u32)
            .map(|byte| value.known_byte(start + byte).map(|b| u128::from(b) << (byte * 8)))
            .sum();
        if let Some(known) = known {
            return Ok(Value::int(width, known));
        }
        let (mut operand, bits) = self.as_bits(facts, value)?;
        if start > 0 {
            let by = Operand::Const(Const::int(bits, u128::from(start) * 8));
            operand =
                Operand::Value(self.emit(facts, Type::Int(bits), Op::Binary(Binary::LShr, operand, by)));
        }
        if width < bits {
            operand = Operand::Value(self.emit(facts, Type::Int(width), Op::Cast(Cast::Trunc, operand)));
        }
        Ok(match operand {
            Operand::Value(value) => Value::Dynamic(value),
            Operand::Const(constant) => self.constant(&constant),
        })
    }

    /// The bytes of a value as another type of the same size, as if stored and loaded.
    pub fn reinterpret(&mut self, facts: &mut Facts, value: Value, ty: &Type) -> Result<Value, Stop> {
        let from = self.type_of(&value);
        if from == *ty {
            return Ok(value);
        }
        if value.is_undef() {
            return Ok(Value::undef(ty));
        }
        Ok(match (&value, ty) {
            (Value::Pointer(object, offset), Type::Int(64)) => Value::Address(*object, *offset),
            (Value::Address(object, offset), Type::Ptr) => Value::Pointer(*object, *offset),
            (Value::Const(Const::Null), Type::Int(bits)) => Value::int(*bits, 0),
            (Value::Const(Const::Int { value: 0, .. }), Type::Ptr) => Value::Const(Const::Null),
            (Value::Const(Const::Int { value, .. }), Type::Double) => {
                Value::Const(Const::Double(*value as u64))
            }
            (Value::Const(Const::Int { value, .. }), Type::Float) => {
                Value::Const(Const::Float(*value as u32))
            }
            (Value::Const(Const::Int { value, .. }), Type::Int(bits)) => Value::int(*bits, *value),
            (Value::Const(Const::Double(value)), Type::Int(bits)) => Value::int(*bits, u128::from(*value)),
            (Value::Const(Const::Float(value)), Type::Int(bits)) => Value::int(*bits, u128::from(*value)),
            _ => {
                let (operand, bits) = self.as_bits(facts, &value)?;
                let op = match ty {
                    Type::Int(width) if *width == bits => return Ok(self.known_or_dynamic(operand)),
                    Type::Int(width) if *width < bits => Op::Cast(Cast::Trunc, operand),
                    Type::Int(_) => Op::Cast(Cast::ZExt, operand),
                    Type::Ptr => Op::Cast(Cast::IntToPtr, operand),
                    Type::Float | Type::Double => Op::Cast(Cast::BitCast, operand),
                    _ => return Err(Stop::Fail(format!("bytes of type {from} are read as {ty}"))),
                };
                Value::Dynamic(self.emit(facts, ty.clone(), op))
            }
        })
    }

    /// A residual operand as a value.
    pub fn known_or_dynamic(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Value(value) => Value::Dynamic(value),
            Operand::Const(constant) => self.constant(&constant),
        }
    }

    /// The fields of a structure value.
    pub fn fields(&mut self, facts: &mut Facts, value: &Value, ty: &Type) -> Result<Rc<[Value]>, Stop> {
        if let Value::Aggregate(fields) = value {
            return Ok(fields.clone());
        }
        let types: Vec<Type> = match ty {
            Type::Struct { fields, .. } => fields.to_vec(),
            Type::Array(count, element) => vec![(**element).clone(); *count as usize],
            _ => return Err(Stop::Fail(format!("a field of a value of type {ty} is needed"))),
        };
        if value.is_undef() {
            return Ok(types.iter().map(Value::undef).collect());
        }
        let whole = self.operand(facts, value, ty, Leak::Yes)?;
        let fields = types.into_iter().enumerate().map(|(at, ty)| {
            Value::Dynamic(self.emit(facts, ty, Op::ExtractValue(whole.clone(), vec![at as u32])))
        });
        Ok(fields.collect())
    }

    /// A structure or array value with one field changed.
    pub fn insert(
        &mut self,
        facts: &mut Facts,
        whole: &Value,
        field: Value,
        path: &[u32],
        ty: &Type,
    ) -> Result<Value, Stop> {
        let Some((at, rest)) = path.split_first() else { return Ok(field) };
        let mut fields = self.fields(facts, whole, ty)?.to_vec();
        let inner = fields[*at as usize].clone();
        fields[*at as usize] = self.insert(facts, &inner, field, rest, &field_type(ty, *at))?;
        Ok(Value::Aggregate(fields.into()))
    }
}

/// The type of a field of a structure or array.
pub fn field_type(ty: &Type, at: u32) -> Type {
    match ty {
        Type::Struct { fields, .. } => fields[at as usize].clone(),
        Type::Array(_, element) => (**element).clone(),
        _ => Type::Void,
    }
}
