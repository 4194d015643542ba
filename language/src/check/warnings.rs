//! Warnings: declarations that are never used, statements that are never reached, functions without a result,
//! required interfaces that nothing connects, parts of systems that nothing needs.

use std::collections::HashSet;

use crate::accesses::{Event, walk};
use crate::ast::Name;
use crate::program::{Block, Owner, ProcedureId, Program, StatementKind, Variable, VariableId};
use crate::source::{Diagnostic, Span};

use super::declarations::DeclaredConstant;
use super::definitions::Definitions;
use super::returns;
use super::symbols::ConstantId;
use super::unconnected;

/// Finds the warnings for a program without errors. If its file is imported, or the program has no entry, a procedure
/// or constant at the top level may be for other files. A parameter may be unused, since the heading is fixed by
/// callers. `used_constants` are those that bodies mention.
pub(super) fn find(known: &Definitions, used_constants: &HashSet<ConstantId>) -> Vec<Diagnostic> {
    let program = &known.program;
    let is_for_others = |place: Span| program.entry.is_none() || program.imported.contains(&place.file);
    let used = Used::of(program);
    let mut warnings = Vec::new();
    for (index, variable) in program.variables.iter().enumerate() {
        if variable.parameter.is_none() && !used.variables.contains(&VariableId(index as u32)) {
            warnings.push(unused(Diagnostic::warning(
                "unused-variable",
                variable.span,
                never_used(&variable.name),
            )));
        }
    }
    for (index, procedure) in program.procedures.iter().enumerate() {
        let for_others = procedure.owner == Owner::Program && is_for_others(procedure.span);
        if !for_others && !used.procedures.contains(&ProcedureId(index as u32)) {
            warnings.push(unused(Diagnostic::warning(
                "unused-procedure",
                procedure.span,
                never_used(&procedure.name),
            )));
        }
    }
    for (index, DeclaredConstant { tree, scope }) in known.declared.constants.iter().enumerate() {
        let Name { text, span } = &tree.name;
        let for_others = known.scopes.is_of_file(*scope) && is_for_others(*span);
        if !for_others && !used_constants.contains(&ConstantId(index)) {
            warnings.push(unused(Diagnostic::warning("unused-constant", *span, never_used(text))));
        }
    }
    warnings.extend(used.unreached.into_iter().map(|span| {
        let warning = Diagnostic::warning("unreached", span, "this is never reached");
        warning.label("after RETURN").help("remove it, or put the RETURN into an IF")
    }));
    warnings.extend(returns::find(program));
    warnings.extend(unconnected::find(program));
    warnings.extend(unneeded_parts(program));
    warnings.sort_by_key(|warning| warning.span);
    warnings
}

fn never_used(name: &str) -> String {
    format!("{name} is never used")
}

fn unused(warning: Diagnostic) -> Diagnostic {
    warning.label("declared here").help("remove it")
}

/// The warnings for parts of the system that nothing needs.
fn unneeded_parts(program: &Program) -> Vec<Diagnostic> {
    let (Some(system), Some(entry)) = (&program.system, program.entry) else {
        return Vec::new();
    };
    let is_needed = |part: &VariableId| system.parts.iter().any(|needed| needed.path[0] == *part);
    let warning = |part: &VariableId| {
        let Variable { name, span, .. } = &program.variables[part.index()];
        let message = format!("nothing needs {name}: it is not in the system");
        Diagnostic::warning("system-unneeded", *span, message).help("remove it, or connect it")
    };
    let all = program.components[entry.index()].variables.iter();
    all.filter(|part| !is_needed(part)).map(warning).collect()
}

/// What the bodies of a program mention.
#[derive(Default)]
struct Used {
    variables: HashSet<VariableId>,
    procedures: HashSet<ProcedureId>,
    /// Statements right after a RETURN.
    unreached: Vec<Span>,
}

impl Used {
    fn of(program: &Program) -> Used {
        let mut used = Used::default();
        program.blocks().for_each(|body| used.body(body));
        used
    }

    fn body(&mut self, body: &Block) {
        walk(body, None, &mut |access| match access.event {
            Event::Read(id)
            | Event::Write(id)
            | Event::Replace(id)
            | Event::Pass(id)
            | Event::TalkToHeld(id) => {
                self.variables.insert(id);
            }
            Event::Call(id) => {
                self.procedures.insert(id);
            }
            Event::TalkToRequired(_) | Event::Await | Event::Exclusive => {}
        });
        self.block(body);
    }

    fn block(&mut self, block: &Block) {
        let ends = block
            .statements
            .iter()
            .position(|it| matches!(it.kind, StatementKind::Return(_) | StatementKind::Exit));
        let after = ends.and_then(|ends| block.statements.get(ends + 1));
        self.unreached.extend(after.map(|statement| statement.span));
        for statement in &block.statements {
            statement.kind.blocks().into_iter().for_each(|block| self.block(block));
        }
    }
}
