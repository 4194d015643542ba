//! Required interfaces that nothing in the program connects: whoever uses one waits for ever, and says nothing.

use std::collections::HashSet;

use crate::program::{Block, ComponentId, ConnectEnd, InterfaceId, Place, Program, StatementKind, Type};
use crate::source::{Diagnostic, Span};

/// A warning for each NEW whose component requires such an interface. In a file without an entry nothing is known of
/// who connects.
pub(super) fn find(program: &Program) -> Vec<Diagnostic> {
    if program.entry.is_none() {
        return Vec::new();
    }
    let mut seen = Seen::default();
    program.components.iter().flat_map(|component| component.blocks()).for_each(|body| seen.block(body));
    program.procedures.iter().for_each(|procedure| seen.block(&procedure.body));
    let made = seen.made.iter();
    made.flat_map(|&(place, template, span)| seen.warnings(program, place, template, span)).collect()
}

#[derive(Default)]
struct Seen<'a> {
    /// What is made, and where.
    made: Vec<(&'a Place, ComponentId, Span)>,
    connected: HashSet<(&'a Type, InterfaceId)>,
}

impl<'a> Seen<'a> {
    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::NewComponent(target, template)
                | StatementKind::NewComponentAt { target, template, .. } => {
                    self.made.push((target, *template, statement.span));
                }
                StatementKind::Connect(ConnectEnd::Of { component, interface, .. }, ..)
                | StatementKind::Bind { required: ConnectEnd::Of { component, interface, .. }, .. } => {
                    self.connected.insert((&component.ty, *interface));
                }
                _ => {}
            }
            statement.kind.blocks().into_iter().for_each(|block| self.block(block));
        }
    }

    fn warnings(
        &self,
        program: &Program,
        place: &Place,
        template: ComponentId,
        made: Span,
    ) -> Vec<Diagnostic> {
        let requires = &program.components[template.index()].requires;
        let unconnected = requires.iter().filter(|facet| !self.connects(template, facet.interface));
        let variable = &program.variables[place.variable().index()].name;
        unconnected
            .map(|facet| {
                let name = &program.interfaces[facet.interface.index()].name;
                let message = format!("{variable} requires {name}, which nothing connects");
                Diagnostic::warning("never-connected", made, message)
                    .label("made here")
                    .help(format!(
                        "write CONNECT({name}({variable}), x), where x offers {name}; who uses {name} waits for that"
                    ))
            })
            .collect()
    }

    /// Whether a component of this template may be meant by some CONNECT of the interface.
    fn connects(&self, template: ComponentId, interface: InterfaceId) -> bool {
        self.connected.iter().any(|&(ty, connected)| {
            connected == interface && (*ty == Type::Component(template) || matches!(ty, Type::Any(_)))
        })
    }
}
