//! The procedures that crates carry for a program (`PROCEDURE {NATIVE}`).

use std::collections::BTreeSet;

use drystone_component as model;
use drystone_language::program::*;
use drystone_language::source::Span;

use crate::descriptors::model_type;
use crate::walk::{self, Visitor};

/// A procedure that a program calls, and a crate must carry.
pub struct Carried {
    /// Its name, with that of its file before it: `Hash.Sha256`.
    pub name: String,
    /// Its parameters, and then its result if it has one.
    pub signature: Vec<model::Formal>,
    /// Where it is declared.
    pub span: Span,
}

/// Those that a program calls.
pub fn carried(program: &Program) -> Vec<Carried> {
    let mut called = Called::default();
    let components = program.components.iter().flat_map(|component| component.blocks());
    let procedures = program.procedures.iter().map(|procedure| &procedure.body);
    components.chain(procedures).for_each(|block| walk::block(&mut called, block));
    let called = called.0.into_iter().map(|id| &program.procedures[id.index()]);
    let found = called.filter_map(|procedure| {
        let name = procedure.native.clone()?;
        Some(Carried { name, signature: signature(program, procedure), span: procedure.span })
    });
    found.collect()
}

/// Its parameters and its result.
pub(crate) fn signature(program: &Program, procedure: &Procedure) -> Vec<model::Formal> {
    let formal = |ty, passing| model::Formal { ty: model_type(ty), passing };
    let parameters = procedure.parameters.iter().map(|id| &program.variables[id.index()]);
    let parameters = parameters.map(|variable| match variable.parameter {
        Some(Passing::Reference) => formal(&variable.ty, model::Passing::Variable),
        _ => formal(&variable.ty, model::Passing::Value),
    });
    let result = procedure.result.iter().map(|ty| formal(ty, model::Passing::Result));
    parameters.chain(result).collect()
}

#[derive(Default)]
struct Called(BTreeSet<ProcedureId>);

impl Visitor for Called {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Call(procedure, _) = statement.kind {
            self.0.insert(procedure);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Call(procedure, _) = expression.kind {
            self.0.insert(procedure);
        }
    }
}
