//! What holds of every body that is read, whatever the text said, so that others may rely on it: phis stand first in
//! their blocks and know exactly the blocks that control comes from, nothing jumps to the entry, and operations get
//! operands of the types that they are for. Types that are spelled twice were compared when they were read. Whether
//! values are computed before they are used is not checked.

use crate::ir::{Binary, BlockId, Body, Cast, Op, Operand, Type};

/// Whether a body is in order; else what is not.
pub(super) fn body(body: &Body) -> Result<(), String> {
    let mut comes_from = body.predecessors();
    if comes_from.first().is_some_and(|from| !from.is_empty()) {
        return Err("nothing may jump to the first block".into());
    }
    for (block, from) in body.blocks.iter().zip(&mut comes_from) {
        from.sort_unstable();
        let mut after_phis = false;
        for instruction in &block.instructions {
            let Op::Phi(incoming) = &instruction.op else {
                after_phis = true;
                operands(body, &instruction.op, &instruction.ty)?;
                continue;
            };
            if after_phis {
                return Err("phis stand first in a block".into());
            }
            let mut named: Vec<BlockId> = incoming.iter().map(|(_, from)| *from).collect();
            named.sort_unstable();
            if named != *from {
                return Err("a phi has one value for each way that control comes from".into());
            }
        }
    }
    Ok(())
}

/// What a type is, or what the elements of a vector are.
fn element(ty: &Type) -> &Type {
    match ty {
        Type::Vector(_, element) => element,
        _ => ty,
    }
}

fn is_int(ty: &Type) -> bool {
    matches!(element(ty), Type::Int(_))
}

fn is_float(ty: &Type) -> bool {
    matches!(element(ty), Type::Float | Type::Double)
}

fn is_ptr(ty: &Type) -> bool {
    matches!(element(ty), Type::Ptr)
}

fn operands(body: &Body, op: &Op, ty: &Type) -> Result<(), String> {
    let of = |operand: &Operand| body.type_of(operand);
    let good = match op {
        Op::Binary(operation, ..) => match operation {
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::FRem => is_float(ty),
            _ => is_int(ty),
        },
        Op::FNeg(_) => is_float(ty),
        Op::Compare(_, a, _) => is_int(&of(a)) || is_ptr(&of(a)),
        Op::FloatCompare(_, a, _) => is_float(&of(a)),
        Op::Cast(cast, from) => conversion(*cast, &of(from), ty),
        Op::Select(condition, ..) => *element(&of(condition)) == Type::Int(1) && *ty != Type::Void,
        Op::Freeze(_) | Op::Load { .. } => *ty != Type::Void,
        Op::Store { value, .. } => of(value) != Type::Void,
        Op::Alloca { count, .. } => matches!(of(count), Type::Int(_)),
        Op::Address { base, terms, .. } => {
            is_ptr(&of(base)) && terms.iter().all(|(index, _)| is_int(&of(index)))
        }
        Op::Call { args, .. } => args.iter().all(|arg| of(arg) != Type::Void),
        Op::ExtractElement(_, index) | Op::InsertElement(_, _, index) => matches!(of(index), Type::Int(_)),
        Op::AtomicUpdate(..) => ty.is_scalar(),
        Op::CompareExchange(_, expected, _) => of(expected).is_scalar(),
        Op::Phi(_) | Op::ExtractValue(..) | Op::InsertValue(..) | Op::Shuffle(..) | Op::Fence => true,
    };
    if good { Ok(()) } else { Err(format!("operands of a type that this is not for: {op:?}")) }
}

fn conversion(cast: Cast, from: &Type, to: &Type) -> bool {
    let count = |ty: &Type| if let Type::Vector(count, _) = ty { Some(*count) } else { None };
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
            let bits = |ty: &Type| element(ty).bits() * u64::from(count(ty).unwrap_or(1));
            return (element(from).is_scalar() && element(to).is_scalar() && bits(from) == bits(to))
                && is_ptr(from) == is_ptr(to);
        }
    };
    kinds && count(from) == count(to)
}
