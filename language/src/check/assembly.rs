//! Flattens systems: a system within a system is replaced by its parts, until only native components are left, each
//! bound to the components that it requires. Components begin after those that they require. A component that nothing
//! needs is left out.

use std::collections::HashMap;

use crate::program::{ComponentId, Facet, InterfaceId, Part, System, VariableId};
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

/// The connections that the BEGIN of a system makes.
#[derive(Default)]
pub(super) struct Said {
    pub(super) made: HashMap<VariableId, Span>,
    /// For each interface that a part requires, its server, and the CONNECT that says so.
    pub(super) connected: HashMap<(VariableId, InterfaceId), (Server, Span)>,
    /// For each interface that the system offers (an index into its OFFERS), its server, and the CONNECT that says so.
    pub(super) offered: HashMap<usize, (Server, Span)>,
    /// The whole BEGIN could be read. If not, a connection that seems to be missing may be in the rest.
    pub(super) whole: bool,
}

/// The server of an interface.
#[derive(Clone, Copy)]
pub(super) enum Server {
    /// A part of the system.
    Part(VariableId),
    /// Outside the system, which requires the interface: an index into its REQUIRES.
    Around(usize),
}

/// The variables by which a part is reached from the outermost system. Empty for that system itself.
type Path = Vec<VariableId>;

/// One system, as far as it has been flattened.
struct Assembly<'c> {
    known: &'c Definitions<'c>,
    said: &'c HashMap<ComponentId, Said>,
    outermost: ComponentId,
    /// The parts that begin, in order.
    begun: Vec<Path>,
    parts: Vec<Part>,
    /// The parts that wait for the parts they require: the stack of [`Assembly::begin`].
    way: Vec<Path>,
}

/// Flattens all systems, in which no connection is missing. Gives the system that the program starts with.
pub(super) fn assemble(
    known: &Definitions,
    systems: &[ComponentId],
    said: &HashMap<ComponentId, Said>,
    diagnostics: &mut Diagnostics,
) -> Option<System> {
    for &id in systems {
        if holds_itself(known, id, &mut Vec::new()) {
            let component = &known.program.components[id.index()];
            let message = format!("{} holds itself, or a system that does", component.name);
            let error = Diagnostic::new("system-within-itself", component.span, message);
            diagnostics
                .report(error.help("a system is put together before it begins, so that must come to an end"));
            return None;
        }
    }
    let mut found = None;
    for &id in systems {
        let (parts, begun, way) = Default::default();
        let mut assembly = Assembly { known, said, outermost: id, begun, parts, way };
        match assembly.put_together().map_err(|cycle| assembly.cycle(&cycle)) {
            Ok(system) if known.program.entry == Some(id) => found = Some(system),
            Ok(_) => {}
            Err(error) => diagnostics.report(error),
        }
    }
    found
}

/// Whether a system holds itself, or a system that does.
fn holds_itself(known: &Definitions, id: ComponentId, way: &mut Vec<ComponentId>) -> bool {
    if way.contains(&id) {
        return true;
    }
    way.push(id);
    let variables = &known.program.components[id.index()].variables;
    let mut held = variables.iter().filter_map(|&variable| known.held(variable));
    let found = held.any(|held| !known.is_native(held) && holds_itself(known, held, way));
    way.pop();
    found
}

/// The position of an interface among facets. Interfaces are the same if their Rust trait is.
fn find(known: &Definitions, facets: &[Facet], interface: InterfaceId) -> Option<usize> {
    let native = |id: InterfaceId| known.program.interfaces[id.index()].native.as_deref();
    facets.iter().position(|facet| native(facet.interface) == native(interface))
}

