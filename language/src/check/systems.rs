//! Systems: components that only put native ones together, and other systems. All that a system does is known before it
//! begins: what is read here, a system at a time, and what [`assembly`](super::assembly) makes of it.

use std::collections::HashMap;

use crate::ast;
use crate::program::{
    ComponentId, ConnectEnd, InterfaceId, Place, PlaceKind, Statement, StatementKind, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::Checker;

/// What the BEGIN of a system says.
#[derive(Default)]
pub(super) struct Said {
    made: HashMap<VariableId, Span>,
    /// Who has what a part requires, and where that is said.
    pub(super) connected: HashMap<(VariableId, InterfaceId), (Server, Span)>,
    /// Who has what the system offers.
    pub(super) offered: HashMap<usize, (Server, Span)>,
    /// All that could be read: what seems to be missing may be in the rest.
    whole: bool,
}

/// Who has something.
#[derive(Clone, Copy)]
pub(super) enum Server {
    /// A part of the system.
    Part(VariableId),
    /// Whatever the system requires it from: an index into its REQUIRES.
    Around(usize),
}

impl Checker<'_> {
    /// Checks all systems; of the one that the program starts with it is kept what it consists of.
    pub(super) fn check_systems(&mut self) {
        let errors = self.errors.len();
        let all = (0..self.components.len() as u32).map(ComponentId);
        let systems: Vec<_> =
            all.filter(|&id| self.is_system(id) && self.components[id.index()].top_level).collect();
        let said: HashMap<_, _> = systems.iter().map(|&id| (id, self.read_system(id))).collect();
        for id in &systems {
            self.check_parts(*id, &said[id]);
        }
        if self.errors.len() == errors && said.values().all(|said| said.whole) {
            self.assemble(&systems, &said);
        }
    }

    fn not_in_system(&mut self, span: Span, what: &str) {
        let message = format!("a system has no {what}");
        let help = "it has VARIABLEs of native components, and a BEGIN with NEW and CONNECT";
        self.report(Diagnostic::new("system-part", span, message).help(help));
    }

    fn read_system(&mut self, id: ComponentId) -> Said {
        let tree = self.components[id.index()].tree;
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
        let requires = &self.program.components[id.index()].requires;
        if requires.iter().any(|facet| !self.is_native_interface(facet.interface)) {
            self.not_in_system(tree.requires[0].span, "REQUIRES but of native interfaces");
        }
        for variable in self.program.components[id.index()].variables.clone() {
            let Variable { is_part, span } = self.part_or_not(variable);
            if !is_part {
                self.not_in_system(span, "variables but those that hold one native component or system each");
            }
        }
        let declared = &self.components[id.index()];
        let whole = !(declared.lost || declared.incomplete || self.doubtful.contains(&id));
        let mut said = Said { whole, ..Said::default() };
        let begin = self.program.components[id.index()].begin.take();
        for statement in begin.iter().flat_map(|block| &block.statements) {
            self.read_statement(id, statement, &mut said);
        }
        self.program.components[id.index()].begin = begin;
        said
    }

    fn part_or_not(&self, id: VariableId) -> Variable {
        let variable = &self.program.variables[id.index()];
        let is_part = matches!(variable.ty, Type::Component(held) if self.is_for_systems(held));
        let is_part = is_part && variable.collection.is_none() || self.untyped_variables.contains(&id);
        Variable { is_part, span: variable.span }
    }

    fn read_statement(&mut self, id: ComponentId, statement: &Statement, said: &mut Said) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::NewComponent(place, _) if variable(place).is_some() => {
                let made = variable(place).expect("as the guard says");
                if let Some(first) = said.made.insert(made, span) {
                    let message = format!("{} is made twice", self.program.variables[made.index()].name);
                    let error = Diagnostic::new("system-new", span, message).label("again");
                    self.report(error.note(first, "first made here"));
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
        self.report(Diagnostic::new("system-statement", span, message).help(help));
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
                    let component = &self.program.components[id.index()];
                    let offered = self.interface_name(component.offers[*index].interface);
                    self.connected_twice(format!("{offered} of {}", component.name), span, earlier);
                }
            }
            ConnectEnd::Of { component: client, interface, .. } => {
                let Some(client) = variable(client) else { return };
                if let Some((_, earlier)) = said.connected.insert((client, *interface), (server, span)) {
                    let (name, part) = (self.interface_name(*interface), self.variable_name(client));
                    self.connected_twice(format!("{name} of {part}"), span, earlier);
                }
            }
            ConnectEnd::OwnRequired(..) => {}
        }
    }

    fn connected_twice(&mut self, what: String, span: Span, earlier: Span) {
        let error = Diagnostic::new("system-connected-twice", span, format!("{what} is connected twice"));
        self.report(error.label("again").note(earlier, "first connected here"));
    }

    pub(super) fn variable_name(&self, id: VariableId) -> &str {
        &self.program.variables[id.index()].name
    }

    /// Each part is made, and has what it requires.
    fn check_parts(&mut self, id: ComponentId, said: &Said) {
        if !said.whole {
            return;
        }
        for variable in self.program.components[id.index()].variables.clone() {
            match (said.made.get(&variable), self.part_or_not(variable)) {
                (_, Variable { is_part: false, .. }) => {}
                (Some(&made), _) => self.check_connected(variable, made, said),
                (None, Variable { span, .. }) => {
                    let message = format!("{} is never made", self.variable_name(variable));
                    let help = format!("write NEW({})", self.variable_name(variable));
                    self.report(Diagnostic::new("system-new", span, message).help(help));
                }
            }
        }
    }

    fn check_connected(&mut self, part: VariableId, made: Span, said: &Said) {
        let Type::Component(component) = self.program.variables[part.index()].ty else { return };
        if self.components[component.index()].incomplete {
            return;
        }
        for facet in self.program.components[component.index()].requires.clone() {
            if !said.connected.contains_key(&(part, facet.interface)) {
                let (name, variable) = (self.interface_name(facet.interface), self.variable_name(part));
                let message = format!("{variable} requires {name}, which is not connected");
                let help = format!("write CONNECT({name}({variable}), x), where x offers {name}");
                let error = Diagnostic::new("system-unconnected", made, message).label("made here");
                self.report(error.help(help));
            }
        }
    }
}

/// What a variable of a system is.
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
