//! Folds arithmetic on constants where [`crate::ir`] can express the result as a constant.

use crate::ir::{self, Binary, Cast, Const, Type};
use std::rc::Rc;

/// The value whose bytes are all zero, in its shortest form.
pub(super) fn zero(ty: &Type) -> Const {
    match ty {
        Type::Int(bits) => Const::int(*bits, 0),
        Type::Float => Const::Float(0),
        Type::Double => Const::Double(0),
        Type::Ptr => Const::Null,
        _ => Const::Zero(ty.clone()),
    }
}

/// The value of an integer with its sign, as for an index into an array.
pub(super) fn signed(constant: &Const) -> Option<i64> {
    match constant {
        Const::Int { bits, value } => Some(ir::signed(*bits, *value) as i64),
        _ => None,
    }
}

/// An address moved by a number of bytes.
pub(crate) fn offset(base: Const, bytes: i64) -> Result<Const, String> {
    Ok(match base {
        base if bytes == 0 => base,
        Const::Global(global, from) => Const::Global(global, from.wrapping_add(bytes)),
        Const::Null => address(bytes as u64),
        Const::Undef(ty) => Const::Undef(ty),
        Const::Pointer(inner) => match *inner {
            Const::Int { value, .. } => address((value as u64).wrapping_add(bytes as u64)),
            _ => return Err("an address computed from a part of another".into()),
        },
        _ => return Err("an address within a function".into()),
    })
}

/// An integer converted to an address.
fn address(value: u64) -> Const {
    if value == 0 { Const::Null } else { Const::Pointer(Rc::new(Const::int(64, value.into()))) }
}

pub(super) fn cast(cast: Cast, from: Const, to: &Type) -> Result<Const, String> {
    let unknown = || Err("a conversion of a constant that depends on an address".to_string());
    if let Const::Undef(_) = from {
        return Ok(Const::Undef(to.clone()));
    }
    match (cast, to) {
        (Cast::PtrToInt, Type::Int(bits)) => Ok(match from {
            Const::Null => Const::int(*bits, 0),
            Const::Pointer(inner) => match &*inner {
                Const::Int { value, .. } => Const::int(*bits, *value),
                _ => return unknown(),
            },
            from if from.ty() == Type::Ptr => Const::Address(*bits, from.into()),
            _ => return unknown(),
        }),
        (Cast::IntToPtr, Type::Ptr) => Ok(match from {
            Const::Int { value, .. } => address(value as u64),
            Const::Address(bits, inner) if bits >= 64 => (*inner).clone(),
            from @ Const::Address(..) => Const::Pointer(from.into()),
            _ => return unknown(),
        }),
        (Cast::Trunc, Type::Int(bits)) => match from {
            Const::Int { value, .. } => Ok(Const::int(*bits, value)),
            Const::Address(_, inner) => Ok(Const::Address(*bits, inner)),
            _ => unknown(),
        },
        (Cast::ZExt, Type::Int(bits)) => match from {
            Const::Int { value, .. } => Ok(Const::int(*bits, value)),
            _ => unknown(),
        },
        (Cast::SExt, Type::Int(bits)) => match from {
            Const::Int { bits: narrow, value } => Ok(Const::int(*bits, ir::signed(narrow, value) as u128)),
            _ => unknown(),
        },
        (Cast::BitCast, to) if from.ty() == *to => Ok(from),
        (Cast::BitCast, to) => match (from, to) {
            (Const::Int { bits: 32, value }, Type::Float) => Ok(Const::Float(value as u32)),
            (Const::Int { bits: 64, value }, Type::Double) => Ok(Const::Double(value as u64)),
            (Const::Float(bits), Type::Int(32)) => Ok(Const::int(32, bits.into())),
            (Const::Double(bits), Type::Int(64)) => Ok(Const::int(64, bits.into())),
            _ => Err("a constant seen as another type".into()),
        },
        _ => unknown(),
    }
}

pub(super) fn binary(operation: Binary, left: Const, right: Const) -> Result<Const, String> {
    let unknown = || Err("arithmetic with addresses that comes to no address".to_string());
    match (&left, &right) {
        (Const::Undef(_), _) | (_, Const::Undef(_)) => Ok(Const::Undef(left.ty())),
        (Const::Int { bits, value: a }, Const::Int { bits: other, value: b }) if bits == other => {
            integers(operation, *bits, *a, *b)
        }
        (Const::Address(bits, inner), Const::Int { .. }) => match operation {
            Binary::Add => moved(*bits, inner, signed(&right).unwrap_or(0)),
            Binary::Sub => moved(*bits, inner, signed(&right).unwrap_or(0).wrapping_neg()),
            _ => unknown(),
        },
        (Const::Int { .. }, Const::Address(bits, inner)) if operation == Binary::Add => {
            moved(*bits, inner, signed(&left).unwrap_or(0))
        }
        (Const::Address(bits, a), Const::Address(_, b)) if operation == Binary::Sub => match (&**a, &**b) {
            (Const::Global(one, from), Const::Global(other, to)) if one == other => {
                Ok(Const::int(*bits, from.wrapping_sub(*to) as i128 as u128))
            }
            _ => Err("a distance between two addresses; clang makes no such tables with -fno-pic".into()),
        },
        _ => unknown(),
    }
}

fn moved(bits: u32, address: &Const, bytes: i64) -> Result<Const, String> {
    Ok(Const::Address(bits, offset(address.clone(), bytes)?.into()))
}

fn integers(operation: Binary, bits: u32, a: u128, b: u128) -> Result<Const, String> {
    let shift = |by: u128| u32::try_from(by).ok().filter(|by| *by < bits);
    let too_far = || format!("a shift of {bits} bits by more than it has");
    Ok(Const::int(
        bits,
        match operation {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Shl => a << shift(b).ok_or_else(too_far)?,
            Binary::LShr => a >> shift(b).ok_or_else(too_far)?,
            Binary::AShr => (ir::signed(bits, a) >> shift(b).ok_or_else(too_far)?) as u128,
            _ => return Err("a division of constants".into()),
        },
    ))
}

/// The bits of the 32-bit float that equals a 64-bit one, if there is one. Computed without floating-point
/// instructions, because the processor would change a signalling NaN.
pub(super) fn narrow(double: u64) -> Option<u32> {
    let value = f64::from_bits(double);
    if value.is_nan() {
        let sign = (double >> 32) as u32 & 0x8000_0000;
        let lost = double & 0x1fff_ffff;
        return (lost == 0).then_some(sign | 0x7f80_0000 | (double >> 29) as u32 & 0x007f_ffff);
    }
    let narrow = value as f32;
    (f64::from(narrow) == value).then_some(narrow.to_bits())
}

/// The bits of the 64-bit float that equals a 32-bit one.
pub(crate) fn widen(float: u32) -> u64 {
    let value = f32::from_bits(float);
    if value.is_nan() {
        let sign = u64::from(float & 0x8000_0000) << 32;
        return sign | 0x7ff0_0000_0000_0000 | u64::from(float & 0x007f_ffff) << 29;
    }
    f64::from(value).to_bits()
}
