//! Which expressions have side effects.

use drystone_language::program::{Expression, ExpressionKind};

use crate::walk::{self, Visitor};

/// Whether evaluating an expression may wait, or change anything that this process can see. (Other processes may run
/// while long texts are joined or compared, but what they may change is read under a lock only.)
pub fn has_effects(expression: &Expression) -> bool {
    struct Find(bool);
    impl Visitor for Find {
        fn expression(&mut self, e: &Expression) {
            self.0 |= acts(e);
        }
    }
    let mut find = Find(false);
    walk::expression(&mut find, expression);
    find.0
}

/// The same of an expression without its parts.
pub fn acts(expression: &Expression) -> bool {
    use ExpressionKind::*;
    matches!(expression.kind, Call(..) | ReceiveTest(..) | Input(..) | Await(..) | Locked(..) | Number(..))
}
