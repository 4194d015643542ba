//! Scopes: what is declared where. Interfaces have a name space of their own.

use std::collections::{HashMap, HashSet};

use crate::ast::Name;
use crate::program::{ComponentId, ProcedureId, VariableId};
use crate::source::{Diagnostic, Span};

use super::Checker;
use super::predeclared::{Predeclared, SYSTEM_FILE};

/// Index into [`Checker::scopes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub(super) usize);

/// Index into the checker's table of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConstantId(pub(super) usize);

/// Index into the checker's table of interface declarations; several may be one interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterfaceDeclaration(pub(super) usize);

/// What a name that is not an interface's stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symbol {
    Constant(ConstantId),
    Variable(VariableId),
    Procedure(ProcedureId),
    Template(ComponentId),
    Predeclared(Predeclared),
}

impl Symbol {
    /// For messages: `a variable`, ...
    pub(super) fn describe(self) -> &'static str {
        match self {
            Symbol::Constant(_) | Symbol::Predeclared(Predeclared::Truth(_) | Predeclared::Pi) => {
                "a constant"
            }
            Symbol::Variable(_) => "a variable",
            Symbol::Procedure(_) => "a procedure",
            Symbol::Template(_) => "a component template",
            Symbol::Predeclared(Predeclared::Type(_)) => "a type",
            Symbol::Predeclared(Predeclared::Statement(_)) => "a predeclared statement",
            Symbol::Predeclared(_) => "a predeclared function",
        }
    }

    /// Seen only within the component that declares it, if one does.
    pub(super) fn is_private(self) -> bool {
        matches!(self, Symbol::Variable(_) | Symbol::Procedure(_))
    }
}

/// One stretch of the program with names of its own.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    /// Around it.
    pub(super) parent: Option<ScopeId>,
    /// Belongs to a component.
    pub(super) of_component: bool,
    pub(super) symbols: HashMap<&'a str, (Symbol, Span)>,
    pub(super) interfaces: HashMap<&'a str, (InterfaceDeclaration, Span)>,
    /// Names that may be declared here, as anything, by what could not be read.
    pub(super) lost: HashSet<&'a str>,
}

impl<'a> Scope<'a> {
    /// All names that are declared here.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.symbols.keys().chain(self.interfaces.keys()).copied()
    }

    /// A name that is declared here, or may be.
    pub(super) fn find(&self, name: &str) -> Found {
        match self.symbols.get(name) {
            _ if self.lost.contains(name) => Found::Lost,
            Some(&(symbol, span)) => Found::Symbol(symbol, span),
            None => Found::Nothing,
        }
    }

    /// Whether this is the top level of files, or around it.
    pub(super) fn is_outermost(&self) -> bool {
        self.parent.is_none_or(|parent| parent == ScopeId(0))
    }
}

/// What looking up a name gives.
pub(super) enum Found {
    /// It is known.
    Symbol(Symbol, Span),
    /// Only as a variable or procedure of a component around this one.
    Hidden(Symbol, Span),
    /// It may be declared by what could not be read, which was reported.
    Lost,
    /// Unknown.
    Nothing,
}

impl<'a> Checker<'a> {
    /// A new scope inside `parent`.
    pub(super) fn new_scope(&mut self, parent: Option<ScopeId>, of_component: bool) -> ScopeId {
        self.scopes.push(Scope { parent, of_component, ..Scope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Makes a name known in a scope; an error if it is already.
    pub(super) fn declare(&mut self, scope: ScopeId, name: &'a Name, symbol: Symbol) {
        let symbols = &mut self.scopes[scope.0].symbols;
        match symbols.get(name.text.as_str()) {
            Some(&(earlier, span)) => {
                let earlier = earlier.describe();
                self.duplicate(name, span, format!("already declared here as {earlier}"));
            }
            None => {
                symbols.insert(&name.text, (symbol, name.span));
            }
        }
    }

    /// Makes a predeclared name known.
    pub(super) fn predeclare(&mut self, scope: ScopeId, name: &'static str, meaning: Predeclared) {
        let span = Span { file: SYSTEM_FILE, ..Span::default() };
        self.scopes[scope.0].symbols.insert(name, (Symbol::Predeclared(meaning), span));
    }

    /// Makes an interface known in a scope; an error if one of that name is already.
    pub(super) fn declare_interface(
        &mut self,
        scope: ScopeId,
        name: &'a Name,
        declaration: InterfaceDeclaration,
    ) {
        let interfaces = &mut self.scopes[scope.0].interfaces;
        match interfaces.get(name.text.as_str()) {
            Some(&(_, span)) => self.duplicate(name, span, "already declared here as an interface".into()),
            None => {
                interfaces.insert(&name.text, (declaration, name.span));
            }
        }
    }

    /// From now on nothing is said about a name in a scope, since it may be declared there; what is predeclared
    /// hardly is.
    pub(super) fn lose(&mut self, scope: ScopeId, name: &'a Name) {
        if !self.scopes[0].symbols.contains_key(name.text.as_str()) {
            self.scopes[scope.0].lost.insert(&name.text);
        }
    }

    /// Reports a name that is declared twice.
    pub(super) fn duplicate(&mut self, name: &Name, earlier: Span, note: String) {
        let error = Diagnostic::new(
            "duplicate-declaration",
            name.span,
            format!("{} is declared twice in the same scope", name.text),
        );
        self.report(error.label("declared again").note(earlier, note).help("give one of them another name"));
    }
}
