//! The requirements of operations on types.

use crate::ir::{Cast, Type};

/// The element type of a vector; other types themselves.
pub(super) fn element(ty: &Type) -> &Type {
    match ty {
        Type::Vector(_, element) => element,
        _ => ty,
    }
}

/// The number of elements of a vector; `None` for other types.
fn lanes(ty: &Type) -> Option<u32> {
    if let Type::Vector(count, _) = ty { Some(*count) } else { None }
}

/// Whether it is an integer type, or a vector of integers.
pub(super) fn is_int(ty: &Type) -> bool {
    matches!(element(ty), Type::Int(_))
}

/// Whether it is a float type, or a vector of floats.
pub(super) fn is_float(ty: &Type) -> bool {
    matches!(element(ty), Type::Float | Type::Double)
}

/// Whether it is the pointer type, or a vector of pointers.
pub(super) fn is_ptr(ty: &Type) -> bool {
    matches!(element(ty), Type::Ptr)
}

/// The type that results from comparing values of a type.
pub(super) fn truth(ty: &Type) -> Type {
    lanes(ty).map_or(Type::Int(1), |count| Type::Vector(count, Type::Int(1).into()))
}

/// The type of a member of an aggregate; `None` if there is no such member.
pub(super) fn part(ty: &Type, path: &[u32]) -> Option<Type> {
    path.iter().try_fold(ty.clone(), |ty, index| match ty {
        Type::Struct { fields, .. } => fields.get(*index as usize).cloned(),
        Type::Array(count, element) => (u64::from(*index) < count).then(|| (*element).clone()),
        _ => None,
    })
}

/// Whether a conversion is possible between two types.
pub(super) fn converts(cast: Cast, from: &Type, to: &Type) -> bool {
    let (wide_from, wide_to) = (element(from).bits(), element(to).bits());
    let kinds = match cast {
        Cast::Trunc => is_int(from) && is_int(to) && wide_from > wide_to,
        Cast::ZExt | Cast::SExt => is_int(from) && is_int(to) && wide_from < wide_to,
        Cast::FpTrunc => is_float(from) && is_float(to) && wide_from > wide_to,
        Cast::FpExt => is_float(from) && is_float(to) && wide_from < wide_to,
        Cast::FpToUi | Cast::FpToSi => is_float(from) && is_int(to),
        Cast::UiToFp | Cast::SiToFp => is_int(from) && is_float(to),
        Cast::PtrToInt => is_ptr(from) && is_int(to),
        Cast::IntToPtr => is_int(from) && is_ptr(to),
        Cast::BitCast => {
            let bits = |ty: &Type| element(ty).bits() * u64::from(lanes(ty).unwrap_or(1));
            return element(from).is_scalar()
                && element(to).is_scalar()
                && bits(from) == bits(to)
                && is_ptr(from) == is_ptr(to);
        }
    };
    kinds && lanes(from) == lanes(to)
}
