//! Unrolls short innermost FOR loops with constant bounds: indices become constants, and no counter and no jump is
//! left.

use drystone_language::program::{Block as Block_, *};

use super::Lower;
use crate::effects::acts;
use crate::mir::{Inst, RegType};
use crate::walk::{self, Visitor};

/// A loop with more iterations is not unrolled.
const ITERATIONS: usize = 8;

/// Statements, expressions and places of all iterations, at most.
const LONGEST: usize = 512;

impl Lower<'_, '_> {
    /// Unrolls a FOR loop; gives whether it has done so. A loop that is in no other one is not worth it.
    pub(super) fn unroll(
        &mut self,
        variable: &Place,
        [from, to, by]: [&Expression; 3],
        body: &Block_,
    ) -> bool {
        let PlaceKind::Variable(id) = variable.kind else { return false };
        if !self.code.is_in_loop() || !self.scope.is_in_register(self.unit, id) {
            return false;
        }
        let Some(values) = values(from, to, by) else { return false };
        if !Straight::is(body, id, LONGEST / values.len()) {
            return false;
        }
        let counter = self.scope.register_of(self.unit, &mut self.code, id);
        for &value in &values {
            let constant = self.code.reg(RegType::Int);
            self.code.inst(Inst::Int(constant, value));
            self.scope.registers.insert(id, constant);
            self.block_of_statements(body);
        }
        self.scope.registers.insert(id, counter);
        self.code.inst(Inst::Int(counter, values[values.len() - 1]));
        true
    }
}

/// The values of a loop's variable, if they are known and few; there is one at least.
fn values(from: &Expression, to: &Expression, by: &Expression) -> Option<Vec<i64>> {
    let [Some(from), Some(to), Some(by)] = [from, to, by].map(constant) else { return None };
    let is_past = |value: i64| if by > 0 { value > to } else { value < to };
    let mut values = Vec::new();
    let mut next = Some(from);
    while let Some(value) = next.filter(|&value| !is_past(value)) {
        if by == 0 || values.len() == ITERATIONS {
            return None;
        }
        values.push(value);
        next = value.checked_add(by);
    }
    (!values.is_empty()).then_some(values)
}

fn constant(expression: &Expression) -> Option<i64> {
    if let ExpressionKind::Integer(value) = expression.kind { Some(value) } else { None }
}

/// Checks that code has no loops, waits and calls, and does not assign the loop's variable.
struct Straight {
    variable: VariableId,
    nodes: usize,
    is_straight: bool,
}

impl Straight {
    /// Whether a body is such code and has so many nodes at most.
    fn is(body: &Block_, variable: VariableId, longest: usize) -> bool {
        let mut straight = Straight { variable, nodes: 0, is_straight: true };
        walk::block(&mut straight, body);
        straight.is_straight && straight.nodes <= longest
    }
}

impl Visitor for Straight {
    fn block(&mut self, block: &Block_) {
        self.is_straight &= block.lock.is_none();
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        self.nodes += 1;
        self.is_straight &= match &statement.kind {
            Assign(to, _) | Increase(to, _) | Decrease(to, _) => {
                !matches!(to.kind, PlaceKind::Variable(id) if id == self.variable)
            }
            If(..) | Case(..) => true,
            _ => false,
        };
    }

    fn expression(&mut self, expression: &Expression) {
        self.nodes += 1;
        self.is_straight &= !acts(expression);
    }

    fn place(&mut self, _: &Place) {
        self.nodes += 1;
    }
}
