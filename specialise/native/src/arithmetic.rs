//! Arithmetic, comparisons and conversions.

use crate::abi;
use crate::error::{Attempt, refuse};
use crate::shape;
use crate::translation::{Held, Translation};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, InstructionData, MemFlagsData, Opcode, Value, types};
use drystone_specialise::ir::{Binary, Cast, Compare, FloatCompare, Operand, Type};

impl Translation<'_, '_, '_> {
    /// The width of an operand that is an integer or an address.
    pub fn bits(&self, operand: &Operand) -> Attempt<u32> {
        match self.body.type_of(operand) {
            Type::Int(bits) => Ok(bits),
            Type::Ptr => Ok(64),
            other => {
                shape::register(&other)?;
                refuse("an integer is expected here")
            }
        }
    }

    /// Arithmetic on two operands.
    pub fn binary(&mut self, operation: Binary, a: &Operand, b: &Operand) -> Attempt<Value> {
        match operation {
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::FRem => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                self.float_binary(operation, a, b)
            }
            _ => {
                let bits = self.bits(a)?;
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                self.int_binary(operation, bits, a, b)
            }
        }
    }

    fn float_binary(&mut self, operation: Binary, a: Value, b: Value) -> Attempt<Value> {
        let register = self.register_of(a);
        let ins = self.builder.ins();
        Ok(match operation {
            Binary::FAdd => ins.fadd(a, b),
            Binary::FSub => ins.fsub(a, b),
            Binary::FMul => ins.fmul(a, b),
            Binary::FDiv => ins.fdiv(a, b),
            _ => {
                let name = match register {
                    types::F32 => "drystone remainder_single",
                    _ => "drystone remainder",
                };
                self.library_call(name, &abi::of_library(&[register, register], register), &[a, b])?
            }
        })
    }

    /// Arithmetic on two integers of so many bits.
    pub fn int_binary(&mut self, operation: Binary, bits: u32, a: Value, b: Value) -> Attempt<Value> {
        let (a, b) = match operation {
            Binary::SDiv | Binary::SRem => (self.signed(a, bits), self.signed(b, bits)),
            Binary::AShr => (self.signed(a, bits), b),
            _ => (a, b),
        };
        if self.register_of(a) == types::I128 {
            let name = match operation {
                Binary::UDiv => Some("__udivti3"),
                Binary::SDiv => Some("__divti3"),
                Binary::URem => Some("__umodti3"),
                Binary::SRem => Some("__modti3"),
                _ => None,
            };
            if let Some(name) = name {
                let signature = abi::of_library(&[types::I128, types::I128], types::I128);
                return self.library_call(name, &signature, &[a, b]);
            }
        }
        let ins = self.builder.ins();
        let value = match operation {
            Binary::Add => ins.iadd(a, b),
            Binary::Sub => ins.isub(a, b),
            Binary::Mul => self.multiplied(a, b),
            Binary::UDiv => return Ok(ins.udiv(a, b)),
            Binary::SDiv => ins.sdiv(a, b),
            Binary::URem => return Ok(ins.urem(a, b)),
            Binary::SRem => ins.srem(a, b),
            Binary::Shl => ins.ishl(a, b),
            Binary::LShr => return Ok(ins.ushr(a, b)),
            Binary::AShr => ins.sshr(a, b),
            Binary::And => return Ok(ins.band(a, b)),
            Binary::Or => return Ok(ins.bor(a, b)),
            Binary::Xor => return Ok(ins.bxor(a, b)),
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::FRem => {
                return refuse("floating-point arithmetic on integers");
            }
        };
        Ok(self.trimmed(value, bits))
    }

    /// A product. A multiplication takes three cycles, what the machine can do with an address one.
    fn multiplied(&mut self, a: Value, b: Value) -> Value {
        let shift = match self.constant(b) {
            Some(3) => 1,
            Some(5) => 2,
            Some(9) => 3,
            _ => return self.builder.ins().imul(a, b),
        };
        let shift = self.number(types::I8, shift);
        let more = self.builder.ins().ishl(a, shift);
        self.builder.ins().iadd(a, more)
    }

    /// The number that a value was made of.
    pub fn constant(&self, value: Value) -> Option<i64> {
        let function = &self.builder.func;
        let instruction = function.dfg.value_def(value).inst()?;
        match function.dfg.insts[instruction] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    /// A comparison of integers or addresses.
    pub fn compare(&mut self, comparison: Compare, a: &Operand, b: &Operand) -> Attempt<Value> {
        let bits = self.bits(a)?;
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let condition = match comparison {
            Compare::Eq => IntCC::Equal,
            Compare::Ne => IntCC::NotEqual,
            Compare::Ugt => IntCC::UnsignedGreaterThan,
            Compare::Uge => IntCC::UnsignedGreaterThanOrEqual,
            Compare::Ult => IntCC::UnsignedLessThan,
            Compare::Ule => IntCC::UnsignedLessThanOrEqual,
            Compare::Sgt => IntCC::SignedGreaterThan,
            Compare::Sge => IntCC::SignedGreaterThanOrEqual,
            Compare::Slt => IntCC::SignedLessThan,
            Compare::Sle => IntCC::SignedLessThanOrEqual,
        };
        Ok(self.compared(condition, bits, a, b))
    }

    /// A comparison of integers of so many bits.
    pub fn compared(&mut self, condition: IntCC, bits: u32, a: Value, b: Value) -> Value {
        let signed = condition != condition.unsigned();
        let (a, b) = if signed { (self.signed(a, bits), self.signed(b, bits)) } else { (a, b) };
        self.builder.ins().icmp(condition, a, b)
    }

    /// A comparison of floats.
    pub fn float_compare(&mut self, comparison: FloatCompare, a: &Operand, b: &Operand) -> Attempt<Value> {
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let condition = match comparison {
            FloatCompare::False => return Ok(self.number(types::I8, 0)),
            FloatCompare::True => return Ok(self.number(types::I8, 1)),
            FloatCompare::Oeq => FloatCC::Equal,
            FloatCompare::Ogt => FloatCC::GreaterThan,
            FloatCompare::Oge => FloatCC::GreaterThanOrEqual,
            FloatCompare::Olt => FloatCC::LessThan,
            FloatCompare::Ole => FloatCC::LessThanOrEqual,
            FloatCompare::One => FloatCC::OrderedNotEqual,
            FloatCompare::Ord => FloatCC::Ordered,
            FloatCompare::Ueq => FloatCC::UnorderedOrEqual,
            FloatCompare::Ugt => FloatCC::UnorderedOrGreaterThan,
            FloatCompare::Uge => FloatCC::UnorderedOrGreaterThanOrEqual,
            FloatCompare::Ult => FloatCC::UnorderedOrLessThan,
            FloatCompare::Ule => FloatCC::UnorderedOrLessThanOrEqual,
            FloatCompare::Une => FloatCC::NotEqual,
            FloatCompare::Uno => FloatCC::Unordered,
        };
        Ok(self.builder.ins().fcmp(condition, a, b))
    }

    /// One of two values.
    pub fn select(&mut self, condition: &Operand, a: &Operand, b: &Operand) -> Attempt<Held> {
        let condition = self.scalar(condition)?;
        let (a, b) = (self.parts(a)?, self.parts(b)?);
        let chosen = a.into_iter().zip(b).map(|(a, b)| self.builder.ins().select(condition, a, b));
        Ok(Held::of(chosen.collect()))
    }

    /// A conversion.
    pub fn cast(&mut self, cast: Cast, operand: &Operand, to: &Type) -> Attempt<Value> {
        let value = self.scalar(operand)?;
        let register = shape::register(to)?;
        match (cast, to) {
            (Cast::Trunc | Cast::ZExt | Cast::PtrToInt, Type::Int(bits)) => self.resized(value, *bits),
            (Cast::IntToPtr, Type::Ptr) => self.resized(value, 64),
            (Cast::SExt, Type::Int(bits)) => {
                let from = self.bits(operand)?;
                let value = self.signed(value, from);
                let value = match register.bits() > self.register_of(value).bits() {
                    true => self.builder.ins().sextend(register, value),
                    false => value,
                };
                Ok(self.trimmed(value, *bits))
            }
            (Cast::FpTrunc, Type::Float) => Ok(self.builder.ins().fdemote(register, value)),
            (Cast::FpExt, Type::Double) => Ok(self.builder.ins().fpromote(register, value)),
            (Cast::FpToUi | Cast::FpToSi, Type::Int(bits)) => self.float_to_int(cast, value, *bits),
            (Cast::UiToFp | Cast::SiToFp, Type::Float | Type::Double) => {
                let from = self.bits(operand)?;
                let value = if cast == Cast::SiToFp { self.signed(value, from) } else { value };
                let wide = match (self.register_of(value), cast) {
                    (types::I128, _) => return refuse("128-bit integers can't be made floats"),
                    (types::I8 | types::I16, Cast::SiToFp) => self.builder.ins().sextend(types::I32, value),
                    (types::I8 | types::I16, _) => self.builder.ins().uextend(types::I32, value),
                    _ => value,
                };
                Ok(match cast {
                    Cast::SiToFp => self.builder.ins().fcvt_from_sint(register, wide),
                    _ => self.builder.ins().fcvt_from_uint(register, wide),
                })
            }
            (Cast::BitCast, _) => {
                let now = self.register_of(value);
                match now == register {
                    true => Ok(value),
                    false if now.bits() == register.bits() => {
                        Ok(self.builder.ins().bitcast(register, MemFlagsData::new(), value))
                    }
                    false => refuse("a bitcast can't change the size of a value"),
                }
            }
            _ => refuse("a conversion to a type that it can't give"),
        }
    }

    /// What doesn't fit is any value in LLVM; here it is the nearest one.
    fn float_to_int(&mut self, cast: Cast, value: Value, bits: u32) -> Attempt<Value> {
        let wide = match shape::container(bits)? {
            types::I128 => return refuse("floats can't be made 128-bit integers"),
            types::I64 => types::I64,
            _ => types::I32,
        };
        let value = match cast {
            Cast::FpToSi => self.builder.ins().fcvt_to_sint_sat(wide, value),
            _ => self.builder.ins().fcvt_to_uint_sat(wide, value),
        };
        self.resized(value, bits)
    }
}