impl Assembly<'_> {
    /// Flattens the outermost system. The error is a cycle of parts that require one another.
    fn put_together(&mut self) -> Result<System, Vec<Path>> {
        let offers = &self.known.program.components[self.outermost.index()].offers;
        let main = offers.iter().map(|facet| self.having(Vec::new(), facet.interface));
        let main: Vec<Option<Path>> = main.collect();
        // Needed parts come first. The other parts are visited too, since they may also form a cycle.
        let mut offers = Vec::new();
        for part in main.into_iter().flatten() {
            offers.push(self.begin(part)?);
        }
        let needed = self.parts.len();
        for part in self.natives(Vec::new()) {
            self.begin(part)?;
        }
        self.parts.truncate(needed);
        Ok(System { offers, parts: std::mem::take(&mut self.parts) })
    }

    /// The component at a path.
    fn component(&self, path: &[VariableId]) -> ComponentId {
        let held = path.last().map(|&variable| self.known.held(variable).expect("a part is a component"));
        held.unwrap_or(self.outermost)
    }

    /// All native components within a part.
    fn natives(&self, path: Path) -> Vec<Path> {
        let component = self.component(&path);
        if self.known.is_native(component) {
            return vec![path];
        }
        let variables = &self.known.program.components[component.index()].variables;
        variables.iter().flat_map(|&variable| self.natives([&path[..], &[variable]].concat())).collect()
    }

    /// The native component that serves an interface that a part offers. `None` if it is outside the outermost system.
    fn having(&self, path: Path, interface: InterfaceId) -> Option<Path> {
        let component = self.component(&path);
        if self.known.is_native(component) {
            return Some(path);
        }
        let index = find(self.known, &self.known.program.components[component.index()].offers, interface)?;
        match self.said[&component].offered.get(&index)?.0 {
            Server::Part(inner) => self.having([&path[..], &[inner]].concat(), interface),
            Server::Around(required) => self.around(&path, required).map(|(server, _)| server),
        }
    }

    /// The native component that serves an interface that a part requires, and the CONNECT that says so.
    fn required(&self, path: &[VariableId], interface: InterfaceId) -> Option<(Path, Span)> {
        let (&last, outer) = path.split_last()?;
        let &(server, span) = self.said[&self.component(outer)].connected.get(&(last, interface))?;
        let found = match server {
            Server::Part(server) => self.having([outer, &[server]].concat(), interface),
            Server::Around(required) => self.around(outer, required).map(|(server, _)| server),
        };
        found.map(|server| (server, span))
    }

    /// The native component that serves an interface that a system requires, by its index.
    fn around(&self, system: &[VariableId], index: usize) -> Option<(Path, Span)> {
        let required = &self.known.program.components[self.component(system).index()].requires;
        self.required(system, required[index].interface)
    }

    /// Adds a native component behind those that it requires, and gives its number. The error is a cycle.
    fn begin(&mut self, part: Path) -> Result<usize, Vec<Path>> {
        if let Some(begun) = self.begun.iter().position(|begun| *begun == part) {
            return Ok(begun);
        }
        if let Some(first) = self.way.iter().position(|earlier| *earlier == part) {
            return Err(self.way[first..].to_vec());
        }
        self.way.push(part.clone());
        let component = self.component(&part);
        let mut bound = Vec::new();
        for facet in &self.known.program.components[component.index()].requires {
            if let Some((server, _)) = self.required(&part, facet.interface) {
                bound.push(self.begin(server)?);
            }
        }
        self.way.pop();
        self.begun.push(part.clone());
        self.parts.push(Part { path: part, component, bound });
        Ok(self.parts.len() - 1)
    }

    fn name(&self, path: &[VariableId]) -> String {
        path.iter().map(|&part| self.known.variable_name(part)).collect::<Vec<_>>().join(".")
    }

    /// The error for parts that require one another.
    fn cycle(&self, cycle: &[Path]) -> Diagnostic {
        let steps: Vec<(&Path, &Path)> = cycle.iter().zip(cycle.iter().cycle().skip(1)).collect();
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|path| self.name(path)).collect();
        let message = format!("parts of the system require one another: {}", names.join(" -> "));
        let place = |&(client, server): &(&Path, &Path)| {
            let requires = &self.known.program.components[self.component(client).index()].requires;
            let of = requires.iter().filter_map(|facet| self.required(client, facet.interface));
            of.filter(|(found, _)| found == server).map(|(_, span)| span).min().unwrap_or_default()
        };
        let last = steps.last().map(place).unwrap_or_default();
        let error = Diagnostic::new("system-cycle", last, message).label("closes the cycle");
        let others = &steps[..steps.len() - 1];
        let error = others.iter().fold(error, |error, step| error.note(place(step), "by way of this"));
        error.help("none of them could begin first: one has to do without what it requires")
    }
}
