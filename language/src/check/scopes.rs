//! Scopes: which names are declared where, and what a name means where it stands. Inner names hide outer ones; an inner
//! component does not see the variables and procedures around it. Interfaces have a name space of their own. A name
//! qualified by an import is looked up in the imported file.
//!
//! Nothing is known here of types, and an unknown name is no error here: [`names`](super::names) reports it.

use std::collections::{HashMap, HashSet};
use std::iter::successors;

use crate::ast::Name;
use crate::source::Span;

use super::diagnostics::Diagnostics;
use super::predeclared::{Predeclared, SYSTEM_FILE};
use super::symbols::{InterfaceDeclaration, ScopeId, Symbol};

/// All scopes, and the imports of each file.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    files: Vec<File<'a>>,
}

/// A file of the program.
pub(super) struct File<'a> {
    /// Where its declarations are. Files that no file imports share one scope.
    pub(super) scope: ScopeId,
    /// The files that it imports, by name; nothing for one that was not found.
    pub(super) imports: HashMap<&'a str, Option<usize>>,
}

/// One stretch of the program with names of its own.
#[derive(Debug, Default)]
struct Scope<'a> {
    /// Around it.
    parent: Option<ScopeId>,
    /// Belongs to a component.
    of_component: bool,
    symbols: HashMap<&'a str, (Symbol, Span)>,
    interfaces: HashMap<&'a str, (InterfaceDeclaration, Span)>,
    /// Names that may be declared here, as anything, by text that could not be read.
    lost: HashSet<&'a str>,
}

/// The result of looking up a name.
pub(super) enum Found {
    /// It is known.
    Symbol(Symbol, Span),
    /// Only as a variable or procedure of a component around this one.
    Hidden(Symbol, Span),
    /// It may be declared by text that could not be read, which was reported.
    Lost,
    /// Unknown.
    Nothing,
}

/// What a qualified name can mean.
enum Qualified<'c, 'a> {
    /// Something at the top level of an imported file.
    In(&'c Scope<'a>),
    /// The file was not found, which was reported.
    Missing,
    /// No such file is imported where the name stands.
    Unknown,
}

impl<'a> Scope<'a> {
    /// Whether a name, of any kind, is declared here.
    fn declares(&self, name: &str) -> bool {
        self.symbols.contains_key(name) || self.interfaces.contains_key(name)
    }

    /// What a name means that is declared here, or may be.
    fn find(&self, name: &str) -> Found {
        match self.symbols.get(name) {
            _ if self.lost.contains(name) => Found::Lost,
            Some(&(symbol, span)) => Found::Symbol(symbol, span),
            None => Found::Nothing,
        }
    }

    /// Whether this is the top level of files, or around it.
    fn is_outermost(&self) -> bool {
        self.parent.is_none_or(|parent| parent == ScopeId::PREDECLARED)
    }
}

/// Declaring.
impl<'a> Scopes<'a> {
    /// Adds a scope inside `parent`.
    pub(super) fn add(&mut self, parent: Option<ScopeId>) -> ScopeId {
        self.all.push(Scope { parent, ..Scope::default() });
        ScopeId(self.all.len() - 1)
    }

    /// Adds the scope of a component.
    pub(super) fn add_component(&mut self, around: ScopeId) -> ScopeId {
        let scope = self.add(Some(around));
        self.all[scope.0].of_component = true;
        scope
    }

    /// Adds the next file of the program.
    pub(super) fn add_file(&mut self, file: File<'a>) {
        self.files.push(file);
    }

    /// Makes a name known in a scope; an error if it is already.
    pub(super) fn declare(
        &mut self,
        scope: ScopeId,
        name: &'a Name,
        symbol: Symbol,
        diagnostics: &mut Diagnostics,
    ) {
        let symbols = &mut self.all[scope.0].symbols;
        match symbols.get(name.text.as_str()) {
            Some(&(earlier, span)) => {
                let earlier = earlier.describe();
                diagnostics.duplicate(name, span, format!("already declared here as {earlier}"));
            }
            None => {
                symbols.insert(&name.text, (symbol, name.span));
            }
        }
    }

    /// Makes a predeclared name known.
    pub(super) fn predeclare(&mut self, name: &'static str, meaning: Predeclared) {
        let span = Span { file: SYSTEM_FILE, ..Span::default() };
        self.all[ScopeId::PREDECLARED.0].symbols.insert(name, (Symbol::Predeclared(meaning), span));
    }

