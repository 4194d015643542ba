//! Channels: the communication, and the message of its interface, that `!`, `?` and INPUT mean.

use crate::ast::{self, Direction};
use crate::program::{
    Cardinality, Channel, ChannelKind, Expression, ExpressionKind, InterfaceId, Pattern, Place, Type,
};
use crate::source::{Diagnostic, Span};

use super::body::{BodyChecker, Service};
use super::conversions::constant_integer;
use super::scopes::Found;
use super::similar::similar;
use super::types::is_bare_any;

/// The end of a communication at which a process is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Client,
    Server,
}

/// What a process does with a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Act {
    Send,
    Receive,
}

impl BodyChecker<'_> {
    /// The communication that is written before `!` or `?`, and the end at which the process is. If none is written, it
    /// is the service's with its client.
    pub(super) fn channel(&mut self, tree: Option<&ast::Designator>, span: Span) -> Option<(Channel, End)> {
        let Some(tree) = tree else {
            return match self.service() {
                Service::Of(interface) => {
                    Some((Channel { kind: ChannelKind::Service, interface }, End::Server))
                }
                Service::Unknown => None,
                Service::None => {
                    let message = "there is no client here to talk to";
                    let error = Diagnostic::new("no-service", span, message).label("without a channel");
                    let help =
                        "only in an IMPLEMENTATION does a bare ! or ? mean its client; else write `x!M`";
                    self.report(error.help(help));
                    None
                }
            };
        };
        let (kind, interface) = match &tree.inner {
            Some(inner) if !self.is_guard(inner) => {
                let ast::Inner::Designator(component) = &**inner else { return None };
                let (place, interface) = self.interface_of(tree, component)?;
                (ChannelKind::Held(Box::new(place)), interface)
            }
            None if self.variable_named(&tree.name).is_none() => self.required_channel(tree)?,
            _ => {
                let place = self.place(tree)?;
                let interface = self.only_interface(&place, &tree.name)?;
                (ChannelKind::Held(Box::new(place)), interface)
            }
        };
        if self.known.gaps.interfaces.contains(&interface) {
            self.doubt();
        }
        Some((Channel { kind, interface }, End::Client))
    }

    /// `I(x)`: the component and its offered interface.
    fn interface_of(
        &mut self,
        tree: &ast::Designator,
        component: &ast::Designator,
    ) -> Option<(Place, InterfaceId)> {
        if tree.indices.is_some() {
            let error = Diagnostic::new("offered-index", tree.span, "an offered interface has no index");
            self.report(error.help("every client of it has its own communication already"));
            return None;
        }
        let place = self.place(component)?;
        if !place.ty.is_component() {
            self.not_a_component(&place, &component.name);
            return None;
        }
        let interface = self.offered_by(&place, &tree.name)?;
        Some((place, interface))
    }

    /// The interface of that name that a component in the place offers.
    pub(super) fn offered_by(&mut self, place: &Place, name: &ast::Name) -> Option<InterfaceId> {
        let offers = self.known.offers_of(&place.ty);
        if let Some(index) = self.known.facet_named(offers, name) {
            return Some(offers[index].interface);
        }
        if is_bare_any(&place.ty) {
            return self.interface_in_scope(name);
        }
        if self.known.is_incomplete(&place.ty) {
            return None;
        }
        let message = format!("{} does not offer {}", self.known.type_name(&place.ty), name.text);
        let similar =
            similar(&name.text, offers.iter().map(|facet| self.known.interface_name(facet.interface)));
        let mut error = Diagnostic::new("not-offered", name.span, message).label("not offered");
        if let Type::Component(id) = &place.ty {
            error = error.note(self.known.program.components[id.index()].span, "its header is here");
        }
        if let Some(similar) = similar {
            error = error.help(format!("did you mean {similar}?"));
        }
        self.report(error);
        None
    }

    /// The interface of `x!M`, where x has exactly one.
    fn only_interface(&mut self, place: &Place, name: &ast::Name) -> Option<InterfaceId> {
        if !place.ty.is_component() {
            self.not_a_component(place, name);
            return None;
        }
        if self.known.is_incomplete(&place.ty) {
            return None;
        }
        match self.known.offers_of(&place.ty) {
            [facet] => Some(facet.interface),
            offers => {
                let names: Vec<&str> =
                    offers.iter().map(|facet| self.known.interface_name(facet.interface)).collect();
                let (message, help) = match names.first() {
                    Some(first) => (
                        format!("{} offers {}; which is meant?", name.text, names.join(" and ")),
                        format!("write {first}({})", name.text),
                    ),
                    None => (
                        format!("it is not known what {} offers", name.text),
                        format!("write Interface({0}), or {0}(Template)", name.text),
                    ),
                };
                let error = Diagnostic::new("which-interface", place.span, message);
                self.report(error.label("no single interface").help(help));
                None
            }
        }
    }

    fn required_channel(&mut self, tree: &ast::Designator) -> Option<(ChannelKind, InterfaceId)> {
        let (index, interface) = self.own_required(&tree.name)?;
        let slot = self.slot(index, tree)?;
        Some((ChannelKind::Required(index, slot.map(Box::new)), interface))
    }

    /// A required interface of the surrounding component, by its bare name.
    pub(super) fn own_required(&mut self, name: &ast::Name) -> Option<(usize, InterfaceId)> {
        let Some(id) = self.component() else {
            self.no_component(name);
            return None;
        };
        let component = &self.known.program.components[id.index()];
        if let Some(index) = self.known.facet_named(&component.requires, name) {
            return Some((index, component.requires[index].interface));
        }
        if self.known.gaps.components.contains(&id) {
            return None;
        }
        let header = component.span;
        if self.known.facet_named(&component.offers, name).is_some() {
            let message = format!("{} is offered by this component, not required", name.text);
            let error =
                Diagnostic::new("not-required", name.span, message).note(header, "its header is here");
            self.report(error.help("in its IMPLEMENTATION, write `!M` and `?M` alone"));
        } else if self.find_interface(name).is_some() {
            let message = format!("{} does not require {}", component.name, name.text);
            let error =
                Diagnostic::new("not-required", name.span, message).note(header, "its header is here");
            self.report(error.help(format!("add it to the header: REQUIRES {}", name.text)));
        } else if let Found::Nothing = self.lookup(name)
            && let requires =
                component.requires.iter().map(|facet| self.known.interface_name(facet.interface))
            && let Some(similar) = similar(&name.text, requires)
        {
            let message = format!("{} is not declared", name.text);
            let error = Diagnostic::new("unknown-name", name.span, message).label("not known here");
            self.report(error.help(format!("did you mean {similar}?")));
        } else if let Some((symbol, declared)) = self.symbol(name) {
            let message = format!("{} is {}, which takes no messages", name.text, symbol.describe());
            let error = Diagnostic::new("no-channel", name.span, message).note(declared, "declared here");
            self.report(error.help("before ! or ? stands a component or a required interface"));
        }
        None
    }

    /// Reports the name of an interface where there is no component that could have it.
    pub(super) fn no_component(&mut self, name: &ast::Name) {
        let error = if self.procedure().is_some() {
            let message =
                format!("{} is no variable, and a procedure at the top level has no interfaces", name.text);
            let help =
                "it runs in its caller's component: give it the component to talk to as VARIABLE parameter";
            Diagnostic::new("no-component", name.span, message).help(help)
        } else {
            Diagnostic::new("not-constant", name.span, format!("{} has no value in a constant", name.text))
        };
        self.report(error);
    }

    /// The k of `I[k]` for a required interface of the surrounding component (index into `requires`). There is one if
    /// the interface has a cardinality.
    pub(super) fn slot(&mut self, index: usize, tree: &ast::Designator) -> Option<Option<Expression>> {
        let id = self.component()?;
        let cardinality = self.known.program.components[id.index()].requires[index].cardinality;
        self.slot_of(cardinality, tree)
    }

    /// Likewise for a required interface, with this cardinality, of any component.
    pub(super) fn slot_of(
        &mut self,
        cardinality: Option<Cardinality>,
        tree: &ast::Designator,
    ) -> Option<Option<Expression>> {
        let name = &tree.name.text;
        match (cardinality, tree.indices.as_deref()) {
            (None, None) => Some(None),
            (None, Some(_)) => {
                let message = format!("{name} is one connection and has no index");
                let error = Diagnostic::new("slot-index", tree.span, message);
                self.report(error.help(format!("for several, require {name}[1..n]")));
                None
            }
            (Some(cardinality), Some([index])) => {
                let index = self.expression_of(index, &Type::Integer)?;
                let constant = constant_integer(&index);
                let most = cardinality.to.map_or(i64::MAX, i64::from);
                if constant.is_some_and(|k| !(1..=most).contains(&k)) {
                    let message = format!("{name} has no connection of this number");
                    let error = Diagnostic::new("slot-index", index.span, message);
                    self.report(match cardinality.to {
                        Some(to) => error.help(format!("they are numbered 1 to {to}")),
                        None => error.help("they are numbered from 1"),
                    });
                    return None;
                }
                Some(Some(index))
            }
            (Some(_), _) => {
                let message = format!("{name} is several connections; which is meant?");
                let error = Diagnostic::new("slot-index", tree.span, message);
                self.report(error.help(format!("write {name}[k], k from 1")));
                None
            }
        }
    }

    /// The message of this name that a process at this end may send or receive.
    pub(super) fn message(
        &mut self,
        interface: InterfaceId,
        name: &ast::Name,
        end: End,
        act: Act,
    ) -> Option<usize> {
        let direction = match (end, act) {
            (End::Client, Act::Send) | (End::Server, Act::Receive) => Direction::In,
            (End::Client, Act::Receive) | (End::Server, Act::Send) => Direction::Out,
        };
        let declared = &self.known.program.interfaces[interface.index()];
        let find = |direction| {
            declared
                .messages
                .iter()
                .position(|message| message.name == name.text && message.direction == direction)
        };
        if let Some(index) = find(direction) {
            return Some(index);
        }
        let verb = if act == Act::Send { "sends" } else { "receives" };
        let we = if end == End::Client { "client" } else { "server" };
        let other = if direction == Direction::In { Direction::Out } else { Direction::In };
        let (wrong, right) = if direction == Direction::In { ("OUT", "IN") } else { ("IN", "OUT") };
        let mut error = if find(other).is_some() {
            let message = format!("{} is {wrong}; the {we} {verb} {right} messages", name.text);
            Diagnostic::new("wrong-direction", name.span, message).label(format!("the {we} {verb} this"))
        } else {
            let message = format!("{} has no message {}", declared.name, name.text);
            let error = Diagnostic::new("unknown-message", name.span, message).label("not in the protocol");
            let fitting = declared.messages.iter().filter(|message| message.direction == direction);
            match similar(&name.text, fitting.map(|message| message.name.as_str())) {
                Some(similar) => error.help(format!("did you mean {similar}?")),
                None => error,
            }
        };
        if declared.span != Span::default() {
            error = error.note(declared.span, format!("interface {}", declared.name));
        }
        self.report(error);
        None
    }

    /// `INPUT([channel,] pattern [, limit])`. In `INPUT(a, b)`, `a` is the channel if a variable or a required
    /// interface is called so; otherwise `b` is the limit.
    pub(super) fn input(
        &mut self,
        channel: Option<&ast::Designator>,
        pattern: &ast::Pattern,
        limit: Option<&ast::Expression>,
        span: Span,
    ) -> Option<Expression> {
        if let (Some(first), ast::Pattern::Message(second), None) = (channel, pattern, limit)
            && !self.may_be_channel(first)
        {
            let limit = ast::Designator {
                name: second.clone(),
                indices: None,
                steps: Vec::new(),
                inner: None,
                span: second.span,
            };
            let limit = ast::Expression { span: second.span, kind: ast::ExpressionKind::Designator(limit) };
            return self.input(None, &ast::Pattern::Message(first.name.clone()), Some(&limit), span);
        }
        let test = self.receive_test(channel, pattern, span);
        let limit = limit.map(|limit| self.expression_of(limit, &Type::Integer));
        let (channel, pattern) = test?;
        let limit = match limit {
            Some(limit) => Some(Box::new(limit?)),
            None => None,
        };
        Some(Expression { kind: ExpressionKind::Input(channel, pattern, limit), ty: Type::Boolean, span })
    }

    /// Whether a designator can mean a communication. A bare name that is the service's message, and nothing else here,
    /// can't.
    fn may_be_channel(&self, tree: &ast::Designator) -> bool {
        if tree.indices.is_some() || tree.inner.is_some() || self.variable_named(&tree.name).is_some() {
            return true;
        }
        let Service::Of(service) = self.service() else { return true };
        let component = self.component().map(|id| &self.known.program.components[id.index()]);
        let is_required =
            component.is_some_and(|it| self.known.facet_named(&it.requires, &tree.name).is_some());
        let messages = &self.known.program.interfaces[service.index()].messages;
        is_required || !messages.iter().any(|message| message.name == tree.name.text)
    }

    /// `[channel] ? pattern`, and INPUT likewise.
    pub(super) fn receive_test(
        &mut self,
        channel: Option<&ast::Designator>,
        pattern: &ast::Pattern,
        span: Span,
    ) -> Option<(Channel, Pattern)> {
        let (channel, end) = self.channel(channel, span)?;
        let pattern = match pattern {
            ast::Pattern::Any(_) => Pattern::Any,
            ast::Pattern::Finish(_) => Pattern::Finish,
            ast::Pattern::Message(name) => {
                Pattern::Message(self.message(channel.interface, name, end, Act::Receive)?)
            }
        };
        Some((channel, pattern))
    }
}
