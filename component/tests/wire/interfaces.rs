//! Interfaces for tests: made from plain data, and random ones.

use drystone_component::wire::identity;
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use proptest::prelude::*;
use proptest::sample::Index;

/// An interface as data: messages, and for each state whether it may end, and what leads where.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: &'static str,
    pub messages: Vec<(String, Side, Vec<Type>)>,
    pub states: Vec<(bool, Vec<Option<u16>>)>,
}

fn leaked<T>(entries: Vec<T>) -> Table<T> {
    Table::new(entries.leak())
}

fn text(text: &str) -> Str {
    Str::new(text.to_string().leak())
}

impl Plan {
    /// Where any message may come at any time; `IN` and `OUT` messages with these parameters.
    pub fn any(name: &'static str, messages: &[(&str, Side, &[Type])]) -> Plan {
        let messages: Vec<_> =
            messages.iter().map(|(n, side, types)| (n.to_string(), *side, types.to_vec())).collect();
        let sends = |side| {
            messages.iter().map(|m| (m.1 == side).then_some(u16::from(side == Side::Client))).collect()
        };
        let states = vec![(true, sends(Side::Client)), (true, sends(Side::Server))];
        Plan { name, messages, states }
    }

    /// Its description, which lives for ever.
    pub fn interface(&self) -> &'static Interface {
        let parameter =
            |(i, ty): (usize, &Type)| Parameter { name: text(&format!("p{i}")), ..Parameter::new("", *ty) };
        let messages = self.messages.iter().map(|(name, sender, types)| Message {
            name: text(name),
            sender: *sender,
            parameters: leaked(types.iter().enumerate().map(parameter).collect()),
            marshalling: None,
        });
        let sends = |next: &[Option<u16>], side| {
            next.iter().zip(&self.messages).any(|(next, message)| next.is_some() && message.1 == side)
        };
        let state = |(may_end, next): &(bool, Vec<Option<u16>>)| {
            u8::from(*may_end) * Interface::MAY_END
                + u8::from(sends(next, Side::Client)) * Interface::CLIENT_SENDS
                + u8::from(sends(next, Side::Server)) * Interface::SERVER_SENDS
        };
        let next =
            self.states.iter().flat_map(|(_, next)| next.iter().map(|next| next.unwrap_or(Interface::NONE)));
        let interface = Box::leak(Box::new(Interface {
            name: Str::new(self.name),
            fingerprint: Fingerprint::of(&format!("{self:?}")),
            messages: leaked(messages.collect()),
            next: leaked(next.collect()),
            states: leaked(self.states.iter().map(state).collect()),
            payload_words: self.messages.iter().map(|m| m.2.len()).max().unwrap_or(0),
            queued: 0,
        }));
        if let Some(identity) = identity(interface) {
            interface.fingerprint = Fingerprint::of(&identity);
        }
        interface
    }
}

pub fn types() -> impl Strategy<Value = Type> {
    prop::sample::select(vec![
        Type::Boolean,
        Type::Character,
        Type::Integer,
        Type::Real,
        Type::Text,
        Type::Component,
    ])
}

/// Interfaces in which only one side may send in any state.
pub fn plans() -> impl Strategy<Value = Plan> {
    let message = (any::<bool>(), prop::collection::vec(types(), 0..5));
    let messages = prop::collection::vec(message, 0..6);
    let state = (any::<bool>(), any::<bool>(), prop::collection::vec(prop::option::of(any::<Index>()), 6));
    (messages, prop::collection::vec(state, 1..6)).prop_map(|(messages, states)| {
        let side = |is_client| if is_client { Side::Client } else { Side::Server };
        let numbered = messages.into_iter().enumerate();
        let messages: Vec<_> =
            numbered.map(|(i, (sender, types))| (format!("M_{i}"), side(sender), types)).collect();
        let count = states.len();
        let states = states.into_iter().map(|(may_end, client_sends, next)| {
            let allowed = messages.iter().zip(next).map(|(message, next)| {
                next.filter(|_| message.1 == side(client_sends)).map(|next| next.index(count) as u16)
            });
            (may_end, allowed.collect())
        });
        Plan { name: "Random", states: states.collect(), messages }
    })
}
