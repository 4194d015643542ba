//! Send and receive statements: checks arguments and targets against the parameters of the message.

use crate::ast;
use crate::program::{Argument, InterfaceId, Place, StatementKind, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::channels::Act;
use super::places::as_designator;

impl BodyChecker<'_> {
    /// `[channel] ! message(arguments)`
    pub(super) fn send(
        &mut self,
        channel: Option<&ast::Designator>,
        message: &ast::Name,
        trees: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let (channel, end) = self.channel(channel, span)?;
        let index = self.message(channel.interface, message, end, Act::Send)?;
        let parameters = self.parameters(channel.interface, index, trees.len(), span)?;
        let pairs = trees.iter().zip(&parameters);
        let arguments: Vec<_> = pairs.map(|(tree, (_, ty))| self.sent(tree, ty)).collect();
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        Some(StatementKind::Send { channel, message: index, arguments })
    }

    /// `[channel] ? message(targets)`
    pub(super) fn receive(
        &mut self,
        channel: Option<&ast::Designator>,
        message: &ast::Name,
        trees: &[ast::Designator],
        span: Span,
    ) -> Option<StatementKind> {
        let (channel, end) = self.channel(channel, span)?;
        let index = self.message(channel.interface, message, end, Act::Receive)?;
        let parameters = self.parameters(channel.interface, index, trees.len(), span)?;
        let pairs = trees.iter().zip(&parameters);
        let targets: Vec<_> = pairs.map(|(tree, (_, ty))| self.received(tree, ty)).collect();
        let targets = targets.into_iter().collect::<Option<Vec<_>>>()?;
        Some(StatementKind::Receive { channel, message: index, targets })
    }

    pub(super) fn parameters(
        &mut self,
        interface: InterfaceId,
        message: usize,
        given: usize,
        span: Span,
    ) -> Option<Vec<(String, Type)>> {
        let declared = &self.known.program.interfaces[interface.index()];
        let parameters = declared.messages[message].parameters.clone();
        if parameters.len() != given {
            let name = declared.messages[message].name.clone();
            let place = (declared.span != Span::default()).then_some(declared.span);
            self.wrong_count(&name, parameters.len(), given, span, place);
            return None;
        }
        (!self.known.gaps.messages.contains(&(interface, message))).then_some(parameters)
    }

    fn sent(&mut self, tree: &ast::Expression, ty: &Type) -> Option<Argument> {
        if !ty.is_component() {
            return self.expression_of(tree, ty).map(Argument::Value);
        }
        let Some(designator) = as_designator(tree) else {
            let wanted = self.known.type_name(ty);
            let message = format!("a component of type {wanted} is sent here");
            let error = Diagnostic::new("not-a-component", tree.span, message).label("no component");
            self.report(error.help("name the variable that holds it; it leaves that variable"));
            return None;
        };
        let place = self.place(&designator)?;
        if !place.ty.is_component() {
            self.not_a_component(&place, &designator.name);
            return None;
        }
        self.fits(&place.ty, ty, place.span)?;
        Some(Argument::Place(place))
    }

    fn received(&mut self, tree: &ast::Designator, ty: &Type) -> Option<Place> {
        let place = self.target(tree)?;
        if ty.is_component() && place.ty.is_component() {
            self.fits(ty, &place.ty, place.span)?;
        } else if place.ty != *ty {
            let (wanted, given) = (self.known.type_name(ty), self.known.type_name(&place.ty));
            let message = format!("the message brings {wanted}, the variable is {given}");
            let error = Diagnostic::new("receive-type", place.span, message).label(format!("is {given}"));
            self.report(error.help(format!("receive it in a variable of type {wanted}")));
            return None;
        }
        Some(place)
    }

    /// Any component of type `from` may be in a container of type `to`; else an error.
    pub(super) fn fits(&mut self, from: &Type, to: &Type, span: Span) -> Option<()> {
        let Err(reason) = self.known.conforms(from, to) else {
            return Some(());
        };
        if self.known.is_incomplete(from) || self.known.is_incomplete(to) {
            return None;
        }
        let (given, wanted) = (self.known.type_name(from), self.known.type_name(to));
        let message = format!("a component of type {given} does not fit into a container of type {wanted}");
        let mut error = Diagnostic::new("component-type", span, message).label(reason);
        if given == wanted {
            for ty in [from, to] {
                if let Type::Component(id) = ty {
                    error =
                        error.note(self.known.program.components[id.index()].span, "one is declared here");
                }
            }
        }
        self.report(if matches!(from, Type::Any(_)) {
            error.help(format!("a guard claims that it is one: write x({wanted})"))
        } else {
            error
        });
        None
    }
}
