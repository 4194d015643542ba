//! Conversions between types, and integers with their sign.

use super::{Expr, Text, Want, Writer};
use crate::c::types::{CType, container, signed, signed_number, unsigned, with_sign};
use crate::ir::{Cast, Const, Op, Operand, Type};

impl Writer<'_> {
    pub(super) fn cast(&mut self, cast: Cast, a: &Operand, ty: &Type, want: Want) -> Text {
        let from = self.body.type_of(a);
        let target = self.prelude.name(ty)?;
        let bits = ty.bits() as u32;
        match (cast, &from, ty) {
            (Cast::Trunc, _, Type::Int(1)) => {
                let a = self.expr(a, Want::Modulo)?;
                Ok(Expr::new(format!("{} & 1", a.at(14)), 8, CType::Number).reading(&[&a]))
            }
            (Cast::Trunc, ..) => {
                let a = self.expr(a, Want::Modulo)?;
                Ok(Expr { ty: CType::Modulo, ..a })
            }
            (Cast::ZExt, ..) => {
                let a = self.expr(a, Want::Number)?;
                Ok(if want == Want::Exact {
                    a.cast(&target, CType::Unsigned(container(bits)))
                } else {
                    Expr { ty: CType::Number, ..a }
                })
            }
            (Cast::SExt, ..) => {
                let inner = self.signed(a)?;
                Ok(Expr { ty: CType::Modulo, ..inner })
            }
            (Cast::FpToUi, ..) => {
                Ok(self.expr(a, Want::Exact)?.cast(&target, CType::Unsigned(container(bits))))
            }
            (Cast::FpToSi, ..) => {
                Ok(self.expr(a, Want::Exact)?.cast(signed(bits), CType::Signed(container(bits))))
            }
            (Cast::SiToFp, ..) => Ok(self.signed(a)?.cast(&target, CType::Other)),
            (Cast::UiToFp | Cast::FpTrunc | Cast::FpExt, ..) => {
                Ok(self.expr(a, Want::Number)?.cast(&target, CType::Other))
            }
            (Cast::PtrToInt, ..) => {
                let word = self.expr(a, Want::Exact)?.cast("uintptr_t", CType::Unsigned(64));
                Ok(if bits == 64 {
                    word
                } else if bits < 64 {
                    Expr { ty: CType::Modulo, ..word }
                } else {
                    word.cast(&target, CType::Unsigned(128))
                })
            }
            (Cast::IntToPtr, ..) => {
                let a = self.expr(a, Want::Number)?;
                Ok(a.cast("uintptr_t", CType::Other).cast("void *", CType::Other))
            }
            (Cast::BitCast, ..) if from == *ty => self.expr(a, want),
            (Cast::BitCast, from, _) if from.is_scalar() && ty.is_scalar() => {
                let a = self.expr(a, Want::Modulo)?;
                let name = self.prelude.reinterpret(from, ty)?;
                let result =
                    if matches!(ty, Type::Int(_)) { CType::Unsigned(container(bits)) } else { CType::Other };
                Ok(Expr::new(format!("{name}({})", a.text), 16, result).reading(&[&a]))
            }
            _ => Err("a conversion of a vector".into()),
        }
    }

    /// An integer operand, sign-extended.
    pub fn signed(&mut self, operand: &Operand) -> Text {
        let Type::Int(bits) = self.body.type_of(operand) else {
            return Err("a signed operation on something that is no integer".into());
        };
        if let Operand::Const(Const::Int { value, .. }) = operand {
            let text = signed_number(bits, *value);
            let level = if text.starts_with(['-', '(']) && !text.starts_with("(-") { 15 } else { 16 };
            let width =
                if with_sign(bits, *value).is_some_and(|v| i32::try_from(v).is_ok()) { 32 } else { 128 };
            return Ok(Expr::new(text, level, CType::Signed(width)));
        }
        if let Operand::Value(value) = operand
            && self.plan.folded[value.0 as usize]
            && let Some(Op::Cast(cast @ (Cast::SExt | Cast::ZExt), inner)) = self.plan.op(self.body, *value)
        {
            let narrow = self.body.type_of(inner).bits();
            match cast {
                // An explicit cast, where C would compute in a narrower type or stay in an unsigned one.
                Cast::SExt if narrow > 1 => return self.widened(inner, bits),
                Cast::ZExt if narrow < 32 && bits <= 32 => return self.expr(inner, Want::Number),
                _ => {}
            }
        }
        let inner = self.expr(operand, if container(bits) == bits { Want::Modulo } else { Want::Number })?;
        if inner.ty == CType::Signed(bits) && bits == container(bits) {
            return Ok(inner);
        }
        let width = container(bits);
        match width - bits {
            _ if bits == 1 => {
                Ok(Expr::new(format!("-{}", inner.at(16)), 15, CType::Signed(8)).reading(&[&inner]))
            }
            0 => Ok(inner.cast(signed(bits), CType::Signed(width))),
            gap => {
                let shifted = format!("(({})({} << {gap}) >> {gap})", signed(bits), {
                    inner.cast(unsigned(bits), CType::Unsigned(width)).text
                });
                Ok(Expr::new(shifted, 16, CType::Signed(width)).reading(&[&inner]))
            }
        }
    }

    fn widened(&mut self, narrow: &Operand, bits: u32) -> Text {
        let inner = self.signed(narrow)?;
        Ok(match inner.ty == CType::Signed(container(bits)) || container(bits) <= 32 {
            true => inner,
            false => inner.cast(signed(bits), CType::Signed(container(bits))),
        })
    }
}
