//! Addresses, and loads and stores there.

use crate::error::{Attempt, refuse};
use crate::shape::{self, Leaf};
use crate::translation::{Held, Translation};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type as Register, Value, types};
use drystone_specialise::ir::{Access, BlockId, Const, Operand, Type};

impl Translation<'_, '_, '_> {
    /// Room on the stack.
    pub fn alloca(&mut self, block: BlockId, size: u64, count: &Operand, align: u64) -> Attempt<Value> {
        let Operand::Const(Const::Int { value: count, .. }) = count else {
            return refuse(
                "room on the stack of a size that isn't known can't be had; use an array of fixed size",
            );
        };
        // One in a loop is a new one each time.
        if self.on_cycle[block.0 as usize] {
            return refuse("room on the stack can't be had in a loop; take it in the function's first block");
        }
        if !align.is_power_of_two() || align > 4096 {
            return refuse(format!("room on the stack can't be aligned to {align} bytes"));
        }
        let size = u64::try_from(*count).unwrap_or(u64::MAX).saturating_mul(size).max(1);
        if align <= 16 {
            let slot = self.slot(size, align)?;
            return Ok(self.builder.ins().stack_addr(types::I64, slot, 0));
        }
        // The stack itself is aligned to 16 bytes.
        let slot = self.slot(size.saturating_add(align), 16)?;
        let start = self.builder.ins().stack_addr(types::I64, slot, 0);
        let past = self.moved(start, align as i64 - 1);
        let mask = self.number(types::I64, u128::from(align.wrapping_neg()));
        Ok(self.builder.ins().band(past, mask))
    }

    /// An address computed from a base and indices. Its constant part is left to the loads and stores.
    pub fn address_of(&mut self, base: &Operand, offset: i64, terms: &[(Operand, i64)]) -> Attempt<Held> {
        let (mut at, before) = self.place(base)?;
        let mut offset = offset.wrapping_add(i64::from(before));
        for (index, scale) in terms {
            if let Operand::Const(Const::Int { bits: bits @ 1..=64, value }) = index {
                let beyond = 64 - bits;
                let index = ((*value as u64) << beyond) as i64 >> beyond;
                offset = offset.wrapping_add(index.wrapping_mul(*scale));
                continue;
            }
            let (index, more) = self.index(index)?;
            offset = offset.wrapping_add(more.wrapping_mul(*scale));
            let distance = match scale {
                1 => index,
                _ if *scale > 0 && scale.count_ones() == 1 => {
                    let shift = self.number(types::I8, u128::from(scale.trailing_zeros()));
                    self.builder.ins().ishl(index, shift)
                }
                _ => {
                    let scale = self.builder.ins().iconst(types::I64, *scale);
                    self.builder.ins().imul(index, scale)
                }
            };
            at = self.builder.ins().iadd(at, distance);
        }
        Ok(match i32::try_from(offset) {
            Ok(0) => Held::One(at),
            Ok(offset) => Held::Beyond(at, offset),
            Err(_) => Held::One(self.moved(at, offset)),
        })
    }

    /// An index, sign-extended to the width of an address, and what is to be added to it.
    fn index(&mut self, index: &Operand) -> Attempt<(Value, i64)> {
        let bits = self.bits(index)?;
        if bits == 64 {
            let (value, more) = self.place(index)?;
            return Ok((value, i64::from(more)));
        }
        let value = self.scalar(index)?;
        let value = self.signed(value, bits);
        let value = match self.register_of(value) {
            types::I64 => value,
            types::I128 => self.builder.ins().ireduce(types::I64, value),
            _ => self.builder.ins().sextend(types::I64, value),
        };
        Ok((value, 0))
    }

    /// A value from memory.
    pub fn load(&mut self, ty: &Type, from: &Operand, align: u64, access: Access) -> Attempt<Held> {
        if access == Access::Atomic {
            return Ok(Held::One(self.atomic_load(ty, from)?));
        }
        let (base, start) = self.place(from)?;
        self.fence_off(access);
        let mut values = Vec::new();
        for leaf in shape::leaves(ty)? {
            let (at, offset) = self.within(base, start, leaf.offset)?;
            values.push(self.load_leaf(&leaf, at, offset, flags(align, access))?);
        }
        self.fence_off(access);
        Ok(Held::of(values))
    }

    /// A value into memory.
    pub fn store(&mut self, value: &Operand, to: &Operand, align: u64, access: Access) -> Attempt<()> {
        if access == Access::Atomic {
            return self.atomic_store(value, to);
        }
        let (base, start) = self.place(to)?;
        let values = self.parts(value)?;
        self.fence_off(access);
        for (leaf, value) in shape::leaves(&self.body.type_of(value))?.into_iter().zip(values) {
            let (at, offset) = self.within(base, start, leaf.offset)?;
            self.store_leaf(&leaf, value, at, offset, flags(align, access));
        }
        self.fence_off(access);
        Ok(())
    }

    /// Keeps Cranelift from joining a volatile access with another one. This costs no instruction.
    fn fence_off(&mut self, access: Access) {
        if access == Access::Volatile {
            self.builder.ins().sequence_point();
        }
    }

    /// A place some bytes further, whose offset still fits an instruction.
    pub fn within(&mut self, base: Value, start: i32, offset: u64) -> Attempt<(Value, i32)> {
        let sum = i64::try_from(offset).ok().and_then(|offset| offset.checked_add(i64::from(start)));
        match sum {
            None => refuse("an offset that no address can have"),
            Some(sum) => Ok(match i32::try_from(sum) {
                Ok(offset) => (base, offset),
                Err(_) => (self.moved(base, sum), 0),
            }),
        }
    }

    fn load_leaf(&mut self, leaf: &Leaf, at: Value, offset: i32, flags: MemFlagsData) -> Attempt<Value> {
        let register = shape::register(&leaf.ty)?;
        let Type::Int(bits) = leaf.ty else {
            return Ok(self.builder.ins().load(register, flags, at, offset));
        };
        let bytes = bits.div_ceil(8);
        if bytes.is_power_of_two() {
            let value = self.builder.ins().load(register, flags, at, offset);
            return Ok(self.trimmed(value, bits));
        }
        let mut whole = self.number(register, 0);
        for (from, piece) in pieces(bytes) {
            let value = self.builder.ins().load(piece, flags, at, offset.wrapping_add(from as i32));
            let value = self.resized(value, register.bits())?;
            let shift = self.number(types::I8, u128::from(from * 8));
            let value = self.builder.ins().ishl(value, shift);
            whole = self.builder.ins().bor(whole, value);
        }
        Ok(self.trimmed(whole, bits))
    }

    fn store_leaf(&mut self, leaf: &Leaf, value: Value, at: Value, offset: i32, flags: MemFlagsData) {
        let bytes = leaf.ty.store_size() as u32;
        if bytes.is_power_of_two() {
            self.builder.ins().store(flags, value, at, offset);
            return;
        }
        for (from, piece) in pieces(bytes) {
            let shift = self.number(types::I8, u128::from(from * 8));
            let part = self.builder.ins().ushr(value, shift);
            let part = match self.register_of(part).bits() > piece.bits() {
                true => self.builder.ins().ireduce(piece, part),
                false => part,
            };
            self.builder.ins().store(flags, part, at, offset.wrapping_add(from as i32));
        }
    }
}

/// The machine's accesses that an odd number of bytes, up to 8, falls into.
fn pieces(bytes: u32) -> impl Iterator<Item = (u32, Register)> {
    [(4, types::I32), (2, types::I16), (1, types::I8)]
        .into_iter()
        .filter(move |(size, _)| bytes & size != 0)
        .map(move |(size, register)| {
            // The larger pieces come first.
            (bytes & !(2 * size - 1), register)
        })
}

/// What Cranelift may assume of an access. A plain load may be removed if its value is not used.
fn flags(align: u64, access: Access) -> MemFlagsData {
    let flags = MemFlagsData::new();
    let flags = if align >= 16 { flags.with_aligned() } else { flags };
    if access == Access::Plain { flags.with_notrap() } else { flags }
}
