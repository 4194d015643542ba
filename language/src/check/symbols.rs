//! Indices of what the checker keeps in tables of its own, and what a name can stand for.

use crate::program::{ComponentId, ProcedureId, RecordId, VariableId};

use super::predeclared::Predeclared;

/// A scope, by its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub(super) usize);

impl ScopeId {
    /// The scope of the predeclared names, around all files.
    pub(super) const PREDECLARED: ScopeId = ScopeId(0);
}

/// Index into the table of declared constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConstantId(pub(super) usize);

/// Index into the table of declared interfaces. Several declarations may be one interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterfaceDeclaration(pub(super) usize);

/// What a name that is not an interface's stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symbol {
    Constant(ConstantId),
    Variable(VariableId),
    Procedure(ProcedureId),
    Template(ComponentId),
    Record(RecordId),
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
            Symbol::Record(_) => "a record",
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
