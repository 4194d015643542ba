//! The definitions of a program: all that can be known of it without looking into bodies. They are made by `declare`,
//! `imports`, `interfaces` and `headers`; every later step only reads them.

use std::collections::HashSet;

use crate::program::{ComponentId, InterfaceId, ProcedureId, Program, RecordId, VariableId};

use super::declarations::Declarations;
use super::scopes::Scopes;

/// All definitions of a program.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    /// The program: its interfaces, and the headers of components, procedures and variables.
    pub(super) program: Program,
    pub(super) scopes: Scopes<'a>,
    pub(super) declared: Declarations<'a>,
    pub(super) gaps: Gaps,
}

/// Definitions that are not known because of an error, which was reported: their uses are not errors of their own.
#[derive(Default)]
pub(super) struct Gaps {
    /// Variables whose type is not known.
    pub(super) variables: HashSet<VariableId>,
    /// Records with a field whose type is not known.
    pub(super) records: HashSet<RecordId>,
    /// Procedures whose header is not known.
    pub(super) procedures: HashSet<ProcedureId>,
    /// Messages with a parameter whose type is not known.
    pub(super) messages: HashSet<(InterfaceId, usize)>,
    /// Interfaces with an error of their own: their protocols cannot be followed.
    pub(super) interfaces: HashSet<InterfaceId>,
    /// Components with an unknown interface in their header.
    pub(super) components: HashSet<ComponentId>,
}
