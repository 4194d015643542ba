//! Resolves names. Reports a name that means nothing where it stands, with a guess what was meant.

use crate::ast::Name;
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::habits::instead_of;
use super::scopes::Found;
use super::similar::similar;
use super::symbols::{ScopeId, Symbol};

/// Names that have a meaning in the grammar.
const OTHERS: [&str; 9] =
    ["NEW", "DELETE", "MOVE", "CONNECT", "DISCONNECT", "EXPORT", "AWAIT", "EXISTS", "INPUT"];

impl Definitions<'_> {
    /// What a name means; an error if nothing.
    pub(super) fn symbol(
        &self,
        scope: ScopeId,
        name: &Name,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Symbol, Span)> {
        match self.scopes.lookup(scope, name) {
            Found::Symbol(symbol, span) => return Some((symbol, span)),
            Found::Lost => (),
            Found::Hidden(symbol, span) => {
                let error = Diagnostic::new(
                    "outside-component",
                    name.span,
                    format!("{} belongs to a component around this one and cannot be used here", name.text),
                );
                diagnostics.report(
                    error
                        .label("of another component")
                        .note(span, format!("{} of the surrounding component", symbol.describe()))
                        .help("components share nothing: send a message, or make it a CONSTANT"),
                );
            }
            Found::Nothing if let Some((_, declared)) = self.scopes.find_interface(scope, name) => {
                let error = Diagnostic::new(
                    "interface-as-value",
                    name.span,
                    format!("{} is an interface, which is neither a value nor a type", name.text),
                );
                diagnostics.report(
                    error
                        .label("an interface")
                        .note(declared, "declared here")
                        .help("talk over it: I(x)!M, I(x)?M, INPUT(I(x), M); a type that offers it: ANY(I)"),
                );
            }
            Found::Nothing if !diagnostics.is_first_unknown(scope, name) => (),
            Found::Nothing => {
                let message = format!("{} is not declared", name.text);
                let error = Diagnostic::new("unknown-name", name.span, message).label("not known here");
                let visible = self.scopes.visible(scope, name).into_iter().chain(OTHERS);
                diagnostics.report(match self.instead(scope, name, visible) {
                    Some(help) => error.help(help),
                    None => error,
                });
            }
        }
        None
    }

    /// What may be meant by a name that means nothing, if anything is close.
    fn instead<'n>(
        &self,
        scope: ScopeId,
        name: &Name,
        visible: impl IntoIterator<Item = &'n str>,
    ) -> Option<String> {
        if let Some((import, _)) = name.qualified()
            && self.scopes.is_unknown_import(name, import)
        {
            let variable = Name { text: import.to_string(), span: name.span };
            if let Found::Symbol(Symbol::Variable(id), _) = self.scopes.lookup(scope, &variable) {
                if !self.gaps.variables.contains(&id) && !self.program.variables[id.index()].ty.is_component()
                {
                    let help = instead_of(name.last());
                    return Some(
                        help.unwrap_or("a value has no parts: a procedure is given it, P(x)").into(),
                    );
                }
                return Some(format!("what is in a component is reached by messages: {import}!Message"));
            }
            if let Some(help) = instead_of(import) {
                return Some(help.into());
            }
            return Some(format!("to use what {import}.dry declares, begin the file with IMPORT {import};"));
        }
        if let Some(imported) = self.scopes.imported_as(name) {
            return Some(format!("it is declared in an imported file: {imported}"));
        }
        let import = name.qualified().map_or(String::new(), |(import, _)| format!("{import}."));
        let meant = similar(name.last(), visible).map(|similar| format!("did you mean {import}{similar}?"));
        instead_of(&name.text).map(str::to_string).or(meant)
    }

    /// Reports an interface name that means nothing.
    pub(super) fn unknown_interface(&self, scope: ScopeId, name: &Name, diagnostics: &mut Diagnostics) {
        if matches!(self.scopes.lookup(scope, name), Found::Lost) {
            return;
        }
        let help = match self.instead(scope, name, self.scopes.visible_interfaces(scope, name)) {
            Some(help) => help,
            None => format!("declare it: INTERFACE {0}; ... END {0};", name.last()),
        };
        let message = format!("there is no interface {}", name.text);
        let error = Diagnostic::new("unknown-interface", name.span, message).label("not declared");
        diagnostics.report(error.help(help));
    }
}
