//! Systems: components that only put native components and other systems together. All of that is known at compile
//! time. Here, the parts and connections of each system are read and checked; [`assembly`](super::assembly) flattens
//! systems that are complete.

use std::collections::{HashMap, HashSet};

use crate::ast;
use crate::program::{
    ComponentId, ConnectEnd, Place, PlaceKind, Statement, StatementKind, System, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::assembly::{Said, Server, assemble};
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

/// Checks all systems. Gives the one that the program starts with, flattened. `doubtful` components lack something that
/// was reported.
pub(super) fn check(
    known: &Definitions,
    doubtful: &HashSet<ComponentId>,
    diagnostics: &mut Diagnostics,
) -> Option<System> {
    let errors = diagnostics.count();
    let all = (0..known.declared.components.len() as u32).map(ComponentId);
    let systems: Vec<_> =
        all.filter(|&id| known.is_system(id) && known.declared.components[id.index()].top_level).collect();
    let mut reader = Reader { known, doubtful, diagnostics };
    let said: HashMap<_, _> = systems.iter().map(|&id| (id, reader.read_system(id))).collect();
    for id in &systems {
        reader.check_parts(*id, &said[id]);
    }
    let is_whole = diagnostics.count() == errors && said.values().all(|said| said.whole);
    if is_whole { assemble(known, &systems, &said, diagnostics) } else { None }
}

struct Reader<'c> {
    known: &'c Definitions<'c>,
    doubtful: &'c HashSet<ComponentId>,
    diagnostics: &'c mut Diagnostics,
}

