//! What is no error and hardly meant: declared and never used, or never reached.

use std::collections::HashSet;

use crate::accesses::{Event, walk};
use crate::ast::Name;
use crate::program::{Block, Owner, ProcedureId, Program, StatementKind, VariableId};
use crate::source::{Diagnostic, Span};

use super::Checker;

impl Checker<'_> {
    /// Warnings about a program without errors. What stands at the top level of a file is for others too where files
    /// are imported, or nothing starts; parameters are what a heading promises.
    pub(super) fn find_doubtful_text(&mut self) {
        let used = Used::of(&self.program);
        let mut warnings = Vec::new();
        for (index, variable) in self.program.variables.iter().enumerate() {
            if variable.parameter.is_none() && !used.variables.contains(&VariableId(index as u32)) {
                let warning =
                    Diagnostic::warning("unused-variable", variable.span, never_used(&variable.name));
                warnings.push(unused(warning));
            }
        }
        for (index, procedure) in self.program.procedures.iter().enumerate() {
            let for_others = procedure.owner == Owner::Program && self.is_for_others(procedure.span);
            if !for_others && !used.procedures.contains(&ProcedureId(index as u32)) {
                let warning =
                    Diagnostic::warning("unused-procedure", procedure.span, never_used(&procedure.name));
                warnings.push(unused(warning));
            }
        }
        for constant in &self.constants {
            let Name { text, span } = constant.name();
            let for_others =
                self.files.iter().any(|file| file.scope == constant.scope) && self.is_for_others(*span);
            if !for_others && !constant.used {
                warnings.push(unused(Diagnostic::warning("unused-constant", *span, never_used(text))));
            }
        }
        warnings.extend(used.unreached.into_iter().map(|span| {
            let warning = Diagnostic::warning("unreached", span, "this is never reached");
            warning.label("after RETURN").help("remove it, or put the RETURN into an IF")
        }));
        warnings.extend(self.unneeded_parts());
        warnings.sort_by_key(|warning| warning.span);
        self.program.warnings = warnings;
    }

    fn is_for_others(&self, place: Span) -> bool {
        self.program.entry.is_none() || self.program.imported.contains(&place.file)
    }
}

fn never_used(name: &str) -> String {
    format!("{name} is never used")
}

fn unused(warning: Diagnostic) -> Diagnostic {
    warning.label("declared here").help("remove it")
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
        for component in &program.components {
            component.blocks().for_each(|body| used.body(body));
        }
        program.procedures.iter().for_each(|procedure| used.body(&procedure.body));
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
        let ends = block.statements.iter().position(|it| matches!(it.kind, StatementKind::Return(_)));
        let after = ends.and_then(|ends| block.statements.get(ends + 1));
        self.unreached.extend(after.map(|statement| statement.span));
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::If(branches, otherwise) => {
                    branches
                        .iter()
                        .map(|(_, block)| block)
                        .chain(otherwise)
                        .for_each(|block| self.block(block));
                }
                StatementKind::While(_, body)
                | StatementKind::Repeat(body, _)
                | StatementKind::For { body, .. }
                | StatementKind::Foreach { body, .. }
                | StatementKind::Block(body)
                | StatementKind::Composite(_, body) => self.block(body),
                _ => {}
            }
        }
    }
}
