//! Tables of what the program declares: the syntax tree of each declaration and the scope in which it stands. They
//! have the indices of the tables of [`Program`](crate::program::Program) with the same names. Nothing in them is
//! resolved, except which interface each declaration of one is.

use crate::ast;
use crate::program::{InterfaceId, RecordId};

use super::predeclared::SYSTEM_FILE;
use super::symbols::{InterfaceDeclaration, ScopeId};

/// Everything that is declared.
#[derive(Default)]
pub(super) struct Declarations<'a> {
    pub(super) interfaces: Vec<DeclaredInterface<'a>>,
    pub(super) components: Vec<DeclaredComponent<'a>>,
    pub(super) procedures: Vec<DeclaredProcedure<'a>>,
    pub(super) variables: Vec<DeclaredVariable<'a>>,
    pub(super) constants: Vec<DeclaredConstant<'a>>,
    pub(super) records: Vec<DeclaredRecord<'a>>,
    /// Some declaration at the top level could not be read.
    pub(super) lost_component: bool,
}

/// One declaration of an interface.
pub(super) struct DeclaredInterface<'a> {
    pub(super) tree: &'a ast::Interface,
    pub(super) scope: ScopeId,
    /// The interface that it declares. Until all are known, types name the declaration itself.
    pub(super) id: InterfaceId,
}

/// A component as declared.
pub(super) struct DeclaredComponent<'a> {
    pub(super) tree: &'a ast::Component,
    /// The scope around it.
    pub(super) around: ScopeId,
    /// Its own scope.
    pub(super) scope: ScopeId,
    pub(super) implementations: Vec<(&'a ast::Implementation, ScopeId)>,
    /// Declared outside every component.
    pub(super) top_level: bool,
    /// Some part of it could not be read: what it seems to lack may be there.
    pub(super) lost: bool,
}

/// A procedure as declared.
pub(super) struct DeclaredProcedure<'a> {
    pub(super) tree: &'a ast::Procedure,
    /// Its own scope.
    pub(super) scope: ScopeId,
}

/// A variable or parameter as declared.
pub(super) struct DeclaredVariable<'a> {
    pub(super) name: &'a ast::Name,
    pub(super) ty: &'a ast::Type,
    pub(super) indices: Option<&'a [ast::Section]>,
    pub(super) attributes: &'a [ast::Name],
    pub(super) scope: ScopeId,
}

/// A record as declared.
pub(super) struct DeclaredRecord<'a> {
    pub(super) tree: &'a ast::Record,
    pub(super) scope: ScopeId,
    /// The first declaration of the same record, once all are known; until then itself.
    pub(super) id: RecordId,
}

/// A constant as declared.
pub(super) struct DeclaredConstant<'a> {
    pub(super) tree: &'a ast::Constant,
    pub(super) scope: ScopeId,
}

impl DeclaredInterface<'_> {
    /// Declared by the system, not by the program.
    pub(super) fn is_predeclared(&self) -> bool {
        self.tree.name.span.file == SYSTEM_FILE
    }
}

impl Declarations<'_> {
    /// The interface that a declaration is of.
    pub(super) fn interface(&self, declaration: InterfaceDeclaration) -> InterfaceId {
        self.interfaces[declaration.0].id
    }
}
