//! Compares two instructions without their operands.

use crate::ir::{CallAttributes, Op, ParamAttributes};
use std::mem::discriminant;

/// Whether two instructions do the same to their operands; alignment may differ.
pub(super) fn alike(a: &Op, b: &Op) -> bool {
    match (a, b) {
        (Op::Binary(a, ..), Op::Binary(b, ..)) => a == b,
        (Op::Compare(a, ..), Op::Compare(b, ..)) => a == b,
        (Op::FloatCompare(a, ..), Op::FloatCompare(b, ..)) => a == b,
        (Op::Cast(a, _), Op::Cast(b, _)) => a == b,
        (Op::Load { access: a, .. }, Op::Load { access: b, .. })
        | (Op::Store { access: a, .. }, Op::Store { access: b, .. }) => a == b,
        (Op::Address { terms: a, offset: from, .. }, Op::Address { terms: b, offset, .. }) => {
            from == offset && a.len() == b.len() && a.iter().zip(b).all(|((_, a), (_, b))| a == b)
        }
        (
            Op::Call { args: a, variadic: va, attributes: aa, .. },
            Op::Call { args: b, variadic: vb, attributes: ab, .. },
        ) => a.len() == b.len() && va == vb && same_but_alignment(aa, ab),
        (Op::ExtractValue(_, a), Op::ExtractValue(_, b)) => a == b,
        (Op::InsertValue(_, _, a), Op::InsertValue(_, _, b)) => a == b,
        (Op::Shuffle(_, _, a), Op::Shuffle(_, _, b)) => a == b,
        (Op::AtomicUpdate(a, ..), Op::AtomicUpdate(b, ..)) => a == b,
        (Op::Alloca { .. } | Op::Phi(_), _) => false,
        _ => discriminant(a) == discriminant(b),
    }
}

/// Whether two calls have the same attributes, apart from alignment.
fn same_but_alignment(a: &CallAttributes, b: &CallAttributes) -> bool {
    a == b
        || a.memory == b.memory
            && a.noreturn == b.noreturn
            && a.params.len() == b.params.len()
            && a.params.iter().zip(&b.params).all(|(a, b)| {
                ParamAttributes { align: None, ..a.clone() } == ParamAttributes { align: None, ..b.clone() }
            })
}
