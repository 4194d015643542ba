//! Short innermost loops with constant bounds are written out, once for each value of their variable: indices become
//! constants, and there is no counter and no jump left.

use drystone_language::program::{Block as Block_, *};

use super::Lower;
use crate::effects::acts;
use crate::mir::{Inst, RegType};
use crate::walk::{self, Visitor};

/// A loop of more iterations stays one.
const ITERATIONS: usize = 8;

/// Statements, expressions and places of all iterations, at most.
const LONGEST: usize = 512;

impl Lower<'_, '_> {
    /// Writes a FOR loop out; tells whether it has done so. What runs once is not worth its length.
    pub(super) fn unroll(
        &mut self,
        variable: &Place,
        [from, to, by]: [&Expression; 3],
        body: &Block_,
    ) -> bool {
        let PlaceKind::Variable(id) = variable.kind else { return false };
        if self.in_loop.is_none() || !self.is_in_register(id) {
            return false;
        }
        let Some(values) = values(from, to, by) else { return false };
        if !Straight::is(body, id, LONGEST / values.len()) {
            return false;
        }
        let counter = self.register_of(id);
        for &value in &values {
            let constant = self.reg(RegType::Int);
            self.inst(Inst::Int(constant, value));
            self.registers.insert(id, constant);
            self.block_of_statements(body);
        }
        self.registers.insert(id, counter);
        self.inst(Inst::Int(counter, values[values.len() - 1]));
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

/// Code without loops, waiting and procedures that leaves a variable as it is.
struct Straight {
    variable: VariableId,
    nodes: usize,
    is_straight: bool,
}

impl Straight {
    /// Whether a body is such code, and no longer than that.
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
            If(..) => true,
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