    /// Makes an interface known in a scope; an error if one of that name is already.
    pub(super) fn declare_interface(
        &mut self,
        scope: ScopeId,
        name: &'a Name,
        declaration: InterfaceDeclaration,
        diagnostics: &mut Diagnostics,
    ) {
        let interfaces = &mut self.all[scope.0].interfaces;
        match interfaces.get(name.text.as_str()) {
            Some(&(_, span)) => {
                diagnostics.duplicate(name, span, "already declared here as an interface".into());
            }
            None => {
                interfaces.insert(&name.text, (declaration, name.span));
            }
        }
    }

    /// From now on, nothing is said about a name in a scope, since unreadable text may declare it there. Predeclared
    /// names are hardly ever declared anew.
    pub(super) fn lose(&mut self, scope: ScopeId, name: &'a Name) {
        if !self.all[ScopeId::PREDECLARED.0].symbols.contains_key(name.text.as_str()) {
            self.all[scope.0].lost.insert(&name.text);
        }
    }
}

/// Looking up.
impl<'a> Scopes<'a> {
    /// The scope around one.
    pub(super) fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.all[scope.0].parent
    }

    /// The scope of a file, by its number.
    pub(super) fn of_file(&self, file: usize) -> ScopeId {
        self.files[file].scope
    }

    /// Whether a scope is the top level of a file.
    pub(super) fn is_of_file(&self, scope: ScopeId) -> bool {
        self.files.iter().any(|file| file.scope == scope)
    }

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
        for scope in self.outwards(scope) {
            match scope.find(&name.text) {
                Found::Symbol(symbol, span) if outside && symbol.is_private() && !scope.is_outermost() => {
                    hidden.get_or_insert((symbol, span));
                }
                Found::Nothing => {}
                found => return found,
            }
            outside |= scope.of_component;
        }
        hidden.map_or(Found::Nothing, |(symbol, span)| Found::Hidden(symbol, span))
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

    /// The declaration of an interface by an unqualified name.
    fn interface_named(&self, scope: ScopeId, name: &str) -> Option<(InterfaceDeclaration, Span)> {
        let mut scopes = self.outwards(scope);
        let scope = scopes.find(|scope| scope.lost.contains(name) || scope.interfaces.contains_key(name))?;
        scope.interfaces.get(name).copied().filter(|_| !scope.lost.contains(name))
    }

    /// Whether the file in which a name stands imports nothing by that name.
    pub(super) fn is_unknown_import(&self, name: &Name, import: &str) -> bool {
        matches!(self.qualified(name, import), Qualified::Unknown)
    }

    /// The qualified name by which an import of the file offers what a name is not known for where it stands.
    pub(super) fn imported_as(&self, name: &Name) -> Option<String> {
        let imports = self.files.get(name.span.file as usize)?.imports.iter();
        let declaring = imports.filter(|&(_, file)| {
            file.is_some_and(|file| self.all[self.files[file].scope.0].declares(&name.text))
        });
        declaring.map(|(import, _)| format!("{import}.{}", name.text)).min()
    }

    /// The names that can be used where a name stands.
    pub(super) fn visible(&self, scope: ScopeId, name: &Name) -> Vec<&'a str> {
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

    /// The names of interfaces that can be used where a name stands.
    pub(super) fn visible_interfaces(&self, scope: ScopeId, name: &Name) -> impl Iterator<Item = &'a str> {
        self.around(scope, name).into_iter().flat_map(|scope| scope.interfaces.keys().copied())
    }

    /// The file that a name is qualified by.
    fn qualified(&self, name: &Name, import: &str) -> Qualified<'_, 'a> {
        let imports = self.files.get(name.span.file as usize).map(|file| &file.imports);
        match imports.and_then(|imports| imports.get(import)) {
            Some(&Some(file)) => Qualified::In(&self.all[self.files[file].scope.0]),
            Some(None) => Qualified::Missing,
            None => Qualified::Unknown,
        }
    }

    /// A scope, and those around it.
    fn outwards(&self, scope: ScopeId) -> impl Iterator<Item = &Scope<'a>> {
        successors(Some(&self.all[scope.0]), |scope| scope.parent.map(|parent| &self.all[parent.0]))
    }

    /// The scopes in which a name is looked for, from inside outwards.
    fn around(&self, scope: ScopeId, name: &Name) -> Vec<&Scope<'a>> {
        match name.qualified().map(|(import, _)| self.qualified(name, import)) {
            None => self.outwards(scope).collect(),
            Some(Qualified::In(scope)) => vec![scope],
            Some(_) => Vec::new(),
        }
    }
}
