//! Constants: evaluated when first needed, so that they may refer to later ones, each once.

use crate::ast;
use crate::program::{Expression, ExpressionKind};
use crate::source::Diagnostic;

use super::Checker;
use super::Context;
use super::conversions::is_literal;
use super::scopes::{ConstantId, ScopeId};

/// A declared constant.
pub(super) struct Constant<'a> {
    tree: &'a ast::Constant,
    pub(super) scope: ScopeId,
    /// Something mentions it.
    pub(super) used: bool,
    pub(super) state: ConstantState,
}

/// How far its evaluation is.
pub(super) enum ConstantState {
    /// Not begun.
    New,
    /// It is needed for its own value, unless this ends first.
    Running,
    /// Done; `None` if its value could not be made out.
    Known(Option<ExpressionKind>),
}

impl<'a> Constant<'a> {
    pub(super) fn new(tree: &'a ast::Constant, scope: ScopeId) -> Self {
        Constant { tree, scope, used: false, state: ConstantState::New }
    }

    /// Its name, where it is declared.
    pub(super) fn name(&self) -> &'a ast::Name {
        &self.tree.name
    }
}

impl<'a> Checker<'a> {
    /// Evaluates all constants, needed or not.
    pub(super) fn evaluate_constants(&mut self) {
        for index in 0..self.constants.len() {
            self.constant_value(ConstantId(index));
        }
    }

    /// The value of a constant.
    pub(super) fn constant_value(&mut self, id: ConstantId) -> Option<ExpressionKind> {
        let constant = &mut self.constants[id.0];
        let tree = constant.tree;
        match &constant.state {
            ConstantState::Known(value) => return value.clone(),
            ConstantState::Running => {
                let message = format!("constant {} is defined by itself", tree.name.text);
                let error = Diagnostic::new("constant-cycle", tree.name.span, message);
                let label = "its value needs its own value";
                self.report(error.label(label).help("give one of the constants in the cycle a value"));
                return None;
            }
            ConstantState::New => constant.state = ConstantState::Running,
        }
        let context = Context { scope: constant.scope, ..Context::default() };
        let (value, _) = self.elsewhere(context, |checker| checker.expression(&tree.value));
        let value = value.and_then(|value| self.literal_only(value));
        self.constants[id.0].state = ConstantState::Known(value.clone());
        value
    }

    fn literal_only(&mut self, value: Expression) -> Option<ExpressionKind> {
        if is_literal(&value) {
            return Some(value.kind);
        }
        let error = Diagnostic::new("not-constant", value.span, "this is not a constant expression");
        let help = "a constant is made of literals, other constants and operators; else use a VARIABLE";
        self.report(error.label("known only when the program runs").help(help));
        None
    }
}
