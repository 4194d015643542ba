//! Interfaces as bytes.

use drystone_component::subtype::serves;
use drystone_component::wire::{Description, identity};
use drystone_component::{Fingerprint, Protocol, Side, Type};
use proptest::prelude::*;

use crate::interfaces::{Plan, plans};

fn bytes(description: &Description) -> Vec<u8> {
    let mut bytes = Vec::new();
    description.encode(&mut bytes);
    bytes
}

fn greet() -> Plan {
    let messages = [
        ("Name", Side::Client, vec![Type::Text]),
        ("Greeting", Side::Server, vec![Type::Text, Type::Integer]),
    ];
    Plan {
        name: "Greet",
        messages: messages.into_iter().map(|(name, side, types)| (name.to_string(), side, types)).collect(),
        states: vec![(false, vec![Some(1), None]), (false, vec![None, Some(2)]), (true, vec![None, None])],
    }
}

#[test]
fn a_description_is_printed_for_people() {
    let description = Description::of(greet().interface());
    let text = "Greet\nIN Name TEXT\nOUT Greeting TEXT INTEGER\n 0>1\n 1>2\n.\n\n";
    assert_eq!(identity(&description).as_deref(), Some(text));
    let expected = format!(
        "INTERFACE Greet;  (* {} *)\n  IN Name(p0: TEXT)\n  OUT Greeting(p0: TEXT; p1: INTEGER)\n  0: Name>1\n  1: \
         Greeting>2\n  2: may end\nEND Greet;\n",
        Fingerprint::of(text)
    );
    assert_eq!(description.to_string(), expected);
}

/// Changes one byte of a description that is right.
fn said(at: usize, byte: u8) -> String {
    let mut bytes = bytes(&Description::of(greet().interface()));
    bytes[at] = byte;
    Description::decode(&bytes).err().unwrap_or_default()
}

#[test]
fn what_is_no_interface_is_refused() {
    // The name 0, the fingerprint 12, 2 messages 28, a name 32, its sender 40, 1 parameter 44, its name 48, its type
    // 56; the other message 60; 3 states 104, the first one's end 108, 1 transition 112, its message 116, its state
    // 120.
    assert_eq!(said(4, b'g'), "its fingerprint is that of another interface");
    assert_eq!(said(12, 0), "its fingerprint is that of another interface");
    assert_eq!(
        said(4, b'-'),
        "the interface's name is not a letter and then letters, digits and underscores"
    );
    assert_eq!(said(0, 0xff), "the interface's name is cut off");
    assert_eq!(said(28, 0xff), "the number of messages is more than follow");
    assert_eq!(said(43, 2), "a message's sender is neither 0 nor 1");
    assert_eq!(said(59, 7), "there is no type 7");
    assert_eq!(said(111, 2), "whether a state may end is neither 0 nor 1");
    assert_eq!(said(119, 2), "there is no message 2");
    assert_eq!(said(123, 3), "there is no state 3");
    assert_eq!(said(121, 1), "there is no state 65535");
    let mut both = greet();
    both.states[0].1[1] = Some(0);
    let bytes = bytes(&Description::of(both.interface()));
    assert_eq!(Description::decode(&bytes).unwrap_err(), "both sides may send in state 0");
    let mut twice = greet();
    twice.messages[1] = twice.messages[0].clone();
    twice.states[1].1[1] = None;
    let bytes = self::bytes(&Description::of(twice.interface()));
    assert_eq!(Description::decode(&bytes).unwrap_err(), "there are two messages IN Name(p0: TEXT)");
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 1000 })
    })]

    #[test]
    fn a_description_comes_as_it_went_and_says_all(plan in plans()) {
        let interface = plan.interface();
        let description = Description::of(interface);
        prop_assert_eq!(Description::decode(&bytes(&description)), Ok(description.clone()));
        for state in 0..plan.states.len() {
            prop_assert_eq!(Protocol::may_end(interface, state as u16), description.may_end(state as u16));
            for message in 0..plan.messages.len() {
                let next = plan.states[state].1[message];
                prop_assert_eq!(description.next(state as u16, message), next);
            }
        }
    }

    /// It makes no difference whether an interface is here or was told.
    #[test]
    fn a_description_serves_whom_its_interface_serves(server in plans(), client in plans()) {
        let (server, client) = (server.interface(), client.interface());
        let (told_server, told_client) = (Description::of(server), Description::of(client));
        let expected = serves(server, client).map_err(|difference| difference.to_string());
        let said = |result: Result<(), drystone_component::subtype::Difference>| result.map_err(|d| d.to_string());
        prop_assert_eq!(said(serves(&told_server, client)), expected.clone());
        prop_assert_eq!(said(serves(server, &told_client)), expected.clone());
        prop_assert_eq!(said(serves(&told_server, &told_client)), expected);
    }

    #[test]
    fn other_bytes_are_refused_or_mean_the_same(
        plan in plans(),
        at in any::<prop::sample::Index>(),
        bits in 1..=255u8,
        cut in any::<bool>(),
    ) {
        let mut changed = bytes(&Description::of(plan.interface()));
        let at = at.index(changed.len());
        if cut { changed.truncate(at) } else { changed[at] ^= bits }
        if let Ok(description) = Description::decode(&changed) {
            prop_assert_eq!(bytes(&description), changed);
        }
    }
}
