//! Chooses the component that the program starts with, and checks that the system offers what it requires.

use crate::ast;
use crate::program::{ComponentId, InterfaceId};
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::options::{Options, Start};
use super::predeclared::SYSTEM_FILE;
use super::similar::similar;

/// The interface of the system that components of the program offer, and that the system uses.
const OFFERED_BY_PROGRAMS: &str = "NamingContext";

/// Finds the entry: by name if one is given, else by attribute, else the last at the top level of the first file that
/// has any. Imported files may be programs too; their entries don't matter here.
pub(super) fn choose(
    known: &Definitions,
    options: Options,
    diagnostics: &mut Diagnostics,
) -> Option<ComponentId> {
    Choice { known, beside_crates: options.beside_crates, diagnostics }.choose(options.start)
}

struct Choice<'c> {
    known: &'c Definitions<'c>,
    beside_crates: bool,
    diagnostics: &'c mut Diagnostics,
}

impl<'c> Choice<'c> {
    fn choose(&mut self, start: Start) -> Option<ComponentId> {
        let name = match start {
            Start::Named(name) => Some(name),
            Start::Marked | Start::Optional => None,
        };
        let own = self.own_components();
        let top: Vec<ComponentId> = own
            .iter()
            .copied()
            .filter(|&id| self.known.declared.components[id.index()].top_level && !self.known.is_native(id))
            .collect();
        let file_of = |id: &ComponentId| self.known.declared.components[id.index()].tree.name.span.file;
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
            Some(entry) if start == Start::Optional && marked.is_none() && self.wants_others(entry) => None,
            Some(entry) => {
                self.check_entry(entry);
                Some(entry)
            }
            None if start == Start::Marked => {
                let error = Diagnostic::new(
                    "no-entry",
                    Span::default(),
                    "the program has no component to start with",
                );
                self.diagnostics.report(error.help("write a COMPONENT at the top level"));
                None
            }
            None => None,
        }
    }

    /// The components of files that are not imported.
    fn own_components(&self) -> Vec<ComponentId> {
        let imported = &self.known.program.imported;
        let all = (0..).map(ComponentId).zip(&self.known.declared.components);
        let own = all.filter(|(_, declared)| !imported.contains(&declared.tree.name.span.file));
        own.map(|(id, _)| id).collect()
    }

    fn attribute(&self, id: ComponentId, name: &str) -> Option<&'c ast::Name> {
        self.known.declared.components[id.index()]
            .tree
            .attributes
            .iter()
            .find(|attribute| attribute.text == name)
    }

    /// The component with `{ENTRYPOINT}`.
    fn marked(&mut self, own: &[ComponentId]) -> Option<ComponentId> {
        let mut marked: Option<(ComponentId, Span)> = None;
        for &id in own {
            let Some(attribute) = self.attribute(id, "ENTRYPOINT") else { continue };
            if !self.known.declared.components[id.index()].top_level {
                let message = format!("{} is inside another component", self.known.component_name(id));
                let error = Diagnostic::new("entry-inside", attribute.span, message);
                self.diagnostics.report(
                    error.label("not at the top level").help("a program starts with a top-level component"),
                );
                continue;
            }
            match marked {
                None => marked = Some((id, attribute.span)),
                Some((_, first)) => {
                    let error =
                        Diagnostic::new("two-entries", attribute.span, "the program has two entry points");
                    self.diagnostics
                        .report(error.label("the second").note(first, "the first").help("keep one of them"));
                }
            }
        }
        marked.map(|(id, _)| id)
    }

    fn entry_named(&mut self, name: &str, top: &[ComponentId]) -> Option<ComponentId> {
        let found = top.iter().copied().find(|&id| self.known.component_name(id) == name);
        if found.is_none() {
            let inner = self.known.program.components.iter().find(|component| component.name == name);
            let message = match inner {
                Some(_) => format!("the program cannot start with {name}, which is inside another component"),
                None => format!("the program cannot start with {name}: it has no such component"),
            };
            // No place in the program is at fault.
            let nowhere = Span { file: SYSTEM_FILE, ..Span::default() };
            let error = Diagnostic::new("no-entry", nowhere, message);
            self.diagnostics.report(error.help(self.entry_help(name, top)));
        }
        found
    }

    /// What the program can start with instead.
    fn entry_help(&self, name: &str, top: &[ComponentId]) -> String {
        let candidates: Vec<&str> = top.iter().map(|&id| self.known.component_name(id)).collect();
        let candidate = match (similar(name, candidates.iter().copied()), &candidates[..]) {
            (Some(similar), [_]) => return format!("did you mean {similar}?"),
            (_, []) => return "write a COMPONENT at the top level".into(),
            (Some(similar), _) => format!("did you mean {similar}? "),
            (None, _) => String::new(),
        };
        format!("{candidate}these are at the top level: {}", candidates.join(", "))
    }

    /// Checks that `{VIRTUAL}` stands on the entry. If the entry was chosen by name, it may stand on any top-level
    /// component.
    fn check_virtual(&mut self, own: &[ComponentId], entry: Option<ComponentId>, named: bool) {
        for &id in own {
            let Some(attribute) = self.attribute(id, "VIRTUAL") else { continue };
            let top = self.known.declared.components[id.index()].top_level;
            if !(top && (named || entry == Some(id))) {
                let message = "virtual time is the whole program's: VIRTUAL stands on its entry component";
                let error = Diagnostic::new("virtual-not-entry", attribute.span, message);
                self.diagnostics.report(error.help("mark the entry component {ENTRYPOINT, VIRTUAL}"));
            }
        }
    }

    /// Whether a component requires an interface that only another component of the program can offer: the system has
    /// none of that name, and it is no Rust trait.
    fn wants_others(&self, id: ComponentId) -> bool {
        let offered = offered_by_system(self.known);
        let is_systems = |name: &str| offered.iter().any(|&id| self.known.interface_name(id) == name);
        let requires = &self.known.program.components[id.index()].requires;
        let others = requires.iter().filter(|facet| !offered.contains(&facet.interface));
        let mut others =
            others.map(|facet| facet.interface).filter(|&id| !self.known.is_native_interface(id));
        others.any(|id| !is_systems(self.known.interface_name(id)))
    }

    /// Checks that the system offers what the entry requires.
    fn check_entry(&mut self, id: ComponentId) {
        let tree = self.known.declared.components[id.index()].tree;
        let offered = offered_by_system(self.known);
        let names: Vec<String> =
            offered.iter().map(|&id| self.known.interface_name(id).to_string()).collect();
        for index in 0..self.known.program.components[id.index()].requires.len() {
            let facet = &self.known.program.components[id.index()].requires[index];
            let name = self.known.interface_name(facet.interface).to_string();
            let is_native = self.known.is_native_interface(facet.interface);
            let place = tree.requires.iter().find(|tree| tree.name.last() == name);
            let place = place.map_or(tree.name.span, |tree| tree.span);
            let (message, help) = if offered.contains(&facet.interface) {
                if facet.cardinality.is_none() {
                    continue;
                }
                (format!("the system gives one connection of {name}"), "leave out the cardinality".into())
            } else if self.beside_crates {
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
            self.diagnostics.report(error.help(help));
        }
    }
}

/// The interfaces that the system offers to the entry. Not among them: interfaces of components that come in messages,
/// and the interface that programs offer.
pub(super) fn offered_by_system(known: &Definitions) -> Vec<InterfaceId> {
    let declared = known.declared.interfaces.iter().filter(|declared| declared.is_predeclared());
    let all: Vec<InterfaceId> = declared.map(|declared| declared.id).collect();
    let messages = all.iter().flat_map(|id| &known.program.interfaces[id.index()].messages);
    let types = messages.flat_map(|message| message.parameters.iter().map(|(_, ty)| ty));
    let brought: Vec<InterfaceId> =
        types.flat_map(|ty| known.offers_of(ty)).map(|facet| facet.interface).collect();
    let by_programs = |id: &InterfaceId| known.interface_name(*id) == OFFERED_BY_PROGRAMS;
    all.into_iter().filter(|id| !brought.contains(id) && !by_programs(id)).collect()
}
