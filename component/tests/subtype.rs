//! Which interfaces serve which: examples with what is said about them, and what holds for any protocol.

use drystone_component::subtype::{What, serves};
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use proptest::prelude::*;
use proptest::sample::Index;

/// A protocol that tests can change: messages, and for each state whether it may end, and what leads where.
#[derive(Clone, Debug)]
struct Protocol {
    messages: Vec<(&'static str, Side, Vec<Type>)>,
    states: Vec<(bool, Vec<Option<u16>>)>,
}

fn leaked<T>(entries: Vec<T>) -> Table<T> {
    Table::new(entries.leak())
}

impl Protocol {
    /// Of `Name` is a state's message, with the state that follows.
    fn of(messages: &[(&'static str, Side)], states: &[(bool, &[(&str, u16)])]) -> Protocol {
        let number = |name: &str| messages.iter().position(|(known, _)| *known == name).expect("a message");
        let states = states.iter().map(|(may_end, next)| {
            let mut all = vec![None; messages.len()];
            next.iter().for_each(|(name, state)| all[number(name)] = Some(*state));
            (*may_end, all)
        });
        let states = states.collect();
        Protocol { messages: messages.iter().map(|&(name, side)| (name, side, Vec::new())).collect(), states }
    }

    fn interface(&self) -> &'static Interface {
        self.named("Files")
    }

    fn named(&self, name: &'static str) -> &'static Interface {
        let parameter = |ty: &Type| Parameter::new("x", *ty);
        let messages = self.messages.iter().map(|(name, sender, types)| Message {
            name: Str::new(name),
            sender: *sender,
            parameters: leaked(types.iter().map(parameter).collect()),
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
        Box::leak(Box::new(Interface {
            name: Str::new(name),
            fingerprint: Fingerprint::of(&format!("{name} {self:?}")),
            messages: leaked(messages.collect()),
            next: leaked(next.collect()),
            states: leaked(self.states.iter().map(state).collect()),
            payload_words: 1,
            queued: 0,
        }))
    }

    fn sender(&self, state: usize) -> Option<Side> {
        let next = self.states[state].1.iter().zip(&self.messages);
        next.filter(|(next, _)| next.is_some()).map(|(_, message)| message.1).next()
    }

    /// The same with its messages and states in another order; the first state stays the first.
    fn renumbered(&self) -> Protocol {
        let count = self.states.len() as u16;
        let moved = |state: u16| if state == 0 { 0 } else { count - state };
        let mut messages = self.messages.clone();
        messages.reverse();
        let states = (0..count).map(|state| {
            let (may_end, next) = &self.states[moved(state) as usize];
            (*may_end, next.iter().rev().map(|next| next.map(moved)).collect())
        });
        Protocol { messages, states: states.collect() }
    }
}

/// Opens a file, reads as often as it likes, and closes it.
fn files() -> Protocol {
    use Side::*;
    Protocol::of(
        &[("Open", Client), ("Opened", Server), ("Failed", Server), ("Read", Client), ("Block", Server)],
        &[
            (true, &[("Open", 1)]),
            (false, &[("Opened", 2), ("Failed", 0)]),
            (true, &[("Read", 3)]),
            (false, &[("Block", 2)]),
        ],
    )
}

fn said(server: &Protocol, client: &Protocol) -> String {
    serves(server.interface(), client.interface())
        .err()
        .map_or("served".into(), |difference| difference.to_string())
}

#[test]
fn a_server_may_take_more_and_say_less() {
    use Side::*;
    let mut server = files();
    server.messages.push(("Rename", Client, vec![Type::Text]));
    server.states.iter_mut().for_each(|(_, next)| next.push(None));
    server.states[0].1[5] = Some(1);
    assert_eq!(said(&server, &files()), "served");
    assert_eq!(said(&files(), &server), "Files: the client knows IN Rename, the server does not");
    let mut sure = files();
    sure.states[1].1[2] = None;
    assert_eq!(said(&sure, &files()), "served");
    let refused = "Files: after IN Open, the server may send OUT Failed, which the client does not take";
    assert_eq!(said(&files(), &sure), refused);
    let once = Protocol::of(
        &[("Open", Client), ("Opened", Server), ("Failed", Server)],
        &[(true, &[("Open", 1)]), (false, &[("Opened", 2), ("Failed", 0)]), (true, &[])],
    );
    assert_eq!(said(&files(), &once), "served");
    let refused = "Files: the client knows IN Read, the server does not";
    assert!(said(&once, &files()).ends_with(&refused["Files: ".len()..]), "{}", said(&once, &files()));
}

#[test]
fn where_one_may_end_the_other_may_too() {
    use Side::*;
    let messages = &[("Ask", Client), ("Answer", Server)][..];
    let any = Protocol::of(messages, &[(true, &[("Ask", 1)]), (false, &[("Answer", 0)])]);
    let twice = Protocol::of(
        messages,
        &[
            (false, &[("Ask", 1)]),
            (false, &[("Answer", 2)]),
            (false, &[("Ask", 3)]),
            (false, &[("Answer", 4)]),
            (true, &[]),
        ],
    );
    // The server may end after each answer, and begins anew with the next question.
    assert_eq!(said(&any, &twice), "served");
    assert_eq!(said(&twice, &any), "Files: the client may end, the server may not");
    let told = Protocol::of(messages, &[(false, &[("Ask", 1)]), (true, &[("Answer", 1)])]);
    let sure = Protocol::of(messages, &[(false, &[("Ask", 1)]), (false, &[("Answer", 1)])]);
    let refused = "Files: after IN Ask, the server may end, and the client waits for a message";
    assert_eq!(said(&told, &sure), refused);
}

#[test]
fn messages_are_the_same_by_name_direction_and_types() {
    let (mut server, mut client) = (files(), files());
    client.messages[0].2 = vec![Type::Text];
    let refused = "Files: IN Open has (TEXT) for the client and () for the server";
    assert_eq!(said(&server, &client), refused);
    server.messages[0].2 = vec![Type::Text];
    assert_eq!(said(&server, &client), "served");
    client.messages[4].2 = vec![Type::Component];
    server.messages[4].2 = vec![Type::Component];
    assert_eq!(said(&server, &client), "served", "one description is one interface, whatever it carries");
    server.states[0].0 = false;
    client.states[0].0 = false;
    client.states[3].0 = true;
    let refused =
        "Files: after IN Open, OUT Opened, IN Read, OUT Block carries a component, and the interfaces differ";
    assert_eq!(said(&server, &client), refused);
    let difference = serves(files().named("Files"), files().named("Store")).unwrap_err();
    assert_eq!(
        (difference.what, difference.to_string()),
        (What::Name, "Store is wanted, Files is offered".into())
    );
}

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// Protocols in which only one side may send in any state.
fn protocols() -> impl Strategy<Value = Protocol> {
    let messages = prop::collection::vec(any::<bool>(), 4);
    let state =
        (any::<bool>(), any::<bool>(), prop::collection::vec(prop::option::weighted(0.6, any::<Index>()), 4));
    (messages, prop::collection::vec(state, 1..6)).prop_map(|(sides, states)| {
        let side = |is_client| if is_client { Side::Client } else { Side::Server };
        let messages = NAMES.iter().zip(sides).map(|(name, is_client)| (*name, side(is_client), Vec::new()));
        let messages: Vec<_> = messages.collect();
        let count = states.len();
        let states = states.into_iter().map(|(may_end, client_sends, next)| {
            let allowed = next.iter().zip(&messages).map(|(next, message)| {
                next.filter(|_| message.1 == side(client_sends)).map(|next| next.index(count) as u16)
            });
            (may_end, allowed.collect())
        });
        Protocol { states: states.collect(), messages }
    })
}

/// Changes that let a server serve the same clients as before: it takes more, sends less, or ends where they may not.
fn widened(protocol: &Protocol, changes: &[(Index, Index, Index)]) -> Protocol {
    let mut wide = protocol.clone();
    for (state, message, next) in changes {
        let state = state.index(wide.states.len());
        let message = message.index(wide.messages.len());
        let sends = wide.states[state].1.iter().flatten().count();
        match wide.messages[message].1 {
            Side::Client
                if wide.sender(state) != Some(Side::Server) && wide.states[state].1[message].is_none() =>
            {
                wide.states[state].1[message] = Some(next.index(wide.states.len()) as u16);
            }
            Side::Server if wide.states[state].1[message].is_some() && sends > 1 => {
                wide.states[state].1[message] = None;
            }
            _ => {}
        }
    }
    wide
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 2000 })
    })]

