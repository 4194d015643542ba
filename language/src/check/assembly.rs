//! What a system consists of: systems within it are taken apart, until native components are left, each bound to
//! another one. They begin in the order in which they require one another, and what nothing needs is left out.

use std::collections::HashMap;

use crate::program::{ComponentId, Facet, InterfaceId, Part, System, VariableId};
use crate::source::{Diagnostic, Span};

use super::Checker;
use super::systems::{Said, Server};

/// By which variables a part is reached from the system that the program starts with; the system itself by none.
type Path = Vec<VariableId>;

/// Systems, and how far one of them has been put together.
struct Assembly<'c> {
    checker: &'c Checker<'c>,
    said: &'c HashMap<ComponentId, Said>,
    outermost: ComponentId,
    /// Those that have begun, in that order.
    begun: Vec<Path>,
    parts: Vec<Part>,
    /// Those whose requirements begin before them.
    way: Vec<Path>,
}

impl Checker<'_> {
    /// Puts systems together, in which nothing is missing: that each can be is checked, and the one that the program
    /// starts with is kept.
    pub(super) fn assemble(&mut self, systems: &[ComponentId], said: &HashMap<ComponentId, Said>) {
        for &id in systems {
            if self.holds_itself(id, &mut Vec::new()) {
                let component = &self.program.components[id.index()];
                let message = format!("{} holds itself, or a system that does", component.name);
                let error = Diagnostic::new("system-within-itself", component.span, message);
                self.report(
                    error.help("a system is put together before it begins, so that must come to an end"),
                );
                return;
            }
        }
        for &id in systems {
            let (parts, begun, way) = Default::default();
            let mut assembly = Assembly { checker: self, said, outermost: id, begun, parts, way };
            match assembly.put_together().map_err(|cycle| assembly.cycle(&cycle)) {
                Ok(system) if self.program.entry == Some(id) => self.program.system = Some(system),
                Ok(_) => {}
                Err(error) => self.report(error),
            }
        }
    }

    fn holds_itself(&self, id: ComponentId, way: &mut Vec<ComponentId>) -> bool {
        if way.contains(&id) {
            return true;
        }
        way.push(id);
        let variables = &self.program.components[id.index()].variables;
        let mut held = variables.iter().filter_map(|&variable| self.held(variable));
        let found = held.any(|held| !self.is_native(held) && self.holds_itself(held, way));
        way.pop();
        found
    }

    /// Where an interface stands among others: the same trait is the same interface.
    fn find(&self, facets: &[Facet], interface: InterfaceId) -> Option<usize> {
        let native = |id: InterfaceId| self.program.interfaces[id.index()].native.as_deref();
        facets.iter().position(|facet| native(facet.interface) == native(interface))
    }

    /// Parts that nothing needs.
    pub(super) fn unneeded_parts(&self) -> Vec<Diagnostic> {
        let (Some(system), Some(entry)) = (&self.program.system, self.program.entry) else {
            return Vec::new();
        };
        let is_needed = |part: &VariableId| system.parts.iter().any(|needed| needed.path[0] == *part);
        let all = self.program.components[entry.index()].variables.iter();
        let warning = |&part: &VariableId| {
            let message = format!("nothing needs {}: it is not in the system", self.variable_name(part));
            let span = self.program.variables[part.index()].span;
            Diagnostic::warning("system-unneeded", span, message).help("remove it, or connect it")
        };
        all.filter(|part| !is_needed(part)).map(warning).collect()
    }
}

impl Assembly<'_> {
    /// Which parts are needed; or those that require one another.
    fn put_together(&mut self) -> Result<System, Vec<Path>> {
        let offers = &self.checker.program.components[self.outermost.index()].offers;
        let main = offers.iter().map(|facet| self.having(Vec::new(), facet.interface));
        let main: Vec<Option<Path>> = main.collect();
        // What is needed comes first, so that nothing of it depends on what isn't; the rest may go in circles too.
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

    /// What a path leads to.
    fn component(&self, path: &[VariableId]) -> ComponentId {
        let held = path.last().map(|&variable| self.checker.held(variable).expect("a part is a component"));
        held.unwrap_or(self.outermost)
    }

    /// All native components within a part.
    fn natives(&self, path: Path) -> Vec<Path> {
        let component = self.component(&path);
        if self.checker.is_native(component) {
            return vec![path];
        }
        let variables = &self.checker.program.components[component.index()].variables;
        variables.iter().flat_map(|&variable| self.natives([&path[..], &[variable]].concat())).collect()
    }

    /// The native component that has what a part offers; nothing, if it is had from around the outermost system.
    fn having(&self, path: Path, interface: InterfaceId) -> Option<Path> {
        let component = self.component(&path);
        if self.checker.is_native(component) {
            return Some(path);
        }
        let index =
            self.checker.find(&self.checker.program.components[component.index()].offers, interface)?;
        match self.said[&component].offered.get(&index)?.0 {
            Server::Part(inner) => self.having([&path[..], &[inner]].concat(), interface),
            Server::Around(required) => self.around(&path, required).map(|(server, _)| server),
        }
    }

    /// The native component that has what a part requires, and where that is said.
    fn required(&self, path: &[VariableId], interface: InterfaceId) -> Option<(Path, Span)> {
        let (&last, outer) = path.split_last()?;
        let &(server, span) = self.said[&self.component(outer)].connected.get(&(last, interface))?;
        let found = match server {
            Server::Part(server) => self.having([outer, &[server]].concat(), interface),
            Server::Around(required) => self.around(outer, required).map(|(server, _)| server),
        };
        found.map(|server| (server, span))
    }

    /// The native component that has what a system requires, by its index.
    fn around(&self, system: &[VariableId], index: usize) -> Option<(Path, Span)> {
        let required = &self.checker.program.components[self.component(system).index()].requires;
        self.required(system, required[index].interface)
    }

    /// A native component begins, after those that it requires: its number; or those that require one another.
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
        for facet in &self.checker.program.components[component.index()].requires {
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
        path.iter().map(|&part| self.checker.variable_name(part)).collect::<Vec<_>>().join(".")
    }

    /// Parts that require one another.
    fn cycle(&self, cycle: &[Path]) -> Diagnostic {
        let steps: Vec<(&Path, &Path)> = cycle.iter().zip(cycle.iter().cycle().skip(1)).collect();
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|path| self.name(path)).collect();
        let message = format!("parts of the system require one another: {}", names.join(" -> "));
        let place = |&(client, server): &(&Path, &Path)| {
            let requires = &self.checker.program.components[self.component(client).index()].requires;
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
