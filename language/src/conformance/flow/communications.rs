//! Transfer functions of sends, receives and tests, and which communications are followed.

use super::state::{Flow, Here};
use crate::ast::Direction;
use crate::conformance::faults::{Fault, What};
use crate::conformance::positions::{Key, Known, Positions, Side};
use crate::program::{
    Channel, ChannelKind, ComponentId, Expression, ExpressionKind, Pattern, Place, PlaceKind, Type,
    VariableId,
};
use crate::source::Span;

impl<'p> Flow<'p> {
    /// The variable, if the place is one whose content is followed.
    pub(super) fn container(&self, place: &Place) -> Option<VariableId> {
        match &place.kind {
            PlaceKind::Variable(id) => (!self.process.untracked.contains(id)).then_some(*id),
            PlaceKind::Guarded(inner) => self.container(inner),
            PlaceKind::Element(..)
            | PlaceKind::Character(..)
            | PlaceKind::Field(..)
            | PlaceKind::Item(..) => None,
        }
    }

    /// The place gets a component whose communications have not begun.
    pub(super) fn fresh(&self, place: &Place, ty: &Type, here: &mut Known) {
        forget(here, place.variable());
        let Some(id) = self.container(place) else { return };
        let offers = match ty {
            Type::Component(template) => &self.process.program.components[template.index()].offers,
            Type::Any(any) => &any.offers,
            _ => return,
        };
        for facet in offers {
            let key = Key::Held(id, facet.interface);
            if self.is_followed(key) {
                here.set(key, Positions::start());
            }
        }
    }

    pub(super) fn is_followed(&self, key: Key) -> bool {
        self.held || !(self.process.shared)(key)
    }

    /// The communication of a channel, if it is followed.
    pub(super) fn key(&self, channel: &Channel) -> Option<Key> {
        let key = match &channel.kind {
            ChannelKind::Service => (self.process.service == Some(channel.interface)).then_some(Key::Service),
            ChannelKind::Required(_, Some(_)) => None,
            ChannelKind::Required(index, None) => Some(Key::Required(*index)),
            ChannelKind::Held(place) => self.container(place).map(|id| Key::Held(id, channel.interface)),
        };
        key.filter(|&key| self.is_followed(key))
    }

