//! What a name means where it stands, and what may be meant by one that means nothing. Inner names hide outer ones;
//! from an inner component the variables and procedures around it are not seen.

use std::cmp::Reverse;

use crate::ast::Name;
use crate::source::{Diagnostic, Span};

use super::Checker;
use super::habits::instead_of;
use super::imports::Qualified;
use super::scopes::{Found, InterfaceDeclaration, Scope, ScopeId, Symbol};

/// What the grammar knows by name.
const OTHERS: [&str; 9] =
    ["NEW", "DELETE", "MOVE", "CONNECT", "DISCONNECT", "EXPORT", "AWAIT", "EXISTS", "INPUT"];

impl<'a> Checker<'a> {
    /// What a name means in a scope.
    pub(super) fn lookup(&self, scope: ScopeId, name: &Name) -> Found {
        if let Some((import, name_there)) = name.qualified() {
            return match self.qualified(name, import) {
                Qualified::In(scope) => scope.find(name_there),
                Qualified::Missing => Found::Lost,
                Qualified::Unknown => Found::Nothing,
            };
        }
        let mut hidden = None;
        let mut outside = false;
        let mut next = Some(scope);
        while let Some(scope) = next.map(|id| &self.scopes[id.0]) {
            match scope.find(&name.text) {
                Found::Symbol(symbol, span) if outside && symbol.is_private() && !scope.is_outermost() => {
                    hidden.get_or_insert((symbol, span));
                }
                Found::Nothing => {}
                found => return found,
            }
            outside |= scope.of_component;
            next = scope.parent;
        }
        hidden.map_or(Found::Nothing, |(symbol, span)| Found::Hidden(symbol, span))
    }

    /// What a name means; an error if nothing.
    pub(super) fn symbol(&mut self, scope: ScopeId, name: &Name) -> Option<(Symbol, Span)> {
        match self.lookup(scope, name) {
            Found::Symbol(symbol, span) => return Some((symbol, span)),
            Found::Lost => (),
            Found::Hidden(symbol, span) => {
                let error = Diagnostic::new(
                    "outside-component",
                    name.span,
                    format!("{} belongs to a component around this one and cannot be used here", name.text),
                );
                self.report(
                    error
                        .label("of another component")
                        .note(span, format!("{} of the surrounding component", symbol.describe()))
                        .help("components share nothing: send a message, or make it a CONSTANT"),
                );
            }
            Found::Nothing if let Some((_, declared)) = self.find_interface(scope, name) => {
                let error = Diagnostic::new(
                    "interface-as-value",
                    name.span,
                    format!("{} is an interface, which is neither a value nor a type", name.text),
                );
                self.report(
                    error
                        .label("an interface")
                        .note(declared, "declared here")
                        .help("talk over it: I(x)!M, I(x)?M, INPUT(I(x), M); a type that offers it: ANY(I)"),
                );
            }
            // A name that someone forgot to declare is reported once for each scope that uses it.
            Found::Nothing if !self.unknown_names.insert((scope, name.text.clone())) => (),
            Found::Nothing => {
                let message = format!("{} is not declared", name.text);
                let error = Diagnostic::new("unknown-name", name.span, message).label("not known here");
                let error =
                    match self.instead(scope, name, self.visible(scope, name).into_iter().chain(OTHERS)) {
                        Some(help) => error.help(help),
                        None => error,
                    };
                self.report(error);
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
            && let Qualified::Unknown = self.qualified(name, import)
        {
            let variable = Name { text: import.to_string(), span: name.span };
            if let Found::Symbol(Symbol::Variable(id), _) = self.lookup(scope, &variable) {
                if !self.untyped_variables.contains(&id)
                    && !self.program.variables[id.index()].ty.is_component()
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
        if let Some(imported) = self.imported_as(name) {
            return Some(format!("it is declared in an imported file: {imported}"));
        }
        let import = name.qualified().map_or(String::new(), |(import, _)| format!("{import}."));
        let meant = similar(name.last(), visible).map(|similar| format!("did you mean {import}{similar}?"));
        instead_of(&name.text).map(str::to_string).or(meant)
    }

    /// The declaration of an interface by name.
    pub(super) fn find_interface(&self, scope: ScopeId, name: &Name) -> Option<(InterfaceDeclaration, Span)> {
        match name.qualified() {
            None => self.interface_named(scope, &name.text),
            Some((import, name_there)) => match self.qualified(name, import) {
                Qualified::In(scope) => scope.interfaces.get(name_there).copied(),
                Qualified::Missing | Qualified::Unknown => None,
            },
        }
    }

    /// The declaration of an interface by a name that nothing qualifies.
    pub(super) fn interface_named(&self, scope: ScopeId, name: &str) -> Option<(InterfaceDeclaration, Span)> {
        let mut next = Some(scope);
        while let Some(scope) = next.map(|id| &self.scopes[id.0]) {
            if scope.lost.contains(name) {
                return None;
            }
            if let Some(&found) = scope.interfaces.get(name) {
                return Some(found);
            }
            next = scope.parent;
        }
        None
    }

    /// Reports an interface name that means nothing.
    pub(super) fn unknown_interface(&mut self, scope: ScopeId, name: &Name) {
        if matches!(self.lookup(scope, name), Found::Lost) {
            return;
        }
        let known = self.around(scope, name).flat_map(|scope| scope.interfaces.keys().copied());
        let help = match self.instead(scope, name, known) {
            Some(help) => help,
            None => format!("declare it: INTERFACE {0}; ... END {0};", name.last()),
        };
        let message = format!("there is no interface {}", name.text);
        let error = Diagnostic::new("unknown-interface", name.span, message).label("not declared");
        self.report(error.help(help));
    }

    /// The scopes in which a name is looked for, from inside outwards.
    fn around(&self, scope: ScopeId, name: &Name) -> impl Iterator<Item = &Scope<'a>> {
        let first = match name.qualified().map(|(import, _)| self.qualified(name, import)) {
            None => Some(&self.scopes[scope.0]),
            Some(Qualified::In(scope)) => Some(scope),
            Some(_) => None,
        };
        let outwards = name.qualified().is_none();
        std::iter::successors(first, move |scope| {
            scope.parent.filter(|_| outwards).map(|parent| &self.scopes[parent.0])
        })
    }

    /// The names that can be used where a name stands.
    fn visible(&self, scope: ScopeId, name: &Name) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut outside = false;
        for scope in self.around(scope, name) {
            let hides = outside && !scope.is_outermost();
            let seen = scope.symbols.iter().filter(|(_, (symbol, _))| !(hides && symbol.is_private()));
            names.extend(seen.map(|(&name, _)| name));
            outside |= scope.of_component;
        }
        names
    }
}

/// The candidate that was most likely meant, if any is close.
pub fn similar<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = name.chars().count().div_ceil(3);
    let near = candidates.into_iter().map(|candidate| {
        let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate) };
        let differ = name.bytes().zip(candidate.bytes()).position(|(a, b)| a != b).unwrap_or(name.len());
        (distance, Reverse(differ), candidate)
    });
    near.filter(|&(distance, _, candidate)| distance <= limit && candidate.len() > distance)
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Single-character changes, insertions, deletions and swaps of neighbours between two names.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > 8 || a.len() > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let change = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
