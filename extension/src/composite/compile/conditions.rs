//! Code of conditions: jumps, without a value unless one is wanted.

use super::assembler::Label;
use super::compiler::*;
use super::words::{constant_of, is_leaf};
use crate::bytecode::{Alu, Condition};
use crate::composite::helpers;
use crate::composite::tree::{Comparison, Expression, Kind, Operation};

impl Compiler {
    /// Puts the truth of a condition into r0, as 1 or 0.
    pub(super) fn truth(&mut self, condition: &Expression, waiting: usize) {
        let [no, done] = [(); 2].map(|()| self.assembler.label());
        self.jump_when(condition, false, no, waiting);
        self.number(R0, 1);
        self.assembler.jump(done);
        self.assembler.place(no);
        self.number(R0, 0);
        self.assembler.place(done);
    }

    /// Jumps to the label if the condition's truth is `holds`; else falls through.
    pub(super) fn jump_when(&mut self, condition: &Expression, holds: bool, label: Label, waiting: usize) {
        match condition {
            Expression::Boolean(it) => {
                if *it == holds {
                    self.assembler.jump(label);
                }
            }
            Expression::Apply(Operation::Not, operands, _) => {
                self.jump_when(&operands[0], !holds, label, waiting)
            }
            Expression::Apply(operation @ (Operation::And | Operation::Or), operands, _) => {
                // The left side decides alone: AND if it is FALSE, OR if it is TRUE.
                let decides = *operation == Operation::Or;
                if decides == holds {
                    self.jump_when(&operands[0], holds, label, waiting);
                    self.jump_when(&operands[1], holds, label, waiting);
                } else {
                    let on = self.assembler.label();
                    self.jump_when(&operands[0], decides, on, waiting);
                    self.jump_when(&operands[1], holds, label, waiting);
                    self.assembler.place(on);
                }
            }
            Expression::Apply(Operation::Compare(comparison, kind), operands, _) => {
                self.compare(*comparison, *kind, operands, holds, label, waiting)
            }
            other => {
                self.word(other, waiting);
                let is_so = if holds { Condition::NotEqual } else { Condition::Equal };
                self.jump_if(is_so, R0, 0, label);
            }
        }
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        kind: Kind,
        operands: &[Expression],
        holds: bool,
        label: Label,
        waiting: usize,
    ) {
        let [a, b] = operands else { unreachable!("checked: a comparison has two operands") };
        if kind == Kind::Word {
            let condition = condition_of(comparison, holds);
            if let Some(number) = constant_of(b).and_then(|it| i32::try_from(it).ok()) {
                self.word(a, waiting);
                return self.jump_if(condition, R0, number, label);
            }
            self.two(a, b, waiting);
            return self.jump_if(condition, R0, R1, label);
        }
        if kind == Kind::Real {
            self.two(a, b, waiting);
            self.copy(R2, R1);
            self.copy(R1, R0);
            self.helper(helpers::ORDER_OF_REALS);
        } else {
            debug_assert!(!is_leaf(a) || matches!(a, Expression::Variable(_)));
            let left = self.text(a, waiting);
            let right = self.text(b, waiting + left.waits());
            self.slot(R1, left);
            self.slot(R2, right);
            self.helper(helpers::ORDER_OF_TEXTS);
            self.drop(right);
            self.drop(left);
        }
        self.alu(Alu::And, R0, comparison.orders() as i32);
        let is_so = if holds { Condition::NotEqual } else { Condition::Equal };
        self.jump_if(is_so, R0, 0, label);
    }
}

fn condition_of(comparison: Comparison, holds: bool) -> Condition {
    match (comparison, holds) {
        (Comparison::Equal, true) | (Comparison::NotEqual, false) => Condition::Equal,
        (Comparison::NotEqual, true) | (Comparison::Equal, false) => Condition::NotEqual,
        (Comparison::Less, true) | (Comparison::GreaterEqual, false) => Condition::SignedLess,
        (Comparison::LessEqual, true) | (Comparison::Greater, false) => Condition::SignedLessOrEqual,
        (Comparison::Greater, true) | (Comparison::LessEqual, false) => Condition::SignedGreater,
        (Comparison::GreaterEqual, true) | (Comparison::Less, false) => Condition::SignedGreaterOrEqual,
    }
}
