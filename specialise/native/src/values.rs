//! Operands: the registers of values, and how constants are made.

use crate::error::{Attempt, refuse};
use crate::shape;
use crate::translation::{Held, Translation};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, Type as Register, Value, types};
use drystone_specialise::ir::{Const, Operand, Type};

impl Translation<'_, '_, '_> {
    /// The scalars of an operand.
    pub fn parts(&mut self, operand: &Operand) -> Attempt<Vec<Value>> {
        match operand {
            Operand::Const(constant) => self.constant_parts(constant),
            Operand::Value(value) => match self.held.get(value.0 as usize) {
                Some(Some(Held::One(one))) => Ok(vec![*one]),
                Some(Some(Held::Many(parts))) => Ok(parts.clone()),
                Some(&Some(Held::Beyond(base, offset))) => Ok(vec![self.moved(base, i64::from(offset))]),
                _ => refuse(format!("value {} is used where it isn't known", value.0)),
            },
        }
    }

    /// An operand that is a scalar.
    pub fn scalar(&mut self, operand: &Operand) -> Attempt<Value> {
        match self.parts(operand)?[..] {
            [one] => Ok(one),
            _ => refuse("a scalar is expected here"),
        }
    }

    /// An address as what a load takes: a value and bytes from there.
    pub fn place(&mut self, operand: &Operand) -> Attempt<(Value, i32)> {
        match operand {
            Operand::Value(value) => {
                if let Some(&Some(Held::Beyond(base, offset))) = self.held.get(value.0 as usize) {
                    return Ok((base, offset));
                }
            }
            Operand::Const(Const::Global(global, offset)) => {
                if let Ok(offset) = i32::try_from(*offset) {
                    return Ok((self.scalar(&Operand::Const(Const::Global(*global, 0)))?, offset));
                }
            }
            Operand::Const(_) => {}
        }
        Ok((self.scalar(operand)?, 0))
    }

    /// So many bytes further.
    pub fn moved(&mut self, base: Value, offset: i64) -> Value {
        match offset {
            0 => base,
            _ => {
                let offset = self.builder.ins().iconst(types::I64, offset);
                self.builder.ins().iadd(base, offset)
            }
        }
    }

    /// An integer; bits beyond the register are cut off.
    pub fn number(&mut self, register: Register, value: u128) -> Value {
        if register == types::I128 {
            let low = self.builder.ins().iconst(types::I64, value as u64 as i64);
            let high = self.builder.ins().iconst(types::I64, (value >> 64) as u64 as i64);
            return self.builder.ins().iconcat(low, high);
        }
        let mask = u64::MAX >> (64 - register.bits().min(64));
        self.builder.ins().iconst(register, (value as u64 & mask) as i64)
    }

    fn constant_parts(&mut self, constant: &Const) -> Attempt<Vec<Value>> {
        let value = match constant {
            Const::Int { bits, value } => {
                let register = shape::container(*bits)?;
                self.number(register, *value)
            }
            Const::Float(bits) => self.builder.ins().f32const(Ieee32::with_bits(*bits)),
            Const::Double(bits) => self.builder.ins().f64const(Ieee64::with_bits(*bits)),
            Const::Null => self.number(types::I64, 0),
            Const::Undef(ty) | Const::Zero(ty) => return self.zeros(ty),
            Const::Global(global, offset) => {
                let reference = self.global_reference(*global)?;
                let base = self.builder.ins().symbol_value(types::I64, reference);
                self.moved(base, *offset)
            }
            Const::Function(function) => {
                let function = self.unit.function(*function)?;
                let reference = self.function_reference(function);
                self.builder.ins().func_addr(types::I64, reference)
            }
            Const::Aggregate(ty, parts) => {
                // The type says how many scalars are allowed.
                let count = shape::leaves(ty)?.len();
                let mut values = Vec::with_capacity(count);
                for part in parts.iter() {
                    values.extend(self.constant_parts(part)?);
                }
                return match values.len() == count {
                    true => Ok(values),
                    false => refuse("the parts of a constant don't fit its type"),
                };
            }
            Const::Bytes(bytes) => {
                shape::leaves(&constant.ty())?;
                return Ok(bytes.iter().map(|byte| self.number(types::I8, u128::from(*byte))).collect());
            }
            Const::Address(bits, inner) => {
                let address = self.scalar(&Operand::Const((**inner).clone()))?;
                self.resized(address, *bits)?
            }
            Const::Pointer(inner) => {
                let number = self.scalar(&Operand::Const((**inner).clone()))?;
                self.resized(number, 64)?
            }
        };
        Ok(vec![value])
    }

    fn zeros(&mut self, ty: &Type) -> Attempt<Vec<Value>> {
        let mut values = Vec::new();
        for leaf in shape::leaves(ty)? {
            values.push(match shape::register(&leaf.ty)? {
                types::F32 => self.builder.ins().f32const(0.0),
                types::F64 => self.builder.ins().f64const(0.0),
                register => self.number(register, 0),
            });
        }
        Ok(values)
    }

    /// An unsigned number in the register of another width.
    pub fn resized(&mut self, value: Value, bits: u32) -> Attempt<Value> {
        let register = shape::container(bits)?;
        let now = self.register_of(value);
        let value = match now.bits().cmp(&register.bits()) {
            std::cmp::Ordering::Less => self.builder.ins().uextend(register, value),
            std::cmp::Ordering::Greater => self.builder.ins().ireduce(register, value),
            std::cmp::Ordering::Equal => value,
        };
        Ok(self.trimmed(value, bits))
    }

    /// The register that a value is in.
    pub fn register_of(&self, value: Value) -> Register {
        self.builder.func.dfg.value_type(value)
    }

    /// An integer of so many bits, with nothing beyond them.
    pub fn trimmed(&mut self, value: Value, bits: u32) -> Value {
        if shape::fills(bits) {
            return value;
        }
        let register = self.register_of(value);
        let mask = self.number(register, (1 << bits) - 1);
        self.builder.ins().band(value, mask)
    }

    /// An integer of so many bits, sign-extended within its register.
    pub fn signed(&mut self, value: Value, bits: u32) -> Value {
        if shape::fills(bits) {
            return value;
        }
        let beyond = self.register_of(value).bits().saturating_sub(bits);
        let distance = self.number(types::I32, u128::from(beyond));
        let up = self.builder.ins().ishl(value, distance);
        self.builder.ins().sshr(up, distance)
    }
}
