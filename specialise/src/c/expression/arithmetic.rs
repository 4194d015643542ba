//! Arithmetic on integers in C's widths, on truth values, and on floats.

use super::{Expr, Text, Want, Writer, join, logical};
use crate::c::types::{CType, container, signed, with_sign};
use crate::ir::{Binary, Cast, Const, Op, Operand, Type};

impl Writer<'_> {
    pub(super) fn integer(
        &mut self,
        binary: Binary,
        a: &Operand,
        b: &Operand,
        bits: u32,
        want: Want,
    ) -> Text {
        if bits == 1 {
            return self.boolean(binary, a, b);
        }
        let wide = container(bits) >= 32;
        let result = match (wide, bits == container(bits)) {
            (true, true) => CType::Unsigned(bits),
            _ => CType::Modulo,
        };
        let modulo = if wide { Want::Number } else { Want::Modulo };
        match binary {
            Binary::Add | Binary::Sub => {
                let (binary, b) = with_small_constant(binary, b, bits);
                let (left, right) = match wide {
                    true => self.pair(a, &b, bits)?,
                    false => (self.expr(a, modulo)?, self.expr(&b, modulo)?),
                };
                // A sum as right operand needs no parentheses only if it is a sum of the same width.
                let chained = binary == Binary::Add && right.ty == result;
                let (sign, right_level) =
                    (if binary == Binary::Add { '+' } else { '-' }, 13 - u8::from(chained));
                Ok(join(&left, 12, &sign.to_string(), &right, right_level, result))
            }
            Binary::Mul => {
                let (mut left, right) = self.pair(a, b, bits)?;
                if container(bits) == 16 {
                    left = left.cast("uint32_t", CType::Number);
                }
                Ok(join(&left, 13, "*", &right, 14, result))
            }
            Binary::And | Binary::Or | Binary::Xor => self.bitwise(binary, a, b, bits, want),
            Binary::Shl => {
                let mut left = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
                if container(bits) == 16 {
                    left = left.cast("uint32_t", CType::Number);
                }
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, "<<", &amount, 14, result))
            }
            Binary::LShr => {
                let left = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
                let result = if wide { CType::Unsigned(container(bits)) } else { CType::Number };
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, ">>", &amount, 14, result))
            }
            Binary::AShr => {
                let mut left = self.signed(a)?;
                if matches!(a, Operand::Const(_)) {
                    left = left.cast(signed(bits), CType::Signed(container(bits)));
                }
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, ">>", &amount, 14, CType::Signed(container(bits))))
            }
            Binary::UDiv | Binary::URem => {
                let (left, right) = self.pair(a, b, bits)?;
                let result = if wide { CType::Unsigned(container(bits)) } else { CType::Number };
                Ok(join(&left, 13, if binary == Binary::UDiv { "/" } else { "%" }, &right, 14, result))
            }
            Binary::SDiv | Binary::SRem => {
                let (left, right) = (self.signed(a)?, self.signed(b)?);
                let sign = if binary == Binary::SDiv { "/" } else { "%" };
                Ok(join(&left, 13, sign, &right, 14, CType::Signed(container(bits))))
            }
            _ => Err("floating-point arithmetic of integers".into()),
        }
    }

    fn bitwise(&mut self, binary: Binary, a: &Operand, b: &Operand, bits: u32, want: Want) -> Text {
        let wide = container(bits) >= 32;
        let ones = Operand::Const(Const::int(bits, u128::MAX));
        if binary == Binary::Xor && *b == ones {
            let a = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
            let ty = if wide && container(bits) == bits { CType::Unsigned(bits) } else { CType::Modulo };
            return Ok(Expr::new(format!("~{}", a.at(15)), 15, ty).reading(&[&a]));
        }
        let (left, right, ty) = if wide {
            let (left, right) = self.pair(a, b, bits)?;
            (left, right, CType::Unsigned(container(bits)))
        } else if want == Want::Modulo {
            (self.expr(a, want)?, self.expr(b, want)?, CType::Modulo)
        } else {
            (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?, CType::Number)
        };
        let (sign, level) = match binary {
            Binary::And => ("&", 8),
            Binary::Xor => ("^", 7),
            _ => ("|", 6),
        };
        // Operands with the same operator need no parentheses; other binary operators get them.
        let side = |side: &Expr| if side.level == level { side.text.clone() } else { side.at(14) };
        let text = format!("{} {sign} {}", side(&left), side(&right));
        Ok(Expr::new(text, level, ty).reading(&[&left, &right]))
    }

    fn boolean(&mut self, binary: Binary, a: &Operand, b: &Operand) -> Text {
        let truth = Operand::Const(Const::int(1, 1));
        let ty = CType::Unsigned(1);
        match binary {
            Binary::And | Binary::Mul => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(logical(&left, "&&", &right))
            }
            Binary::Or => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(logical(&left, "||", &right))
            }
            Binary::Xor | Binary::Add | Binary::Sub if *b == truth => self.negated(a),
            Binary::Xor | Binary::Add | Binary::Sub => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(Expr::new(format!("{} != {}", left.at(14), right.at(14)), 9, ty).reading(&[&left, &right]))
            }
            // For one bit, every other shift amount or divisor is undefined.
            _ => self.expr(a, Want::Number),
        }
    }

    /// Two operands of which at least one has the exact type, so that C computes in that type.
    pub(super) fn pair(&mut self, a: &Operand, b: &Operand, bits: u32) -> Result<(Expr, Expr), String> {
        let (mut left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
        let exact = CType::Unsigned(container(bits));
        if container(bits) >= 32 && left.ty != exact && right.ty != exact {
            left = self.expr(a, Want::Exact)?;
        }
        Ok((left, right))
    }

    /// A shift amount, limited to less than the width: beyond it the IR's result is arbitrary, but C's behaviour is
    /// undefined.
    fn amount(&mut self, amount: &Operand, bits: u32) -> Text {
        let expr = self.expr(amount, Want::Number)?;
        if self.is_below(amount, bits) {
            return Ok(expr);
        }
        let mask = container(bits) - 1;
        Ok(Expr::new(format!("{} & {mask}", expr.at(14)), 8, CType::Number).reading(&[&expr]))
    }

    fn is_below(&self, operand: &Operand, limit: u32) -> bool {
        let limit = u128::from(limit);
        match operand {
            Operand::Const(Const::Int { value, .. }) => *value < limit,
            Operand::Const(_) => false,
            Operand::Value(value) => match self.plan.op(self.body, *value) {
                Some(Op::Binary(Binary::And, _, Operand::Const(Const::Int { value, .. }))) => *value < limit,
                Some(Op::Binary(Binary::URem, _, Operand::Const(Const::Int { value, .. }))) => {
                    *value <= limit
                }
                Some(Op::Cast(Cast::ZExt, inner)) => {
                    self.is_below(inner, limit as u32)
                        || 1u128 << self.body.type_of(inner).bits().min(100) <= limit
                }
                _ => false,
            },
        }
    }

    pub(super) fn floating(&mut self, binary: Binary, a: &Operand, b: &Operand, ty: &Type) -> Text {
        let (left, right) = (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?);
        let (sign, level) = match binary {
            Binary::FAdd => ("+", 12),
            Binary::FSub => ("-", 12),
            Binary::FMul => ("*", 13),
            Binary::FDiv => ("/", 13),
            Binary::FRem => {
                let name = if *ty == Type::Float { "__builtin_fmodf" } else { "__builtin_fmod" };
                let text = format!("{name}({}, {})", left.text, right.text);
                return Ok(Expr::new(text, 16, CType::Other).reading(&[&left, &right]));
            }
            _ => return Err("integer arithmetic of floats".into()),
        };
        Ok(join(&left, level, sign, &right, level + 1, CType::Other))
    }
}

/// Replaces the addition of a negative constant by a subtraction.
fn with_small_constant(binary: Binary, b: &Operand, bits: u32) -> (Binary, Operand) {
    if let Operand::Const(Const::Int { value, .. }) = b
        && let Some(negative @ ..0) = with_sign(bits, *value)
        && negative > i64::MIN
    {
        let other = if binary == Binary::Add { Binary::Sub } else { Binary::Add };
        return (other, Operand::Const(Const::int(bits, negative.unsigned_abs().into())));
    }
    (binary, b.clone())
}
