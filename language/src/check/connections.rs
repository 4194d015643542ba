//! CONNECT and DISCONNECT: finds both ends, and checks that they have the same interface.

use crate::ast;
use crate::program::{ConnectEnd, Expression, InterfaceId, Place, StatementKind, Type};
use crate::source::{Diagnostic, Span};

use super::binding_names::Purpose;
use super::body::BodyChecker;
use super::conversions::convert;
use super::joints::{Joint, scheme};
use super::places::as_designator;
use super::scopes::Found;
use super::similar::similar;
use super::symbols::Symbol;
use super::types::is_bare_any;

impl BodyChecker<'_> {
    /// `CONNECT(required, offered) [BY calls]`, or with a name instead of `offered`.
    pub(super) fn connect(
        &mut self,
        required: &ast::Designator,
        to: &ast::Expression,
        by: &[ast::Call],
        span: Span,
    ) -> Option<StatementKind> {
        let first = self.first_end(required);
        if let Some((ConnectEnd::OwnOffered(index), _)) = first {
            self.connects_inward(index, span);
        }
        let wanted = first.as_ref().map(|&(_, interface)| interface);
        let Some(second) = as_designator(to).filter(|designator| self.is_end(designator)) else {
            let name = self.name_as_end(to);
            let joint = Joint { purpose: Purpose::Connect, interface: wanted, scheme: scheme(name.as_ref()) };
            let by = self.factories(by, span, &joint);
            let ((required, interface), name, by) = (first?, name?, by?);
            return Some(StatementKind::Bind { required, interface, name, by });
        };
        let second = self.second_end(&required.name, wanted, &second);
        let scheme = Some(String::from("local"));
        let joint = Joint { purpose: Purpose::Connect, interface: wanted, scheme };
        let hints = self.factories(by, span, &joint);
        let ((first, wanted), (second, found), hints) = (first?, second?, hints?);
        if wanted != found {
            let (a, b) = (
                &self.known.program.interfaces[wanted.index()],
                &self.known.program.interfaces[found.index()],
            );
            let (message, help) = if a.name == b.name {
                let message = format!("the two ends name different interfaces {}", a.name);
                (message, "declare it once, around both components, or with the same text in both places")
            } else {
                (format!("{} cannot be connected to {}", a.name, b.name), "both ends have the same interface")
            };
            let mut error = Diagnostic::new("different-interfaces", span, message).help(help);
            for interface in [a, b] {
                if interface.span != Span::default() {
                    error = error.note(interface.span, "one is declared here");
                }
            }
            self.report(error);
            return None;
        }
        Some(StatementKind::Connect(first, second, (!by.is_empty()).then_some(hints)))
    }

    /// `DISCONNECT(required)`
    pub(super) fn disconnect(&mut self, tree: &ast::Designator) -> Option<StatementKind> {
        if tree.inner.is_none() && self.variable_named(&tree.name).is_some() {
            let error = Diagnostic::new("which-interface", tree.span, "which interface is disconnected?");
            let name = &tree.name.text;
            let help = format!(
                "write Interface({name}) for an interface that it requires; DELETE({name}) ends the component"
            );
            self.report(error.label("a component").help(help));
            return None;
        }
        let reported = self.reported();
        let end = self.first_end(tree);
        if end.is_none()
            && let Some(ast::Inner::Designator(component)) = tree.inner.as_deref()
            && self.is_offered(component, &tree.name)
        {
            let name = &component.name.text;
            let help = format!(
                "it is offered: DISCONNECT takes a required interface; DELETE({name}) ends the component"
            );
            self.explain(reported, "not-required", &help);
        }
        end.map(|(end, _)| StatementKind::Disconnect(end))
    }

    /// Whether the component in a variable offers an interface of this name.
    fn is_offered(&self, component: &ast::Designator, name: &ast::Name) -> bool {
        let variable = self.variable_named(&component.name);
        let ty = variable.map(|id| &self.variable(id).ty);
        ty.is_some_and(|ty| self.known.facet_named(self.known.offers_of(ty), name).is_some())
    }

    /// `I(x)`, `I[k](x)`, or an own offered interface.
    fn first_end(&mut self, tree: &ast::Designator) -> Option<(ConnectEnd, InterfaceId)> {
        match tree.inner.as_deref() {
            Some(ast::Inner::Designator(component)) => {
                let component_place = self.connected_component(component)?;
                let interface = self.required_by(&component_place, &tree.name)?;
                let required = self.known.requires_of(&component_place.ty);
                let facet = required.and_then(|list| list.iter().find(|facet| facet.interface == interface));
                let index = match facet.map(|facet| facet.cardinality) {
                    Some(cardinality) => self.slot_of(cardinality, tree)?,
                    None => self.any_slot(tree)?,
                };
                Some((ConnectEnd::Of { component: component_place, interface, index }, interface))
            }
            Some(ast::Inner::Type(_)) => {
                self.which_interface(tree, "connected");
                None
            }
            None if self.variable_named(&tree.name).is_some() => {
                self.which_interface(tree, "connected");
                None
            }
            None => self.own_offered(tree),
        }
    }

    pub(super) fn which_interface(&mut self, tree: &ast::Designator, done: &str) {
        let message = format!("which interface is {done}?");
        let error = Diagnostic::new("which-interface", tree.span, message).label("a component");
        self.report(error.help(format!("write Interface({})", tree.name.text)));
    }

    fn own_offered(&mut self, tree: &ast::Designator) -> Option<(ConnectEnd, InterfaceId)> {
        let Some(id) = self.component() else {
            self.no_component(&tree.name);
            return None;
        };
        let component = &self.known.program.components[id.index()];
        let Some(index) = self.known.facet_named(&component.offers, &tree.name) else {
            if self.known.facet_named(&component.requires, &tree.name).is_some() {
                let message = format!("{} of this component is connected from outside", tree.name.text);
                let error =
                    Diagnostic::new("not-offered", tree.span, message).label("its own required interface");
                self.report(
                    error.help("what this component requires is connected by the component that holds it"),
                );
            } else {
                self.not_offered(id, &tree.name);
            }
            return None;
        };
        let interface = component.offers[index].interface;
        if tree.indices.is_some() {
            let error = Diagnostic::new("offered-index", tree.span, "an offered interface has no index");
            self.report(error.help("one connection inward serves all its clients"));
            return None;
        }
        Some((ConnectEnd::OwnOffered(index), interface))
    }

    /// k of `I[k](x)` where x may be of any template.
    fn any_slot(&mut self, tree: &ast::Designator) -> Option<Option<Expression>> {
        match tree.indices.as_deref() {
            None => Some(None),
            Some([index]) => self.expression_of(index, &Type::Integer).map(Some),
            Some(_) => {
                self.report(Diagnostic::new("slot-index", tree.span, "a required interface has one index"));
                None
            }
        }
    }

    pub(super) fn connected_component(&mut self, tree: &ast::Designator) -> Option<Place> {
        let place = self.place(tree)?;
        if !place.ty.is_component() {
            self.not_a_component(&place, &tree.name);
            return None;
        }
        Some(place)
    }

    /// The interface of that name that a component in the place requires.
    fn required_by(&mut self, place: &Place, name: &ast::Name) -> Option<InterfaceId> {
        let Some(requires) = self.known.requires_of(&place.ty) else {
            return self.interface_in_scope(name);
        };
        if let Some(index) = self.known.facet_named(requires, name) {
            return Some(requires[index].interface);
        }
        if self.known.is_incomplete(&place.ty) {
            return None;
        }
        let message = format!("{} does not require {}", self.known.type_name(&place.ty), name.text);
        let mut error = Diagnostic::new("not-required", name.span, message).label("not required");
        if let Type::Component(id) = &place.ty {
            error = error.note(self.known.program.components[id.index()].span, "its header is here");
        }
        if self.known.facet_named(self.known.offers_of(&place.ty), name).is_some() {
            error = error.help("it is offered: the first argument requires it, the second offers it");
        } else if let Some(similar) =
            similar(&name.text, requires.iter().map(|facet| self.known.interface_name(facet.interface)))
        {
            error = error.help(format!("did you mean {similar}?"));
        }
        self.report(error);
        None
    }

    /// `y`, `I(y)`, or an own required interface.
    fn second_end(
        &mut self,
        interface: &ast::Name,
        wanted: Option<InterfaceId>,
        designator: &ast::Designator,
    ) -> Option<(ConnectEnd, InterfaceId)> {
        let plain = designator.inner.as_deref().is_none_or(|inner| self.is_guard(inner));
        if plain && self.variable_named(&designator.name).is_none() {
            let (index, found) = self.own_required(&designator.name)?;
            let slot = self.slot(index, designator)?;
            return Some((ConnectEnd::OwnRequired(index, slot), found));
        }
        let (component, name) = match designator.inner.as_deref() {
            Some(ast::Inner::Designator(component)) if !plain => {
                self.no_index(designator)?;
                (self.connected_component(component)?, &designator.name)
            }
            _ => (self.connected_component(designator)?, interface),
        };
        let found = match wanted {
            // The first end could not be made out, which was reported.
            None if name.text == interface.text => return None,
            Some(wanted) if is_bare_any(&component.ty) && name.text == interface.text => wanted,
            _ => self.offered_by(&component, name)?,
        };
        Some((ConnectEnd::Of { component, interface: found, index: None }, found))
    }

    /// Whether a designator names a component, an interface, or nothing at all, but not a text.
    fn is_end(&self, tree: &ast::Designator) -> bool {
        match self.lookup(&tree.name) {
            Found::Symbol(Symbol::Variable(id), _) => {
                self.known.gaps.variables.contains(&id)
                    || self.variable(id).ty.is_component()
                    || tree.inner.as_ref().is_some_and(|inner| !self.is_guard(inner))
            }
            Found::Symbol(Symbol::Constant(_), _) => {
                tree.inner.is_some() || self.find_interface(&tree.name).is_some()
            }
            Found::Symbol(Symbol::Predeclared(_), _) => tree.inner.is_none(),
            Found::Symbol(Symbol::Procedure(_), _) => self.find_interface(&tree.name).is_some(),
            _ => true,
        }
    }

    /// The name in a CONNECT, where a component might stand as well.
    fn name_as_end(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let name = convert(self.expression(tree)?, &Type::Text);
        if name.ty != Type::Text {
            let given = self.known.type_name(&name.ty);
            let message = format!("a component, or a name in a text, belongs here, not {given}");
            self.report(Diagnostic::new("not-a-component", tree.span, message).label(format!("is {given}")));
            return None;
        }
        self.check_name(&name, Purpose::Connect)?;
        Some(name)
    }
}
