//! Transfer functions of expressions, which may communicate and call procedures. A condition splits the situation: in
//! each branch, its outcome is known.

use super::state::{Flow, Here};
use crate::conformance::positions::{Known, Side, join};
use crate::program::{
    Argument, Binary, Channel, ChannelKind, ConnectEnd, Expression, ExpressionKind, Place, PlaceKind, Unary,
};

impl Flow<'_> {
    /// Evaluates a condition: the situations if it is TRUE, and if it is FALSE.
    pub(super) fn condition(&mut self, condition: &Expression, here: Known) -> (Here, Here) {
        match &condition.kind {
            ExpressionKind::Boolean(true) => (Some(here), None),
            ExpressionKind::Boolean(false) => (None, Some(here)),
            ExpressionKind::Unary(Unary::Not, operand) => {
                let (yes, no) = self.condition(operand, here);
                (no, yes)
            }
            ExpressionKind::Binary(Binary::And, left, right) => {
                let (yes, no) = self.condition(left, here);
                let (both, second) = self.condition_if(yes, right);
                (both, join(no, second))
            }
            ExpressionKind::Binary(Binary::Or, left, right) => {
                let (yes, no) = self.condition(left, here);
                let (second, neither) = self.condition_if(no, right);
                (join(yes, second), neither)
            }
            ExpressionKind::Locked(_, inner) if !self.held => {
                self.held = true;
                let (yes, no) = self.condition(inner, here);
                self.held = false;
                (yes.map(|here| self.without_shared(here)), no.map(|here| self.without_shared(here)))
            }
            ExpressionKind::Locked(_, inner) => self.condition(inner, here),
            ExpressionKind::ReceiveTest(channel, pattern) => {
                self.test(channel, *pattern, Side::test, condition.span, here)
            }
            ExpressionKind::Input(channel, pattern, limit) => {
                let Some(here) = self.values(limit.as_deref(), here) else { return (None, None) };
                self.test(channel, *pattern, Side::input, condition.span, here)
            }
            _ => {
                let here = self.value(condition, here);
                (here.clone(), here)
            }
        }
    }

    pub(super) fn condition_if(&mut self, here: Here, condition: &Expression) -> (Here, Here) {
        here.map_or((None, None), |here| self.condition(condition, here))
    }

    pub(super) fn values<'e>(
        &mut self,
        values: impl IntoIterator<Item = &'e Expression>,
        here: Known,
    ) -> Here {
        values.into_iter().try_fold(here, |here, value| self.value(value, here))
    }

    pub(super) fn value(&mut self, value: &Expression, here: Known) -> Here {
        use ExpressionKind::*;
        match &value.kind {
            Boolean(_) | Character(_) | Integer(_) | Real(_) | Text(_) | Count(_) => Some(here),
            Read(place)
            | Exists(place)
            | Fault(place)
            | Offers(place, _)
            | Requires(place, _)
            | Is(place, _) => self.place(place, here),
            Call(procedure, arguments) => {
                let here = self.arguments(arguments, here)?;
                self.call(*procedure, value.span, here)
            }
            Unary(crate::program::Unary::Not, _)
            | Binary(crate::program::Binary::And | crate::program::Binary::Or, _, _)
            | ReceiveTest(..)
            | Input(..) => {
                let (yes, no) = self.condition(value, here);
                join(yes, no)
            }
            Unary(_, operand) => self.value(operand, here),
            Binary(_, left, right) => self.values([&**left, &**right], here),
            Builtin(_, values) | List(values) => self.values(values, here),
            Record(values) => self.values(values.iter().map(|(_, value)| value), here),
            Number(text, target) => {
                let here = self.value(text, here)?;
                self.place(target, here)
            }
            Locked(_, inner) => self.locked(true, here, |flow, here| flow.value(inner, here)),
            Await(condition, limit) => {
                let here = self.values([&**condition, &**limit], here)?;
                Some(self.without_shared(here))
            }
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument], here: Known) -> Here {
        arguments.iter().try_fold(here, |here, argument| match argument {
            Argument::Value(value) => self.value(value, here),
            Argument::Place(place) => self.place(place, here),
        })
    }

    /// Evaluates the indices of a place.
    pub(super) fn place(&mut self, place: &Place, here: Known) -> Here {
        match &place.kind {
            PlaceKind::Variable(_) => Some(here),
            PlaceKind::Element(_, indices) => self.values(indices, here),
            PlaceKind::Character(_, index) => self.value(index, here),
            PlaceKind::Field(inner, _) | PlaceKind::Guarded(inner) => self.place(inner, here),
            PlaceKind::Item(inner, index) => {
                let here = self.place(inner, here)?;
                self.value(index, here)
            }
        }
    }

    pub(super) fn channel(&mut self, channel: &Channel, here: Known) -> Here {
        match &channel.kind {
            ChannelKind::Service => Some(here),
            ChannelKind::Required(_, slot) => self.values(slot.as_deref(), here),
            ChannelKind::Held(place) => self.place(place, here),
        }
    }

    pub(super) fn connect_end(&mut self, end: &ConnectEnd, here: Known) -> Here {
        match end {
            ConnectEnd::Of { component, index, .. } => {
                let here = self.place(component, here)?;
                self.values(index, here)
            }
            ConnectEnd::OwnOffered(_) => Some(here),
            ConnectEnd::OwnRequired(_, index) => self.values(index, here),
        }
    }
}
