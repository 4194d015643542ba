//! Systems: components that only put native ones together. All that a system does is known before it begins: which parts it needs, what
//! each is bound to, and in which order they begin.

use std::collections::HashMap;

use crate::ast;
use crate::program::{
    ComponentId, ConnectEnd, InterfaceId, Part, Place, PlaceKind, StatementKind, System, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::Checker;

/// What the BEGIN of a system says.
#[derive(Default)]
struct Said {
    made: HashMap<VariableId, Span>,
    /// Which part has what a part requires, and where that is said.
    connected: HashMap<(VariableId, InterfaceId), (VariableId, Span)>,
    /// Which part has what the system offers.
    offered: HashMap<usize, VariableId>,
    /// All that could be read: what seems to be missing may be in the rest.
    whole: bool,
}

impl Checker<'_> {
    /// Checks all systems; of the one that the program starts with it is kept what it consists of.
    pub(super) fn check_systems(&mut self) {
        for id in (0..self.components.len() as u32).map(ComponentId) {
            if self.is_system(id) && self.components[id.index()].top_level {
                let said = self.read_system(id);
                let system = self.put_together(id, &said);
                if self.program.entry == Some(id) {
                    self.program.system = system;
                }
            }
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
        // What is said of a trait has been said.
        let requires = &self.program.components[id.index()].requires;
        if requires.iter().any(|facet| !self.is_native_interface(facet.interface)) {
            self.not_in_system(tree.requires[0].span, "REQUIRES: there is nothing around it");
        }
        for variable in self.program.components[id.index()].variables.clone() {
            let Variable { is_part, span } = self.part_or_not(variable);
            if !is_part {
                self.not_in_system(span, "variables but those that hold one native component each");
            }
        }
        let declared = &self.components[id.index()];
        let whole = !(declared.lost || declared.incomplete || self.doubtful.contains(&id));
        let mut said = Said { whole, ..Said::default() };
        let begin = self.program.components[id.index()].begin.take();
        for statement in begin.iter().flat_map(|block| &block.statements) {
            self.read_statement(&statement.kind, statement.span, &mut said);
        }
        self.program.components[id.index()].begin = begin;
        said
    }

    fn part_or_not(&self, id: VariableId) -> Variable {
        let variable = &self.program.variables[id.index()];
        let is_native = matches!(variable.ty, Type::Component(held) if self.is_native(held));
        let is_part = is_native && variable.collection.is_none() || self.untyped_variables.contains(&id);
        Variable { is_part, span: variable.span }
    }

    fn read_statement(&mut self, kind: &StatementKind, span: Span, said: &mut Said) {
        match kind {
            StatementKind::NewComponent(place, _) if variable(place).is_some() => {
                let made = variable(place).expect("as the guard says");
                if let Some(first) = said.made.insert(made, span) {
                    let message = format!("{} is made twice", self.program.variables[made.index()].name);
                    let error = Diagnostic::new("system-new", span, message).label("again");
                    self.report(error.note(first, "first made here"));
                }
            }
            StatementKind::Connect(first, second, None) => self.read_connection(first, second, span, said),
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

    fn read_connection(&mut self, first: &ConnectEnd, second: &ConnectEnd, span: Span, said: &mut Said) {
        let ConnectEnd::Of { component: server, .. } = second else { return };
        let Some(server) = variable(server) else { return };
        match first {
            ConnectEnd::OwnOffered(index) => {
                said.offered.insert(*index, server);
            }
            ConnectEnd::Of { component: client, interface, .. } => {
                let Some(client) = variable(client) else { return };
                if let Some((_, earlier)) = said.connected.insert((client, *interface), (server, span)) {
                    let (name, part) = (self.interface_name(*interface), self.variable_name(client));
                    let error = Diagnostic::new(
                        "system-connected-twice",
                        span,
                        format!("{name} of {part} is connected twice"),
                    );
                    self.report(error.label("again").note(earlier, "first connected here"));
                }
            }
            ConnectEnd::OwnRequired(..) => {}
        }
    }

    fn variable_name(&self, id: VariableId) -> &str {
        &self.program.variables[id.index()].name
    }

    /// Which parts are needed, and in which order they begin; nothing if something is missing.
    fn put_together(&mut self, id: ComponentId, said: &Said) -> Option<System> {
        let errors = self.errors.len();
        if !said.whole {
            return None;
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
        if self.errors.len() > errors {
            return None;
        }
        let mut order = Order { said, begun: Vec::new(), way: Vec::new(), parts: Vec::new() };
        let all = self.program.components[id.index()].variables.clone();
        // What is needed comes first, so that nothing of it depends on what isn't; the rest may go in circles too.
        let offered = 0..self.program.components[id.index()].offers.len();
        let offered: Vec<VariableId> =
            offered.filter_map(|index| said.offered.get(&index).copied()).collect();
        let mut needed = 0;
        for (number, &part) in offered.iter().chain(&all).enumerate() {
            if let Err(cycle) = self.begin(part, &mut order) {
                self.report_cycle(&cycle, said);
                return None;
            }
            if number < offered.len() {
                needed = order.parts.len();
            }
        }
        order.parts.truncate(needed);
        let offers = offered.iter().filter_map(|part| order.begun.iter().position(|begun| begun == part));
        Some(System { offers: offers.collect(), parts: order.parts })
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

    /// A part begins, after those that it requires; or the parts that require one another.
    fn begin(&self, part: VariableId, order: &mut Order<'_>) -> Result<usize, Vec<VariableId>> {
        if let Some(begun) = order.begun.iter().position(|&begun| begun == part) {
            return Ok(begun);
        }
        if let Some(first) = order.way.iter().position(|&earlier| earlier == part) {
            return Err(order.way[first..].to_vec());
        }
        order.way.push(part);
        let Type::Component(component) = self.program.variables[part.index()].ty else {
            unreachable!("a part is a native component")
        };
        let mut bound = Vec::new();
        for facet in &self.program.components[component.index()].requires {
            let (server, _) = order.said.connected[&(part, facet.interface)];
            bound.push(self.begin(server, order)?);
        }
        order.way.pop();
        order.begun.push(part);
        order.parts.push(Part { variable: part, component, bound });
        Ok(order.parts.len() - 1)
    }

    fn report_cycle(&mut self, cycle: &[VariableId], said: &Said) {
        let next = cycle.iter().cycle().skip(1);
        let steps: Vec<(VariableId, VariableId)> = cycle.iter().copied().zip(next.copied()).collect();
        let names: Vec<&str> =
            cycle.iter().chain(cycle.first()).map(|&part| self.variable_name(part)).collect();
        let message = format!("parts of the system require one another: {}", names.join(" -> "));
        let place = |&(client, server): &(VariableId, VariableId)| {
            let between =
                said.connected.iter().filter(|&(&(from, _), &(to, _))| from == client && to == server);
            between.map(|(_, &(_, span))| span).min().unwrap_or_default()
        };
        let [others @ .., last] = &steps[..] else { return };
        let error = Diagnostic::new("system-cycle", place(last), message).label("closes the cycle");
        let error = others.iter().fold(error, |error, step| error.note(place(step), "by way of this"));
        self.report(error.help("none of them could begin first: one has to do without what it requires"));
    }

    /// Parts that nothing needs.
    pub(super) fn unneeded_parts(&self) -> Vec<Diagnostic> {
        let (Some(system), Some(entry)) = (&self.program.system, self.program.entry) else {
            return Vec::new();
        };
        let is_needed = |part: &VariableId| system.parts.iter().any(|needed| needed.variable == *part);
        let all = self.program.components[entry.index()].variables.iter();
        let warning = |&part: &VariableId| {
            let message = format!("nothing needs {}: it is not in the system", self.variable_name(part));
            let span = self.program.variables[part.index()].span;
            Diagnostic::warning("system-unneeded", span, message).help("remove it, or connect it")
        };
        all.filter(|part| !is_needed(part)).map(warning).collect()
    }
}

/// What a variable of a system is.
struct Variable {
    is_part: bool,
    span: Span,
}

/// Parts on their way to an order.
struct Order<'s> {
    said: &'s Said,
    begun: Vec<VariableId>,
    /// Those whose requirements begin before them.
    way: Vec<VariableId>,
    parts: Vec<Part>,
}

fn variable(place: &Place) -> Option<VariableId> {
    match place.kind {
        PlaceKind::Variable(id) => Some(id),
        _ => None,
    }
}
