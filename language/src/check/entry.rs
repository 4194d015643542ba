//! Which component the program starts with, and that the system can give it what it requires.

use crate::ast;
use crate::program::{ComponentId, InterfaceId};
use crate::source::{Diagnostic, Span};

use super::names::similar;
use super::predeclared::SYSTEM_FILE;
use super::{Checker, Start};

/// The interface of the system that it uses itself, if components of the program offer it.
const OFFERED_BY_PROGRAMS: &str = "NamingContext";

impl<'a> Checker<'a> {
    /// Finds the entry: by name if one is given, else by attribute, else the last at the top level of the first
    /// file that has any. Files that others import may be programs too, which does not matter here.
    pub(super) fn choose_entry(&mut self, start: Start) {
        let name = match start {
            Start::Named(name) => Some(name),
            Start::Usual | Start::IfAny => None,
        };
        let own = self.own_components();
        let top: Vec<ComponentId> = own
            .iter()
            .copied()
            .filter(|&id| self.components[id.index()].top_level && !self.is_native(id))
            .collect();
        let file_of = |id: &ComponentId| self.components[id.index()].tree.name.span.file;
        let first = top.first().map(file_of);
        let last_of_first = top.iter().copied().rfind(|id| Some(file_of(id)) == first);
        let marked = self.marked(&own);
        let entry = match name {
            Some(name) => self.entry_named(name, &top),
            None => marked.or(last_of_first),
        };
        self.check_virtual(&own, entry.filter(|_| name.is_none()), name.is_some());
        match entry {
            // A part of programs may well end with a component that their entry connects.
            Some(entry) if start == Start::IfAny && marked.is_none() && self.wants_others(entry) => (),
            Some(entry) => {
                self.program.entry = Some(entry);
                self.check_entry(entry);
            }
            None if start == Start::Usual => {
                let error = Diagnostic::new(
                    "no-entry",
                    Span::default(),
                    "the program has no component to start with",
                );
                self.report(error.help("write a COMPONENT at the top level"));
            }
            None => (),
        }
    }

    /// Those of the files that nobody imports.
    fn own_components(&self) -> Vec<ComponentId> {
        let all = (0..self.components.len() as u32).map(ComponentId);
        all.filter(|id| !self.is_imported(&self.components[id.index()].tree.name)).collect()
    }