    #[test]
    fn a_protocol_serves_itself_however_it_is_numbered(protocol in protocols()) {
        prop_assert_eq!(said(&protocol.renumbered(), &protocol), "served");
    }

    #[test]
    fn who_takes_more_and_sends_less_serves_too(
        protocol in protocols(),
        first in prop::collection::vec(any::<(Index, Index, Index)>(), 0..5),
        second in prop::collection::vec(any::<(Index, Index, Index)>(), 0..5),
    ) {
        let wide = widened(&protocol, &first);
        let wider = widened(&wide, &second);
        prop_assert_eq!(said(&wide, &protocol), "served");
        prop_assert_eq!(said(&wider, &wide), "served");
        prop_assert_eq!(said(&wider, &protocol), "served");
    }

    /// What is said to lead to a difference is a way that the client's protocol goes, and a client and a server that go
    /// it come to what is said.
    #[test]
    fn a_difference_is_one(server in protocols(), client in protocols()) {
        let Err(difference) = serves(server.interface(), client.interface()) else { return Ok(()) };
        let mut state = 0;
        for &message in &difference.after {
            let next = client.states[state as usize].1[message as usize];
            prop_assert!(next.is_some(), "{difference}");
            state = next.unwrap_or(0);
        }
        let (may_end, next) = &client.states[state as usize];
        let is_taken = |message: u32| next[message as usize].is_some();
        match difference.what {
            What::Name | What::Carries(_) => prop_assert!(false, "{difference}"),
            What::Parameters(..) => prop_assert!(false, "none has parameters"),
            What::Unknown(m) | What::ServerRefuses(m) => prop_assert!(is_taken(m), "{difference}"),
            What::ClientRefuses(n) => {
                let (name, side, _) = &server.messages[n as usize];
                prop_assert_eq!(*side, Side::Server);
                let theirs = client.messages.iter().position(|(known, side, _)| known == name && *side == Side::Server);
                prop_assert!(theirs.is_none_or(|m| next[m].is_none()), "{difference}");
            }
            What::ClientEnds => prop_assert!(*may_end, "{difference}"),
            What::ServerEnds => prop_assert!(!may_end && client.sender(state as usize) == Some(Side::Server)),
        }
    }
}
