//! All operands of an instruction, one after the other, for those who change them alike.

use crate::ir::{Op, Operand, Terminator};

/// Shows all operands of an instruction, in their order.
pub(crate) fn of_op(op: &mut Op, see: &mut dyn FnMut(&mut Operand)) {
    match op {
        Op::FNeg(a) | Op::Cast(_, a) | Op::Freeze(a) | Op::ExtractValue(a, _) => see(a),
        Op::Load { from: a, .. } | Op::Alloca { count: a, .. } => see(a),
        Op::Binary(_, a, b)
        | Op::Compare(_, a, b)
        | Op::FloatCompare(_, a, b)
        | Op::Store { value: a, to: b, .. }
        | Op::InsertValue(a, b, _)
        | Op::ExtractElement(a, b)
        | Op::Shuffle(a, b, _)
        | Op::AtomicUpdate(_, a, b) => {
            see(a);
            see(b);
        }
        Op::Select(a, b, c) | Op::InsertElement(a, b, c) | Op::CompareExchange(a, b, c) => {
            see(a);
            see(b);
            see(c);
        }
        Op::Address { base, terms, .. } => {
            see(base);
            terms.iter_mut().for_each(|(index, _)| see(index));
        }
        Op::Call { callee, args, .. } => {
            see(callee);
            args.iter_mut().for_each(see);
        }
        Op::Phi(incoming) => incoming.iter_mut().for_each(|(value, _)| see(value)),
        Op::Fence => {}
    }
}

/// Shows the operand of a terminator, if it has one.
pub(crate) fn of_terminator(terminator: &mut Terminator, see: &mut dyn FnMut(&mut Operand)) {
    match terminator {
        Terminator::Return(Some(operand))
        | Terminator::Branch(operand, ..)
        | Terminator::Switch(operand, ..) => see(operand),
        Terminator::Return(None) | Terminator::Jump(_) | Terminator::Unreachable => {}
    }
}