    fn attribute(&self, id: ComponentId, name: &str) -> Option<&'a ast::Name> {
        self.components[id.index()].tree.attributes.iter().find(|attribute| attribute.text == name)
    }

    /// The component with `{ENTRYPOINT}`.
    fn marked(&mut self, own: &[ComponentId]) -> Option<ComponentId> {
        let mut marked: Option<(ComponentId, Span)> = None;
        for &id in own {
            let Some(attribute) = self.attribute(id, "ENTRYPOINT") else { continue };
            if !self.components[id.index()].top_level {
                let message = format!("{} is inside another component", self.component_name(id));
                let error = Diagnostic::new("entry-inside", attribute.span, message);
                self.report(
                    error.label("not at the top level").help("a program starts with a top-level component"),
                );
                continue;
            }
            match marked {
                None => marked = Some((id, attribute.span)),
                Some((_, first)) => {
                    let error =
                        Diagnostic::new("two-entries", attribute.span, "the program has two entry points");
                    self.report(error.label("the second").note(first, "the first").help("keep one of them"));
                }
            }
        }
        marked.map(|(id, _)| id)
    }

    fn entry_named(&mut self, name: &str, top: &[ComponentId]) -> Option<ComponentId> {
        let found = top.iter().copied().find(|&id| self.component_name(id) == name);
        if found.is_none() {
            let inner = self.program.components.iter().find(|component| component.name == name);
            let message = match inner {
                Some(_) => format!("the program cannot start with {name}, which is inside another component"),
                None => format!("the program cannot start with {name}: it has no such component"),
            };
            // It is no place in the program that is wrong.
            let nowhere = Span { file: SYSTEM_FILE, ..Span::default() };
            let error = Diagnostic::new("no-entry", nowhere, message);
            self.report(error.help(self.entry_help(name, top)));
        }
        found
    }

    /// What the program can start with instead.
    fn entry_help(&self, name: &str, top: &[ComponentId]) -> String {
        let candidates: Vec<&str> = top.iter().map(|&id| self.component_name(id)).collect();
        let candidate = match (similar(name, candidates.iter().copied()), &candidates[..]) {
            (Some(similar), [_]) => return format!("did you mean {similar}?"),
            (_, []) => return "write a COMPONENT at the top level".into(),
            (Some(similar), _) => format!("did you mean {similar}? "),
            (None, _) => String::new(),
        };
        format!("{candidate}these are at the top level: {}", candidates.join(", "))
    }

    /// `{VIRTUAL}` stands on the entry; where another one was asked for by name, any top-level component may be
    /// the usual one.
    fn check_virtual(&mut self, own: &[ComponentId], entry: Option<ComponentId>, named: bool) {
        for &id in own {
            let Some(attribute) = self.attribute(id, "VIRTUAL") else { continue };
            let top = self.components[id.index()].top_level;
            if !(top && (named || entry == Some(id))) {
                let message = "virtual time is the whole program's: VIRTUAL stands on its entry component";
                let error = Diagnostic::new("virtual-not-entry", attribute.span, message);
                self.report(error.help("mark the entry component {ENTRYPOINT, VIRTUAL}"));
            }
        }
    }

    /// The interfaces of the system that no message of another mentions (those belong to what the message brings), and
    /// that are not for programs to offer.
    pub(super) fn offered_by_system(&self) -> Vec<InterfaceId> {
        let declared = self.interface_declarations.iter().filter(|declared| declared.is_predeclared());
        let all: Vec<InterfaceId> = declared.map(|declared| declared.id).collect();
        let messages = all.iter().flat_map(|id| &self.program.interfaces[id.index()].messages);
        let types = messages.flat_map(|message| message.parameters.iter().map(|(_, ty)| ty));
        let brought: Vec<InterfaceId> =
            types.flat_map(|ty| self.offers_of(ty)).map(|facet| facet.interface).collect();
        let by_programs = |id: &InterfaceId| self.interface_name(*id) == OFFERED_BY_PROGRAMS;
        all.into_iter().filter(|id| !brought.contains(id) && !by_programs(id)).collect()
    }

    /// Whether a component requires interfaces of which the system has none by that name, and with which a component
    /// of a program can connect it.
    fn wants_others(&self, id: ComponentId) -> bool {
        let offered = self.offered_by_system();
        let is_systems = |name: &str| offered.iter().any(|&id| self.interface_name(id) == name);
        let requires = &self.program.components[id.index()].requires;
        let others = requires.iter().filter(|facet| !offered.contains(&facet.interface));
        let mut others = others.map(|facet| facet.interface).filter(|&id| !self.is_native_interface(id));
        others.any(|id| !is_systems(self.interface_name(id)))
    }

    /// What the entry requires, the system offers.
    fn check_entry(&mut self, id: ComponentId) {
        let tree = self.components[id.index()].tree;
        let offered = self.offered_by_system();
        let names: Vec<String> = offered.iter().map(|&id| self.interface_name(id).to_string()).collect();
        for index in 0..self.program.components[id.index()].requires.len() {
            let facet = &self.program.components[id.index()].requires[index];
            let name = self.interface_name(facet.interface).to_string();
            let is_native = self.is_native_interface(facet.interface);
            let place = tree.requires.iter().find(|tree| tree.name.last() == name);
            let place = place.map_or(tree.name.span, |tree| tree.span);
            let (message, help) = if offered.contains(&facet.interface) {
                if facet.cardinality.is_none() {
                    continue;
                }
                (format!("the system gives one connection of {name}"), "leave out the cardinality".into())
            } else if self.beside_crates && !names.contains(&name) {
                continue;
            } else if names.contains(&name) {
                (
                    format!("this {name} is not the one that the system offers"),
                    "leave out its declaration: it is predeclared".into(),
                )
            } else {
                (
                    format!(
                        "the program starts with {}, and the system does not offer {name}",
                        tree.name.text
                    ),
                    match is_native {
                        true => "a system that another one holds is checked with that one's file".into(),
                        false => format!("the system offers {}", names.join(", ")),
                    },
                )
            };
            let error = Diagnostic::new("entry-requires", place, message).label("required here");
            self.report(error.help(help));
        }
    }
}
