//! A body that has been located, and that is read when it is first asked for.

use super::excerpt::{excerpt, line};
use super::scope::Scope;
use super::{body, parameters};
use crate::ir::{Body, Function, Source, Unsupported};
use std::fmt;
use std::rc::Rc;

/// The text of a function's body.
pub(super) struct UnreadBody {
    pub(super) scope: Rc<Scope>,
    /// The position of the body's opening brace.
    pub(super) start: usize,
}

impl fmt::Debug for UnreadBody {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "UnreadBody({}:{})", self.scope.file.name, line(&self.scope.file.text, self.start))
    }
}

impl Source for UnreadBody {
    fn read(&self, function: &Function) -> Result<Body, Unsupported> {
        let file = &self.scope.file;
        body::read(function, &self.scope, self.start).map_err(|fail| Unsupported {
            function: function.name.clone(),
            file: file.name.clone(),
            line: line(&file.text, fail.at),
            what: fail.what,
            excerpt: excerpt(&file.text, fail.at),
        })
    }

    fn parameter_names(&self) -> Vec<(usize, String)> {
        parameters::in_source(&self.scope.file.text, self.start)
    }
}
