//! Which variables stay unread and unchanged, from outside, while expressions are evaluated: no procedure that they
//! call and no other process touches them.
//!
//! # Why this is sound
//! A variable is reached by its name, in its own procedure and those nested in it, or by a `VARIABLE` parameter. A
//! variable of the evaluating procedure that is not passed there can only be reached by nested procedures: a recursive
//! call of the procedure has a variable of its own. A variable of a component may have been passed earlier by any code;
//! and other processes may change it where the component's lock is released, which AWAIT does.

use std::collections::HashSet;

use drystone_language::program::*;

use crate::walk::{self, Visitor};

/// The variables that each procedure uses.
pub struct Reaching {
    procedures: Vec<Uses>,
    /// Variables that are passed under another name anywhere.
    passed: HashSet<VariableId>,
}

/// What a body or procedure does itself, without its callees.
#[derive(Default)]
struct Uses {
    variables: HashSet<VariableId>,
    /// Variables that are passed, or set by `NUMBER`.
    passed: HashSet<VariableId>,
    calls: Vec<ProcedureId>,
    /// It does more than compute and call procedures.
    waits: bool,
}

impl Reaching {
    /// Looks at all code.
    pub fn of(program: &Program) -> Reaching {
        let uses = |block: &Block| {
            let mut uses = Uses::default();
            walk::block(&mut uses, block);
            uses
        };
        let procedures: Vec<Uses> =
            program.procedures.iter().map(|procedure| uses(&procedure.body)).collect();
        let mut passed: HashSet<_> = procedures.iter().flat_map(|uses| &uses.passed).copied().collect();
        for component in &program.components {
            component.blocks().for_each(|block| passed.extend(uses(block).passed));
        }
        Reaching { procedures, passed }
    }

    /// Whether only these expressions themselves read a variable, and nothing changes it, while a procedure (or a body)
    /// evaluates them. `awaits` says whether a procedure or one of its callees contains an AWAIT.
    pub fn is_out_of_reach(
        &self,
        program: &Program,
        variable: VariableId,
        evaluated_by: Option<ProcedureId>,
        expressions: &[&Expression],
        awaits: impl Fn(ProcedureId) -> bool,
    ) -> bool {
        let mut own = Uses::default();
        expressions.iter().for_each(|expression| walk::expression(&mut own, expression));
        let Variable { owner, parameter, .. } = program.variables[variable.index()];
        let called = self.called(&own.calls);
        let is_used = |id: &ProcedureId| self.procedures[id.index()].variables.contains(&variable);
        if own.passed.contains(&variable) || parameter == Some(Passing::Reference) {
            return false;
        }
        if evaluated_by.is_some_and(|id| owner == Owner::Procedure(id)) {
            return !called.iter().any(|id| owner != Owner::Procedure(*id) && is_used(id));
        }
        let may_change = own.waits || self.passed.contains(&variable) || called.iter().any(|id| awaits(*id));
        !may_change && !called.iter().any(is_used)
    }

    /// These procedures and all that they call.
    fn called(&self, first: &[ProcedureId]) -> HashSet<ProcedureId> {
        let mut open = first.to_vec();
        let mut called = HashSet::new();
        while let Some(id) = open.pop() {
            if called.insert(id) {
                open.extend(&self.procedures[id.index()].calls);
            }
        }
        called
    }
}

impl Visitor for Uses {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Call(procedure, _) = statement.kind {
            self.calls.push(procedure);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        match &expression.kind {
            Call(procedure, _) => self.calls.push(*procedure),
            Number(_, place) => self.reference(place),
            ReceiveTest(..) | Input(..) | Await(..) | Locked(..) => self.waits = true,
            _ => {}
        }
    }

    fn place(&mut self, place: &Place) {
        if let PlaceKind::Variable(variable) | PlaceKind::Character(variable, _) = place.kind {
            self.variables.insert(variable);
        }
    }

    fn reference(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(variable) | PlaceKind::Character(variable, _) => {
                self.passed.insert(*variable);
            }
            PlaceKind::Field(inner, _) | PlaceKind::Item(inner, _) => self.reference(inner),
            PlaceKind::Element(..) | PlaceKind::Guarded(_) => {}
        }
    }
}
