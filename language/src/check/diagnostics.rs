//! Collects the errors of a check. Files of the checker add errors here; none can change or remove an earlier one,
//! except to replace its help ([`Diagnostics::explain`]).

use std::collections::HashSet;

use crate::ast::Name;
use crate::source::{Diagnostic, Span};

use super::symbols::ScopeId;

/// The errors so far.
#[derive(Default)]
pub(super) struct Diagnostics {
    errors: Vec<Diagnostic>,
    /// Names that were reported as unknown.
    unknown_names: HashSet<(ScopeId, String)>,
}

impl Diagnostics {
    /// Starts with what the parser reported.
    pub(super) fn new(errors: Vec<Diagnostic>) -> Self {
        Diagnostics { errors, unknown_names: HashSet::new() }
    }

    /// Adds an error.
    pub(super) fn report(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// Adds several errors.
    pub(super) fn extend(&mut self, errors: impl IntoIterator<Item = Diagnostic>) {
        self.errors.extend(errors);
    }

    /// The number of errors so far: a mark for [`Diagnostics::explain`].
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The marked places of all errors.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        self.errors.iter().map(|error| error.span)
    }

    /// Whether an error of this code was reported.
    pub(super) fn contains(&self, code: &str) -> bool {
        self.errors.iter().any(|error| error.code == code)
    }

    /// All errors, in the order in which they were reported.
    pub(super) fn into_errors(self) -> Vec<Diagnostic> {
        self.errors
    }

    /// Replaces the help of the only error since `mark`, if it has this code: the caller knows more of the context.
    pub(super) fn explain(&mut self, mark: usize, code: &str, help: &str) {
        if let [error] = &mut self.errors[mark..]
            && error.code == code
        {
            error.help = Some(help.into());
        }
    }

    /// Whether this name is unknown for the first time in this scope. An undeclared name is reported once for each
    /// scope that uses it.
    pub(super) fn is_first_unknown(&mut self, scope: ScopeId, name: &Name) -> bool {
        self.unknown_names.insert((scope, name.text.clone()))
    }

    /// Reports a name that is declared twice.
    pub(super) fn duplicate(&mut self, name: &Name, earlier: Span, note: String) {
        let message = format!("{} is declared twice in the same scope", name.text);
        let error = Diagnostic::new("duplicate-declaration", name.span, message);
        self.report(error.label("declared again").note(earlier, note).help("give one of them another name"));
    }

    /// Reports an attribute that means nothing where it stands.
    pub(super) fn unknown_attribute(&mut self, attribute: &Name, help: &str) {
        let message = format!("attribute {} means nothing here", attribute.text);
        let error = Diagnostic::new("unknown-attribute", attribute.span, message);
        let is_small = attribute.text.contains(|letter: char| letter.is_ascii_lowercase());
        let capitals = if is_small { "attributes are in capitals: " } else { "" };
        self.report(error.label("unknown").help(format!("{capitals}{help}")));
    }
}
