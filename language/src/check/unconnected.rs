//! Required interfaces that nothing in the program connects: whoever uses one waits for ever, and says nothing.

use std::collections::HashSet;

use crate::program::{
    Block, ComponentId, ConnectEnd, Facet, InterfaceId, Place, Program, StatementKind, Type,
};
use crate::source::{Diagnostic, Span};

/// A warning for each NEW whose component requires such an interface. In a file without an entry nothing is known of
/// who connects.
pub(super) fn find(program: &Program) -> Vec<Diagnostic> {
    if program.entry.is_none() {
        return Vec::new();
    }
    let mut seen = Seen::default();
    program.blocks().for_each(|body| seen.block(body));
    let unconnected = seen.made.iter().flat_map(|made| {
        let requires = program.components[made.template.index()].requires.iter();
        requires.filter(|facet| seen.lacks(made.template, facet)).map(|facet| warning(program, made, facet))
    });
    unconnected.collect()
}

/// A NEW of a component.
struct Made<'a> {
    place: &'a Place,
    template: ComponentId,
    span: Span,
}

/// What the statements of a program make, and what they connect.
#[derive(Default)]
struct Seen<'a> {
    made: Vec<Made<'a>>,
    /// The first ends of CONNECT: of this template, or of any component.
    connected: HashSet<(Option<ComponentId>, InterfaceId)>,
}

impl<'a> Seen<'a> {
    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::NewComponent(place, template)
                | StatementKind::NewComponentAt { target: place, template, .. } => {
                    self.made.push(Made { place, template: *template, span: statement.span });
                }
                StatementKind::Connect(ConnectEnd::Of { component, interface, .. }, ..)
                | StatementKind::Bind { required: ConnectEnd::Of { component, interface, .. }, .. } => {
                    let template = match component.ty {
                        Type::Component(template) => Some(template),
                        _ => None,
                    };
                    self.connected.insert((template, *interface));
                }
                _ => {}
            }
            statement.kind.blocks().into_iter().for_each(|block| self.block(block));
        }
    }

    /// Whether a component of this template needs the interface, and no CONNECT may mean it.
    fn lacks(&self, template: ComponentId, required: &Facet) -> bool {
        let is_needed = required.cardinality.is_none_or(|cardinality| cardinality.from > 0);
        let ends = [Some(template), None].map(|of| (of, required.interface));
        is_needed && !ends.iter().any(|end| self.connected.contains(end))
    }
}

fn warning(program: &Program, made: &Made<'_>, required: &Facet) -> Diagnostic {
    let variable = &program.variables[made.place.variable().index()].name;
    let name = &program.interfaces[required.interface.index()].name;
    let index = if required.cardinality.is_some() { "[1]" } else { "" };
    let message = format!("{variable} requires {name}, which nothing connects");
    let warning = Diagnostic::warning("never-connected", made.span, message).label("made here");
    warning.help(format!(
        "write CONNECT({name}{index}({variable}), x), where x offers {name}; a process that uses {name} waits for that"
    ))
}
