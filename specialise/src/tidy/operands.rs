//! The operands of instructions and terminators, in the order in which they are written; what two instructions share
//! when their operands are left out of account.

use crate::ir::{BlockId, Const, Op, Operand, Terminator};
use std::mem::discriminant;

/// Shows every operand to `see`.
pub(crate) fn each<'a>(op: &'a Op, mut see: impl FnMut(&'a Operand)) {
    match op {
        Op::Binary(_, a, b)
        | Op::Compare(_, a, b)
        | Op::FloatCompare(_, a, b)
        | Op::InsertValue(a, b, _)
        | Op::ExtractElement(a, b)
        | Op::Shuffle(a, b, _)
        | Op::AtomicUpdate(_, a, b) => [a, b].into_iter().for_each(see),
        Op::FNeg(a) | Op::Cast(_, a) | Op::Freeze(a) | Op::ExtractValue(a, _) => see(a),
        Op::Select(a, b, c) | Op::InsertElement(a, b, c) | Op::CompareExchange(a, b, c) => {
            [a, b, c].into_iter().for_each(see);
        }
        Op::Load { from, .. } => see(from),
        Op::Store { value, to, .. } => [value, to].into_iter().for_each(see),
        Op::Alloca { count, .. } => see(count),
        Op::Address { base, terms, .. } => {
            see(base);
            terms.iter().for_each(|(index, _)| see(index));
        }
        Op::Call { callee, args, .. } => {
            see(callee);
            args.iter().for_each(see);
        }
        Op::Phi(inputs) => inputs.iter().for_each(|(input, _)| see(input)),
        Op::Fence => {}
    }
}

/// Lets `change` rewrite every operand.
pub(crate) fn each_mut(op: &mut Op, mut change: impl FnMut(&mut Operand)) {
    match op {
        Op::Binary(_, a, b)
        | Op::Compare(_, a, b)
        | Op::FloatCompare(_, a, b)
        | Op::InsertValue(a, b, _)
        | Op::ExtractElement(a, b)
        | Op::Shuffle(a, b, _)
        | Op::AtomicUpdate(_, a, b) => [a, b].into_iter().for_each(change),
        Op::FNeg(a) | Op::Cast(_, a) | Op::Freeze(a) | Op::ExtractValue(a, _) => change(a),
        Op::Select(a, b, c) | Op::InsertElement(a, b, c) | Op::CompareExchange(a, b, c) => {
            [a, b, c].into_iter().for_each(change);
        }
        Op::Load { from, .. } => change(from),
        Op::Store { value, to, .. } => [value, to].into_iter().for_each(change),
        Op::Alloca { count, .. } => change(count),
        Op::Address { base, terms, .. } => {
            change(base);
            terms.iter_mut().for_each(|(index, _)| change(index));
        }
        Op::Call { callee, args, .. } => {
            change(callee);
            args.iter_mut().for_each(change);
        }
        Op::Phi(inputs) => inputs.iter_mut().for_each(|(input, _)| change(input)),
        Op::Fence => {}
    }
}

/// The operand of a terminator, if it has one.
pub(crate) fn of_terminator(terminator: &Terminator) -> Option<&Operand> {
    match terminator {
        Terminator::Return(operand) => operand.as_ref(),
        Terminator::Branch(operand, ..) | Terminator::Switch(operand, ..) => Some(operand),
        Terminator::Jump(_) | Terminator::Unreachable => None,
    }
}

/// The operand of a terminator, to be rewritten.
pub(crate) fn of_terminator_mut(terminator: &mut Terminator) -> Option<&mut Operand> {
    match terminator {
        Terminator::Return(operand) => operand.as_mut(),
        Terminator::Branch(operand, ..) | Terminator::Switch(operand, ..) => Some(operand),
        Terminator::Jump(_) | Terminator::Unreachable => None,
    }
}

/// Shows every block that a terminator may go on in to `see`, as often as it is named.
pub(crate) fn successors(terminator: &Terminator, mut see: impl FnMut(BlockId)) {
    match terminator {
        Terminator::Jump(to) => see(*to),
        Terminator::Branch(_, then, other) => [*then, *other].into_iter().for_each(see),
        Terminator::Switch(_, other, cases) => {
            see(*other);
            cases.iter().for_each(|(_, to)| see(*to));
        }
        Terminator::Return(_) | Terminator::Unreachable => {}
    }
}

/// Lets `change` rewrite every block that a terminator may go on in.
pub(crate) fn successors_mut(terminator: &mut Terminator, mut change: impl FnMut(&mut BlockId)) {
    match terminator {
        Terminator::Jump(to) => change(to),
        Terminator::Branch(_, then, other) => [then, other].into_iter().for_each(change),
        Terminator::Switch(_, other, cases) => {
            change(other);
            cases.iter_mut().for_each(|(_, to)| change(to));
        }
        Terminator::Return(_) | Terminator::Unreachable => {}
    }
}

/// Whether two instructions do the same to their operands, however aligned these are.
pub(crate) fn alike(a: &Op, b: &Op) -> bool {
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

/// Whether two calls say the same of their arguments, alignment left aside.
fn same_but_alignment(a: &crate::ir::CallAttributes, b: &crate::ir::CallAttributes) -> bool {
    a == b
        || a.memory == b.memory
            && a.noreturn == b.noreturn
            && a.params.len() == b.params.len()
            && a.params.iter().zip(&b.params).all(|(a, b)| {
                crate::ir::ParamAttributes { align: None, ..a.clone() }
                    == crate::ir::ParamAttributes { align: None, ..b.clone() }
            })
}

/// The integer that an operand is known to be, zero-extended.
pub(crate) fn known(operand: &Operand) -> Option<u128> {
    match operand {
        Operand::Const(Const::Int { value, .. }) => Some(*value),
        Operand::Const(Const::Zero(crate::ir::Type::Int(_))) => Some(0),
        _ => None,
    }
}