impl Reader<'_> {
    fn not_in_system(&mut self, span: Span, what: &str) {
        let message = format!("a system has no {what}");
        let help = "it has VARIABLEs of native components, and a BEGIN with NEW and CONNECT";
        self.diagnostics.report(Diagnostic::new("system-part", span, message).help(help));
    }

    fn read_system(&mut self, id: ComponentId) -> Said {
        let tree = self.known.declared.components[id.index()].tree;
        for declaration in &tree.declarations {
            match declaration {
                ast::Declaration::Procedure(tree) => self.not_in_system(tree.name.span, "procedures"),
                ast::Declaration::Implementation(tree) => {
                    self.not_in_system(tree.name.span, "implementations: it connects inward what it offers")
                }
                _ => {}
            }
        }
        for (block, name) in [(&tree.activity, "ACTIVITY"), (&tree.finally, "FINALLY")] {
            if let Some(block) = block {
                self.not_in_system(block.span, name);
            }
        }
        let requires = &self.known.program.components[id.index()].requires;
        if requires.iter().any(|facet| !self.known.is_native_interface(facet.interface)) {
            self.not_in_system(tree.requires[0].span, "REQUIRES but of native interfaces");
        }
        for &variable in &self.known.program.components[id.index()].variables {
            let Variable { is_part, span } = self.part_or_not(variable);
            if !is_part {
                self.not_in_system(span, "variables but those that hold one native component or system each");
            }
        }
        let declared = &self.known.declared.components[id.index()];
        let whole =
            !(declared.lost || self.known.gaps.components.contains(&id) || self.doubtful.contains(&id));
        let mut said = Said { whole, ..Said::default() };
        let begin = &self.known.program.components[id.index()].begin;
        for statement in begin.iter().flat_map(|block| &block.statements) {
            self.read_statement(id, statement, &mut said);
        }
        said
    }

    fn part_or_not(&self, id: VariableId) -> Variable {
        let variable = &self.known.program.variables[id.index()];
        let is_part = matches!(variable.ty, Type::Component(held) if self.known.is_for_systems(held));
        let is_part = is_part && variable.collection.is_none() || self.known.gaps.variables.contains(&id);
        Variable { is_part, span: variable.span }
    }

    fn read_statement(&mut self, id: ComponentId, statement: &Statement, said: &mut Said) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::NewComponent(place, _) if variable(place).is_some() => {
                let made = variable(place).expect("as the guard says");
                if let Some(first) = said.made.insert(made, span) {
                    let message =
                        format!("{} is made twice", self.known.program.variables[made.index()].name);
                    let error = Diagnostic::new("system-new", span, message).label("again");
                    self.diagnostics.report(error.note(first, "first made here"));
                }
            }
            StatementKind::Connect(first, second, None) => {
                self.read_connection(id, [first, second], span, said)
            }
            StatementKind::Connect(_, _, Some(_)) => {
                self.other_statement(span, "nothing stands between two native components", said);
            }
            _ => self.other_statement(span, "it is put together by NEW and CONNECT before it begins", said),
        }
    }

    fn other_statement(&mut self, span: Span, help: &str, said: &mut Said) {
        said.whole = false;
        let message = "this is not done in a system";
        self.diagnostics.report(Diagnostic::new("system-statement", span, message).help(help));
    }

    fn read_connection(
        &mut self,
        id: ComponentId,
        [first, second]: [&ConnectEnd; 2],
        span: Span,
        said: &mut Said,
    ) {
        let server = match second {
            ConnectEnd::Of { component, .. } => variable(component).map(Server::Part),
            ConnectEnd::OwnRequired(index, _) => Some(Server::Around(*index)),
            ConnectEnd::OwnOffered(_) => None,
        };
        let Some(server) = server else { return };
        match first {
            ConnectEnd::OwnOffered(index) => {
                if let Some((_, earlier)) = said.offered.insert(*index, (server, span)) {
                    let component = &self.known.program.components[id.index()];
                    let offered = self.known.interface_name(component.offers[*index].interface);
                    self.connected_twice(format!("{offered} of {}", component.name), span, earlier);
                }
            }
            ConnectEnd::Of { component: client, interface, .. } => {
                let Some(client) = variable(client) else { return };
                if let Some((_, earlier)) = said.connected.insert((client, *interface), (server, span)) {
                    let (name, part) =
                        (self.known.interface_name(*interface), self.known.variable_name(client));
                    self.connected_twice(format!("{name} of {part}"), span, earlier);
                }
            }
            ConnectEnd::OwnRequired(..) => {}
        }
    }

    fn connected_twice(&mut self, what: String, span: Span, earlier: Span) {
        let error = Diagnostic::new("system-connected-twice", span, format!("{what} is connected twice"));
        self.diagnostics.report(error.label("again").note(earlier, "first connected here"));
    }

    /// Checks that each part is made, and that its required interfaces are connected.
    fn check_parts(&mut self, id: ComponentId, said: &Said) {
        if !said.whole {
            return;
        }
        for &variable in &self.known.program.components[id.index()].variables {
            match (said.made.get(&variable), self.part_or_not(variable)) {
                (_, Variable { is_part: false, .. }) => {}
                (Some(&made), _) => self.check_connected(variable, made, said),
                (None, Variable { span, .. }) => {
                    let message = format!("{} is never made", self.known.variable_name(variable));
                    let help = format!("write NEW({})", self.known.variable_name(variable));
                    self.diagnostics.report(Diagnostic::new("system-new", span, message).help(help));
                }
            }
        }
    }

    fn check_connected(&mut self, part: VariableId, made: Span, said: &Said) {
        let Type::Component(component) = self.known.program.variables[part.index()].ty else { return };
        if self.known.gaps.components.contains(&component) {
            return;
        }
        for facet in &self.known.program.components[component.index()].requires {
            if !said.connected.contains_key(&(part, facet.interface)) {
                let (name, variable) =
                    (self.known.interface_name(facet.interface), self.known.variable_name(part));
                let message = format!("{variable} requires {name}, which is not connected");
                let help = format!("write CONNECT({name}({variable}), x), where x offers {name}");
                let error = Diagnostic::new("system-unconnected", made, message).label("made here");
                self.diagnostics.report(error.help(help));
            }
        }
    }
}

/// A variable of a system.
struct Variable {
    is_part: bool,
    span: Span,
}

fn variable(place: &Place) -> Option<VariableId> {
    match place.kind {
        PlaceKind::Variable(id) => Some(id),
        _ => None,
    }
}
