//! What operations ask of types.

use crate::ir::{Cast, Type};

/// What a type is, or what the elements of a vector are.
pub(super) fn element(ty: &Type) -> &Type {
    match ty {
        Type::Vector(_, element) => element,
        _ => ty,
    }
}

/// How many elements a vector has; none for other types.
fn lanes(ty: &Type) -> Option<u32> {
    if let Type::Vector(count, _) = ty { Some(*count) } else { None }
}

/// An integer, or a vector of them.
pub(super) fn is_int(ty: &Type) -> bool {
    matches!(element(ty), Type::Int(_))
}

/// A float, or a vector of them.
pub(super) fn is_float(ty: &Type) -> bool {
    matches!(element(ty), Type::Float | Type::Double)
}

/// A pointer, or a vector of them.
pub(super) fn is_ptr(ty: &Type) -> bool {
    matches!(element(ty), Type::Ptr)
}

/// What a comparison of values of a type gives.
pub(super) fn truth(ty: &Type) -> Type {
    lanes(ty).map_or(Type::Int(1), |count| Type::Vector(count, Type::Int(1).into()))
}

/// The type of a part of an aggregate; none if there is no such part.
pub(super) fn part(ty: &Type, path: &[u32]) -> Option<Type> {
    path.iter().try_fold(ty.clone(), |ty, index| match ty {
        Type::Struct { fields, .. } => fields.get(*index as usize).cloned(),
        Type::Array(count, element) => (u64::from(*index) < count).then(|| (*element).clone()),
        _ => None,
    })
}

/// Whether a conversion goes from one type to another.
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
