//! Native components are Rust types, and their interfaces are Rust traits. Checks how they are declared, and that only
//! systems hold them.

use crate::ast;
use crate::program::{ComponentId, InterfaceId, Owner, Type, VariableId};
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

pub(super) const ONLY_SYSTEMS: &str =
    "only systems hold native components, or other systems, in variables of their own";

impl Definitions<'_> {
    /// Whether a component is a Rust type.
    pub(super) fn is_native(&self, id: ComponentId) -> bool {
        self.program.components[id.index()].native.is_some()
    }

    pub(super) fn is_native_interface(&self, id: InterfaceId) -> bool {
        self.program.interfaces[id.index()].native.is_some()
    }

    /// Whether a component is a system, which puts native components together: it holds some, or has native interfaces.
    pub(super) fn is_system(&self, id: ComponentId) -> bool {
        let component = &self.program.components[id.index()];
        let mut facets = component.offers.iter().chain(&component.requires);
        component.native.is_none()
            && (self.holds_natives(id) || facets.any(|facet| self.is_native_interface(facet.interface)))
    }

    /// The component that a variable holds an instance of.
    pub(super) fn held(&self, variable: VariableId) -> Option<ComponentId> {
        match self.program.variables[variable.index()].ty {
            Type::Component(held) => Some(held),
            _ => None,
        }
    }

    fn holds_natives(&self, id: ComponentId) -> bool {
        let variables = &self.program.components[id.index()].variables;
        variables.iter().any(|&variable| self.held(variable).is_some_and(|held| self.is_native(held)))
    }

    /// Whether only systems can hold this component.
    pub(super) fn is_for_systems(&self, id: ComponentId) -> bool {
        self.is_native(id) || self.is_system(id)
    }
}

/// Checks all native declarations, and that only systems hold native components. Headers are known.
pub(super) fn check(known: &Definitions, diagnostics: &mut Diagnostics) {
    Natives { known, diagnostics }.check();
}

struct Natives<'c> {
    known: &'c Definitions<'c>,
    diagnostics: &'c mut Diagnostics,
}

const INTERFACE_ATTRIBUTES: &str =
    "an interface may be {NATIVE \"a::Trait\"}, or have a buffer for more messages: {CAPACITY 64}";

impl Natives<'_> {
    fn check(&mut self) {
        for declared in &self.known.declared.interfaces {
            let tree = declared.tree;
            for attribute in &tree.attributes {
                self.diagnostics.unknown_attribute(attribute, INTERFACE_ATTRIBUTES);
            }
            if let Some(native) = &tree.native {
                self.check_path(native);
                if tree.protocol.is_some() {
                    let message = format!("{} is a Rust trait, and has no messages", tree.name.text);
                    self.no_body(tree.name.span, message, "its methods stand in the trait");
                }
            }
            self.check_messages(declared.id, tree);
        }
        for (declared, id) in self.known.declared.components.iter().zip((0..).map(ComponentId)) {
            if let Some(native) = &declared.tree.native {
                self.check_path(native);
                self.check_native(declared.tree);
            }
            self.check_facets(id, declared.tree);
        }
        for index in 0..self.known.program.variables.len() {
            self.check_holder(VariableId(index as u32));
        }
    }

    fn check_path(&mut self, native: &ast::Native) {
        let is_name = |name: &str| {
            let first = name.bytes().next();
            first.is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if native.path.split("::").count() < 2 || !native.path.split("::").all(is_name) {
            let message = format!("\"{}\" is no path of a Rust type or trait", native.path);
            let error = Diagnostic::new("native-path", native.span, message);
            self.diagnostics.report(error.help("it begins with the crate: \"kortex_thread::RoundRobin\""));
        }
    }

    fn no_body(&mut self, span: Span, message: String, help: &str) {
        self.diagnostics.report(Diagnostic::new("native-body", span, message).help(help));
    }

    fn check_native(&mut self, tree: &ast::Component) {
        for attribute in &tree.attributes {
            self.diagnostics.unknown_attribute(attribute, "a native component is nothing else");
        }
        if !tree.declarations.is_empty()
            || [&tree.begin, &tree.activity, &tree.finally].iter().any(|block| block.is_some())
        {
            let message = format!("{} is a Rust type, and has no body here", tree.name.text);
            self.no_body(tree.name.span, message, "what it does stands in the crate");
        }
    }

    /// Checks that no message brings a native component or a system.
    fn check_messages(&mut self, id: InterfaceId, tree: &ast::Interface) {
        let messages = &self.known.program.interfaces[id.index()].messages;
        let types = messages.iter().flat_map(|message| message.parameters.iter().map(|(_, ty)| ty));
        if let Some(ty) =
            types.into_iter().find(|ty| matches!(**ty, Type::Component(id) if self.known.is_for_systems(id)))
        {
            let message =
                format!("{} can't come in a message of {}", self.known.type_name(ty), tree.name.text);
            let error = Diagnostic::new("native-held", tree.name.span, message);
            self.diagnostics.report(error.help(ONLY_SYSTEMS));
        }
    }

    /// Checks that native components have native interfaces only, and ordinary components none. Systems may have both.
    fn check_facets(&mut self, id: ComponentId, tree: &ast::Component) {
        let component = &self.known.program.components[id.index()];
        let is_native = component.native.is_some();
        let held = |&variable: &VariableId| {
            self.known.held(variable).is_some_and(|held| self.known.is_for_systems(held))
        };
        let holds_parts = component.variables.iter().any(held);
        for (facets, trees, offered) in
            [(&component.offers, &tree.offers, true), (&component.requires, &tree.requires, false)]
        {
            for facet in facets {
                let name = self.known.interface_name(facet.interface);
                let place = trees.iter().find(|tree| tree.name.last() == name);
                let place = place.map_or(component.span, |tree| tree.span);
                let error =
                    |message: String, help: &str| Diagnostic::new("native-facet", place, message).help(help);
                let native = self.known.is_native_interface(facet.interface);
                if is_native && !native {
                    let message = format!("{} is a Rust type, and {name} is no Rust trait", component.name);
                    self.diagnostics
                        .report(error(message, "declare the trait: INTERFACE {NATIVE \"crate::Trait\"} .."));
                } else if native && facet.cardinality.is_some() {
                    let message = format!("{name} is a Rust trait, and has no number of connections");
                    self.diagnostics.report(error(message, "leave out the cardinality"));
                } else if native && !is_native && (component.outer.is_some() || !offered && !holds_parts) {
                    let message =
                        format!("{} is no native component, and {name} is a Rust trait", component.name);
                    let help = "it never crosses a domain: only native components and systems have it";
                    self.diagnostics.report(error(message, help));
                }
            }
        }
    }

    /// Checks that a native component or a system is held by a system.
    fn check_holder(&mut self, id: VariableId) {
        let variable = &self.known.program.variables[id.index()];
        let Type::Component(held) = variable.ty else { return };
        let in_system = match variable.owner {
            Owner::Component(owner) => {
                self.known.program.components[owner.index()].outer.is_none() && self.known.is_system(owner)
            }
            _ => false,
        };
        if self.known.is_for_systems(held) && !in_system {
            let name = self.known.component_name(held);
            let what = if self.known.is_native(held) { "a Rust type" } else { "a system" };
            let message = format!("{name} is {what}, and can't be held here");
            let error = Diagnostic::new("native-held", variable.span, message);
            self.diagnostics.report(error.label(format!("is to hold {name}")).help(ONLY_SYSTEMS));
        }
    }
}
