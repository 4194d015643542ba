//! The operands of instructions and terminators, and the successors of terminators, in the order of the text. Reading
//! and rewriting code walks the same lists.

use crate::ir::{BlockId, Op, Operand, Terminator};

/// The operands of an operation: first those in fields, then those in lists.
macro_rules! operands {
    ($op:expr, $iter:ident $(, $mut:tt)?) => {{
        let mut own: [Option<&$($mut)? Operand>; 3] = [None, None, None];
        let mut terms: &$($mut)? [(Operand, i64)] = Default::default();
        let mut args: &$($mut)? [Operand] = Default::default();
        let mut inputs: &$($mut)? [(Operand, BlockId)] = Default::default();
        match $op {
            Op::FNeg(a)
            | Op::Cast(_, a)
            | Op::Freeze(a)
            | Op::ExtractValue(a, _)
            | Op::Load { from: a, .. }
            | Op::Alloca { count: a, .. } => own = [Some(a), None, None],
            Op::Binary(_, a, b)
            | Op::Compare(_, a, b)
            | Op::FloatCompare(_, a, b)
            | Op::Store { value: a, to: b, .. }
            | Op::InsertValue(a, b, _)
            | Op::ExtractElement(a, b)
            | Op::Shuffle(a, b, _)
            | Op::AtomicUpdate(_, a, b) => own = [Some(a), Some(b), None],
            Op::Select(a, b, c) | Op::InsertElement(a, b, c) | Op::CompareExchange(a, b, c) => {
                own = [Some(a), Some(b), Some(c)];
            }
            Op::Address { base, terms: list, .. } => {
                own = [Some(base), None, None];
                terms = list;
            }
            Op::Call { callee, args: list, .. } => {
                own = [Some(callee), None, None];
                args = list;
            }
            Op::Phi(list) => inputs = list,
            Op::Fence => {}
        }
        own.into_iter()
            .flatten()
            .chain(terms.$iter().map(|(index, _)| index))
            .chain(args.$iter())
            .chain(inputs.$iter().map(|(input, _)| input))
    }};
}

/// The operand of a terminator, if it has one.
macro_rules! operand {
    ($terminator:expr, $as_ref:ident) => {
        match $terminator {
            Terminator::Return(operand) => operand.$as_ref(),
            Terminator::Branch(operand, ..) | Terminator::Switch(operand, ..) => Some(operand),
            Terminator::Jump(_) | Terminator::Unreachable => None,
        }
    };
}

/// The successors of a terminator: first those in fields, then those of cases.
macro_rules! successors {
    ($terminator:expr, $iter:ident $(, $mut:tt)?) => {{
        let mut own: [Option<&$($mut)? BlockId>; 2] = [None, None];
        let mut cases: &$($mut)? [(u128, BlockId)] = Default::default();
        match $terminator {
            Terminator::Jump(to) => own = [Some(to), None],
            Terminator::Branch(_, yes, no) => own = [Some(yes), Some(no)],
            Terminator::Switch(_, otherwise, list) => {
                own = [Some(otherwise), None];
                cases = list;
            }
            Terminator::Return(_) | Terminator::Unreachable => {}
        }
        own.into_iter().flatten().chain(cases.$iter().map(|(_, to)| to))
    }};
}

impl Op {
    /// The operands.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        operands!(self, iter)
    }

    /// The operands, mutable.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        operands!(self, iter_mut, mut)
    }
}

impl Terminator {
    /// The operand: the condition, the switched value or the returned value.
    pub fn operand(&self) -> Option<&Operand> {
        operand!(self, as_ref)
    }

    /// The operand, mutable.
    pub fn operand_mut(&mut self) -> Option<&mut Operand> {
        operand!(self, as_mut)
    }

    /// The successors, once for each edge.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> {
        successors!(self, iter).copied()
    }

    /// The successors, mutable.
    pub fn successors_mut(&mut self) -> impl Iterator<Item = &mut BlockId> {
        successors!(self, iter_mut, mut)
    }
}
