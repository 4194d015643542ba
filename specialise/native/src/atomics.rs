//! Atomic accesses, all of them sequentially consistent.

use crate::error::{Attempt, refuse};
use crate::shape;
use crate::translation::{Held, Translation};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Type as Register, Value, types};
use drystone_specialise::ir::{Operand, Type};

/// The register of a type that can be accessed atomically.
fn atomic(ty: &Type) -> Attempt<Register> {
    match ty {
        Type::Int(8 | 16 | 32 | 64) | Type::Ptr => shape::register(ty),
        Type::Float => Ok(types::I32),
        Type::Double => Ok(types::I64),
        _ => refuse("only integers of 8 to 64 bits, floats and pointers can be accessed atomically"),
    }
}

impl Translation<'_, '_, '_> {
    /// The same bits in the register of an integer, or the other way.
    fn as_register(&mut self, register: Register, value: Value) -> Value {
        match self.register_of(value) == register {
            true => value,
            false => self.builder.ins().bitcast(register, MemFlagsData::new(), value),
        }
    }

    /// Loads a value from memory that other threads may change.
    pub fn atomic_load(&mut self, ty: &Type, from: &Operand) -> Attempt<Value> {
        let at = self.scalar(from)?;
        let value = self.builder.ins().atomic_load(atomic(ty)?, MemFlagsData::new(), at);
        Ok(self.as_register(shape::register(ty)?, value))
    }

    /// Stores a value to memory that other threads may read.
    pub fn atomic_store(&mut self, value: &Operand, to: &Operand) -> Attempt<()> {
        let register = atomic(&self.body.type_of(value))?;
        let at = self.scalar(to)?;
        let value = self.scalar(value)?;
        let value = self.as_register(register, value);
        self.builder.ins().atomic_store(MemFlagsData::new(), value, at);
        Ok(())
    }

    /// Changes a value in memory in one step; gives what it was.
    pub fn atomic_update(&mut self, operation: &str, at: &Operand, operand: &Operand) -> Attempt<Value> {
        let ty = self.body.type_of(operand);
        let operation = match operation {
            "xchg" => AtomicRmwOp::Xchg,
            "add" => AtomicRmwOp::Add,
            "sub" => AtomicRmwOp::Sub,
            "and" => AtomicRmwOp::And,
            "nand" => AtomicRmwOp::Nand,
            "or" => AtomicRmwOp::Or,
            "xor" => AtomicRmwOp::Xor,
            "max" => AtomicRmwOp::Smax,
            "min" => AtomicRmwOp::Smin,
            "umax" => AtomicRmwOp::Umax,
            "umin" => AtomicRmwOp::Umin,
            other => return refuse(format!("the atomic operation `{other}` can't be compiled")),
        };
        let register = atomic(&ty)?;
        let at = self.scalar(at)?;
        let value = self.scalar(operand)?;
        let value = self.as_register(register, value);
        let old = self.builder.ins().atomic_rmw(register, MemFlagsData::new(), operation, at, value);
        Ok(self.as_register(shape::register(&ty)?, old))
    }

    /// Replaces a value in memory if it is the expected one; gives what it was, and whether it was.
    pub fn compare_exchange(&mut self, at: &Operand, expected: &Operand, new: &Operand) -> Attempt<Held> {
        let register = atomic(&self.body.type_of(expected))?;
        let at = self.scalar(at)?;
        let (expected, new) = (self.scalar(expected)?, self.scalar(new)?);
        if self.register_of(expected) != register || self.register_of(new) != register {
            return refuse("only integers and pointers can be compared and exchanged");
        }
        let old = self.builder.ins().atomic_cas(MemFlagsData::new(), at, expected, new);
        let same = self.builder.ins().icmp(IntCC::Equal, old, expected);
        Ok(Held::Many(vec![old, same]))
    }
}
