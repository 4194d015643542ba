//! Arithmetic on known values, as the machine does it.

use std::ops::{Add, Div, Mul, Rem, Sub};

use crate::ir::{Binary, Cast, Const, FloatCompare, Type, signed};

/// The result of an operation on known integers; `None` if the behaviour is undefined (division by zero).
pub(super) fn binary(op: Binary, bits: u32, a: u128, b: u128) -> Option<u128> {
    let (sa, sb) = (signed(bits, a), signed(bits, b));
    let too_far = b >= u128::from(bits);
    let value = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::UDiv => a.checked_div(b)?,
        Binary::URem => a.checked_rem(b)?,
        Binary::SDiv => sa.checked_div(sb)? as u128,
        Binary::SRem => sa.checked_rem(sb)? as u128,
        Binary::Shl | Binary::LShr | Binary::AShr if too_far => 0,
        Binary::Shl => a << b,
        Binary::LShr => a >> b,
        Binary::AShr => (sa >> b) as u128,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        _ => return None,
    };
    let Const::Int { value, .. } = Const::int(bits, value) else { return None };
    Some(value)
}

/// The result of an operation on known floats of one width.
pub(super) fn float_binary(op: Binary, a: &Const, b: &Const) -> Option<Const> {
    match (a, b) {
        (Const::Double(a), Const::Double(b)) => {
            let value = operate(op, f64::from_bits(*a), f64::from_bits(*b))?;
            Some(Const::Double(value.to_bits()))
        }
        (Const::Float(a), Const::Float(b)) => {
            let value = operate(op, f32::from_bits(*a), f32::from_bits(*b))?;
            Some(Const::Float(value.to_bits()))
        }
        _ => None,
    }
}

/// An operation on floats of any width.
fn operate<F>(op: Binary, a: F, b: F) -> Option<F>
where
    F: Add<Output = F> + Sub<Output = F> + Mul<Output = F> + Div<Output = F> + Rem<Output = F>,
{
    Some(match op {
        Binary::FAdd => a + b,
        Binary::FSub => a - b,
        Binary::FMul => a * b,
        Binary::FDiv => a / b,
        Binary::FRem => a % b,
        _ => return None,
    })
}

/// Whether a comparison of known floats holds.
pub(super) fn float_compare(op: FloatCompare, a: &Const, b: &Const) -> Option<bool> {
    let (a, b) = (as_double(a)?, as_double(b)?);
    let unordered = a.is_nan() || b.is_nan();
    Some(match op {
        FloatCompare::False => false,
        FloatCompare::True => true,
        FloatCompare::Ord => !unordered,
        FloatCompare::Uno => unordered,
        FloatCompare::Oeq => a == b,
        FloatCompare::Ogt => a > b,
        FloatCompare::Oge => a >= b,
        FloatCompare::Olt => a < b,
        FloatCompare::Ole => a <= b,
        FloatCompare::One => !unordered && a != b,
        FloatCompare::Ueq => unordered || a == b,
        FloatCompare::Ugt => unordered || a > b,
        FloatCompare::Uge => unordered || a >= b,
        FloatCompare::Ult => unordered || a < b,
        FloatCompare::Ule => unordered || a <= b,
        FloatCompare::Une => unordered || a != b,
    })
}

fn as_double(value: &Const) -> Option<f64> {
    match value {
        Const::Double(bits) => Some(f64::from_bits(*bits)),
        Const::Float(bits) => Some(f64::from(f32::from_bits(*bits))),
        _ => None,
    }
}

/// Converts a known value to another type; `None` if the result can't be known (addresses, results out of range).
pub(super) fn cast(op: Cast, value: &Const, to: &Type) -> Option<Const> {
    if let (Const::Int { bits, value }, Type::Int(width)) = (value, to) {
        return match op {
            Cast::Trunc | Cast::ZExt | Cast::BitCast => Some(Const::int(*width, *value)),
            Cast::SExt => Some(Const::int(*width, signed(*bits, *value) as u128)),
            _ => None,
        };
    }
    match (op, value, to) {
        (Cast::FpTrunc, Const::Double(bits), Type::Float) => {
            Some(Const::Float((f64::from_bits(*bits) as f32).to_bits()))
        }
        (Cast::FpExt, Const::Float(bits), Type::Double) => {
            Some(Const::Double(f64::from(f32::from_bits(*bits)).to_bits()))
        }
        (Cast::FpToSi, _, Type::Int(width)) => {
            let value = as_double(value)?;
            let limit = 2f64.powi(*width as i32 - 1);
            (value > -limit - 1.0 && value < limit).then(|| Const::int(*width, value as i128 as u128))
        }
        (Cast::FpToUi, _, Type::Int(width)) => {
            let value = as_double(value)?;
            (value > -1.0 && value < 2f64.powi(*width as i32)).then(|| Const::int(*width, value as u128))
        }
        (Cast::SiToFp, Const::Int { bits, value }, Type::Double) => {
            Some(Const::Double((signed(*bits, *value) as f64).to_bits()))
        }
        (Cast::SiToFp, Const::Int { bits, value }, Type::Float) => {
            Some(Const::Float((signed(*bits, *value) as f32).to_bits()))
        }
        (Cast::UiToFp, Const::Int { value, .. }, Type::Double) => {
            Some(Const::Double((*value as f64).to_bits()))
        }
        (Cast::UiToFp, Const::Int { value, .. }, Type::Float) => {
            Some(Const::Float((*value as f32).to_bits()))
        }
        (Cast::BitCast, Const::Double(bits), Type::Int(64)) => Some(Const::int(64, u128::from(*bits))),
        (Cast::BitCast, Const::Float(bits), Type::Int(32)) => Some(Const::int(32, u128::from(*bits))),
        (Cast::BitCast, Const::Int { value, .. }, Type::Double) => Some(Const::Double(*value as u64)),
        (Cast::BitCast, Const::Int { value, .. }, Type::Float) => Some(Const::Float(*value as u32)),
        (Cast::PtrToInt, Const::Null, Type::Int(width)) => Some(Const::int(*width, 0)),
        (Cast::IntToPtr, Const::Int { value: 0, .. }, Type::Ptr) => Some(Const::Null),
        _ => None,
    }
}
