//! Words that are a sum of another word and a constant: loads and stores that use the word as an index add the constant
//! in their addressing mode, at no cost.

use crate::error::Attempt;
use crate::translation::{Held, Translation};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, types};
use drystone_specialise::ir::{Binary, Const, Operand, Type};

impl Translation<'_, '_, '_> {
    /// Arithmetic on two operands.
    pub fn arithmetic(&mut self, operation: Binary, a: &Operand, b: &Operand) -> Attempt<Held> {
        if let (Type::Int(64), Operand::Const(Const::Int { value, .. })) = (self.body.type_of(a), b) {
            let (base, offset) = self.place(a)?;
            if let Some(held) = self.with_constant(operation, base, i64::from(offset), *value as u64) {
                return Ok(held);
            }
        }
        Ok(Held::One(self.binary(operation, a, b)?))
    }

    /// `base + offset` and a constant, if the result is a word and a constant again.
    fn with_constant(&mut self, operation: Binary, base: Value, offset: i64, constant: u64) -> Option<Held> {
        let fits = |offset: i64| i32::try_from(offset).ok();
        match operation {
            Binary::Add => Some(Held::Beyond(base, fits(offset.wrapping_add(constant as i64))?)),
            Binary::Sub => Some(Held::Beyond(base, fits(offset.wrapping_sub(constant as i64))?)),
            Binary::Shl if offset != 0 && constant < 32 => {
                let offset = fits(offset << constant)?;
                let by = self.number(types::I8, u128::from(constant));
                Some(Held::Beyond(self.builder.ins().ishl(base, by), offset))
            }
            // Bits that are zero on both sides are put in as well by an addition.
            Binary::Or if constant < 1 << self.zeros_at_the_end(base) && constant & offset as u64 == 0 => {
                Some(Held::Beyond(base, fits(offset + constant as i64)?))
            }
            _ => None,
        }
    }

    /// How many of the lowest bits of a word are plainly zero; at most 31.
    fn zeros_at_the_end(&self, value: Value) -> u32 {
        let function = &self.builder.func;
        let Some(instruction) = function.dfg.value_def(value).inst() else { return 0 };
        match function.dfg.insts[instruction] {
            InstructionData::Binary { opcode: Opcode::Ishl, args: [_, by] } => {
                self.constant(by).map_or(0, |by| by.clamp(0, 31) as u32)
            }
            _ => 0,
        }
    }
}
