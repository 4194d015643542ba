//! Constants: evaluated when first needed, so that they may refer to later ones, each once.

use crate::program::{Expression, ExpressionKind};
use crate::source::Diagnostic;

use super::body::{BodyChecker, Constant, Context};
use super::conversions::is_literal;
use super::symbols::ConstantId;

impl BodyChecker<'_> {
    /// Evaluates all constants, needed or not.
    pub(super) fn evaluate_constants(&mut self) {
        for index in 0..self.known.declared.constants.len() {
            self.constant_value(ConstantId(index));
        }
    }

    /// The value of a constant.
    pub(super) fn constant_value(&mut self, id: ConstantId) -> Option<ExpressionKind> {
        let declared = &self.known.declared.constants[id.0];
        let tree = declared.tree;
        let constant = self.constant(id);
        match constant {
            Constant::Known(value) => return value.clone(),
            Constant::Running => {
                let message = format!("constant {} is defined by itself", tree.name.text);
                let error = Diagnostic::new("constant-cycle", tree.name.span, message);
                let label = "its value needs its own value";
                self.report(error.label(label).help("give one of the constants in the cycle a value"));
                return None;
            }
            Constant::New => *constant = Constant::Running,
        }
        let context = Context { scope: declared.scope, ..Context::default() };
        let (value, _) = self.elsewhere(context, |checker| checker.expression(&tree.value));
        let value = value.and_then(|value| self.literal_only(value));
        *self.constant(id) = Constant::Known(value.clone());
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
