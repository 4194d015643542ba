//! Copies and fills of memory: short ones of known size by loads and stores, others by the C library.

use crate::abi;
use crate::error::{Attempt, refuse};
use crate::translation::Translation;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type as Register, Value, types};
use drystone_specialise::ir::{Const, Operand};

/// The most bytes that are copied by loads and stores.
const SHORT: u64 = 128;

/// A value and bytes from there.
type Place = (Value, i32);

/// The accesses that so many bytes (at most [`SHORT`]) fall into. The last one may touch bytes of the one before
/// again, which is cheaper than two smaller ones.
fn pieces(size: u64) -> Vec<(u64, Register)> {
    let mut found = Vec::new();
    let mut done = 0;
    while done < size {
        let rest = size - done;
        let exact = match rest {
            16.. => (16, types::I8X16),
            8.. => (8, types::I64),
            4.. => (4, types::I32),
            2.. => (2, types::I16),
            _ => (1, types::I8),
        };
        let (bytes, register) = match rest {
            9..=15 if size >= 16 => (16, types::I8X16),
            5..=7 if size >= 8 => (8, types::I64),
            3 if size >= 4 => (4, types::I32),
            _ => exact,
        };
        let at = done.min(size - bytes);
        found.push((at, register));
        done = at + bytes;
    }
    found
}

impl Translation<'_, '_, '_> {
    /// `memcpy` and `memmove`.
    pub fn copy(&mut self, name: &str, args: &[Operand]) -> Attempt<()> {
        let [to, from, size, volatile] = args else { return refuse(format!("`{name}` has four arguments")) };
        if let Some(size) = short(size, volatile) {
            let (to, from) = (self.place(to)?, self.place(from)?);
            return self.copy_bytes(to, from, size);
        }
        let size = self.size(size)?;
        let (to, from) = (self.scalar(to)?, self.scalar(from)?);
        let signature = abi::of_library(&[types::I64; 3], types::I64);
        self.library_call(name, &signature, &[to, from, size]).map(drop)
    }

    /// Copies so many bytes; the two places may overlap.
    pub fn copy_bytes(&mut self, to: Place, from: Place, size: u64) -> Attempt<()> {
        if size > SHORT {
            let (to, from) = (self.moved(to.0, i64::from(to.1)), self.moved(from.0, i64::from(from.1)));
            let size = self.number(types::I64, u128::from(size));
            let signature = abi::of_library(&[types::I64; 3], types::I64);
            return self.library_call("memmove", &signature, &[to, from, size]).map(drop);
        }
        let flags = MemFlagsData::new().with_notrap();
        let pieces = pieces(size);
        let mut values = Vec::with_capacity(pieces.len());
        // All loads come before the stores, as the places may overlap.
        for (at, register) in &pieces {
            let (base, offset) = self.within(from.0, from.1, *at)?;
            values.push(self.builder.ins().load(*register, flags, base, offset));
        }
        for ((at, _), value) in pieces.iter().zip(values) {
            let (base, offset) = self.within(to.0, to.1, *at)?;
            self.builder.ins().store(flags, value, base, offset);
        }
        Ok(())
    }

    /// `memset`.
    pub fn fill(&mut self, args: &[Operand]) -> Attempt<()> {
        let [to, byte, size, volatile] = args else { return refuse("`memset` has four arguments") };
        let byte = self.scalar(byte)?;
        if let Some(size) = short(size, volatile) {
            let to = self.place(to)?;
            return self.fill_bytes(to, byte, size);
        }
        let size = self.size(size)?;
        let to = self.scalar(to)?;
        let byte = self.resized(byte, 32)?;
        let signature = abi::of_library(&[types::I64, types::I32, types::I64], types::I64);
        self.library_call("memset", &signature, &[to, byte, size]).map(drop)
    }

    fn fill_bytes(&mut self, to: Place, byte: Value, size: u64) -> Attempt<()> {
        let flags = MemFlagsData::new().with_notrap();
        for (at, register) in pieces(size) {
            let value = match register {
                types::I8 => byte,
                types::I8X16 => self.builder.ins().splat(register, byte),
                _ => {
                    let wide = self.resized(byte, register.bits())?;
                    let ones = self.number(register, 0x0101_0101_0101_0101);
                    self.builder.ins().imul(wide, ones)
                }
            };
            let (base, offset) = self.within(to.0, to.1, at)?;
            self.builder.ins().store(flags, value, base, offset);
        }
        Ok(())
    }

    fn size(&mut self, size: &Operand) -> Attempt<Value> {
        let size = self.scalar(size)?;
        self.resized(size, 64)
    }
}

/// The size of a block, if it is known and short, and nothing stands against touching bytes twice.
fn short(size: &Operand, volatile: &Operand) -> Option<u64> {
    let Operand::Const(Const::Int { value: 0, .. }) = volatile else { return None };
    let Operand::Const(Const::Int { value: size, .. }) = size else { return None };
    u64::try_from(*size).ok().filter(|size| *size <= SHORT)
}