    pub(super) fn side(&self, channel: &Channel) -> Side<'p> {
        let interface = &self.process.program.interfaces[channel.interface.index()];
        let receives = match channel.kind {
            ChannelKind::Service => Direction::In,
            _ => Direction::Out,
        };
        Side { interface, receives }
    }

    pub(super) fn test(
        &mut self,
        channel: &Channel,
        pattern: Pattern,
        outcome: fn(Side<'p>, &Positions, Pattern) -> (Positions, Positions),
        span: Span,
        here: Known,
    ) -> (Here, Here) {
        let Some(here) = self.channel(channel, here) else { return (None, None) };
        let side = self.side(channel);
        let end = (channel.interface, side.receives);
        let Some(key) = self.key(channel) else {
            let anywhere = side.anywhere();
            if let Pattern::Message(message) = pattern {
                self.uses.name(end, side, &anywhere, message, span);
            }
            self.uses.test(span, end, pattern, &anywhere, true);
            return (Some(here.clone()), Some(here));
        };
        let before = here.get(key).cloned().unwrap_or_else(|| side.anywhere());
        if self.spend(before.open.len()).is_none() {
            return (None, None);
        }
        let (yes, no) = outcome(side, &before, pattern);
        self.uses.reach(end, server(channel), &before, span);
        if let Pattern::Message(message) = pattern {
            self.uses.name(end, side, &before, message, span);
        }
        self.uses.test(span, end, pattern, &before, yes.is_judged());
        let after = |positions: Positions| {
            let positions = positions.or_none()?;
            let mut here = here.clone();
            here.set(key, positions);
            Some(here)
        };
        let (yes, no) = (after(yes), after(no));
        // If the test is never answered, that is no fault of this process.
        self.trace.survives |= yes.is_none() && no.is_none();
        (yes, no)
    }

    pub(super) fn talk(&mut self, channel: &Channel, what: What, span: Span, mut here: Known) -> Here {
        let (side, key) = (self.side(channel), self.key(channel));
        let end = (channel.interface, side.receives);
        let known = key.and_then(|key| here.get(key)).cloned();
        let before = known.unwrap_or_else(|| side.anywhere());
        self.spend(before.open.len())?;
        let after = match what {
            What::Send(message) => {
                self.uses.send(channel.interface, message);
                side.send(&before, message, self.held)
            }
            What::Receive(message) => {
                self.uses.name(end, side, &before, message, span);
                side.receive(&before, message)
            }
            What::End | What::Leave => return Some(here),
        };
        let Some(key) = key else { return Some(here) };
        self.uses.reach(end, server(channel), &before, span);
        self.uses.reach(end, server(channel), &after, span);
        match (before.is_judged(), after.is_judged()) {
            (true, true) => self.sites.fine(span),
            (true, false) => {
                self.fault(span, Fault { interface: channel.interface, what, before });
                return None;
            }
            (false, _) => {}
        }
        here.set(key, after.or_none()?);
        Some(here)
    }

    /// The program stops in this situation, because of the outcome of this condition.
    pub(super) fn refuse(&mut self, condition: &Expression, here: Option<&Known>) {
        let Some(here) = here else { return };
        match &condition.kind {
            ExpressionKind::Unary(_, inner) | ExpressionKind::Locked(_, inner) => {
                self.refuse(inner, Some(here));
            }
            ExpressionKind::Binary(_, left, right) => {
                self.refuse(left, Some(here));
                self.refuse(right, Some(here));
            }
            ExpressionKind::ReceiveTest(channel, _) | ExpressionKind::Input(channel, ..) => {
                if let Some(positions) = self.key(channel).and_then(|key| here.get(key)) {
                    self.uses.refuse((channel.interface, self.side(channel).receives), positions);
                }
            }
            _ => {}
        }
    }

    /// The component in a variable is deleted.
    pub(super) fn leave_behind(&mut self, variable: VariableId, here: &Known) {
        for (key, positions) in here.iter() {
            if let Key::Held(id, interface) = key
                && id == variable
            {
                self.uses.leave((interface, Direction::Out), positions);
            }
        }
    }

    /// A composite block ends, and its communications with it.
    pub(super) fn leave(&mut self, channels: &[Channel], span: Span, mut here: Known) -> Here {
        for channel in channels {
            let Some(key) = self.key(channel) else { continue };
            let before = here.get(key).cloned().unwrap_or_else(|| self.side(channel).anywhere());
            let states = &self.side(channel).interface.states;
            // In state 0 the communication may not have begun.
            if !before.closed && !before.open.iter().any(|&state| state == 0 || states[state].may_end) {
                self.fault(span, Fault { interface: channel.interface, what: What::Leave, before });
                return None;
            }
            here.set(key, Positions::start());
        }
        self.sites.fine(span);
        Some(here)
    }

    pub(super) fn fault(&mut self, span: Span, fault: Fault) {
        self.sites.fault(span, &fault);
        self.trace.faults.insert(span, fault);
    }

    /// The end of the process.
    pub(super) fn end(&mut self, here: Known, span: Span) -> Here {
        if let (Some(interface), Some(positions)) = (self.process.service, here.get(Key::Service)) {
            let states = &self.process.program.interfaces[interface.index()].states;
            if !positions.is_judged() {
                // A service whose client is lost may end anywhere.
            } else if positions.closed || positions.open.iter().any(|&state| states[state].may_end) {
                self.sites.fine(span);
            } else {
                let before = positions.clone();
                self.fault(span, Fault { interface, what: What::End, before });
                return None;
            }
        }
        Some(here)
    }
}

/// The template of the component that serves a channel, if that is known.
pub(super) fn server(channel: &Channel) -> Option<ComponentId> {
    match &channel.kind {
        ChannelKind::Held(place) => match place.ty {
            Type::Component(template) => Some(template),
            _ => None,
        },
        _ => None,
    }
}

/// Nothing is known any more about the content of a variable.
pub fn forget(here: &mut Known, variable: VariableId) {
    here.retain(|key| !matches!(key, Key::Held(id, _) if id == variable));
}
