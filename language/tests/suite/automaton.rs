//! Compilation of protocols to automata.

use std::collections::{BTreeSet, HashMap};

use drystone_language::ast::{Direction, Message, Name, Protocol};
use drystone_language::automaton::{MAX_STATES, compile};
use drystone_language::program::State;
use drystone_language::source::{Diagnostic, Span};
use proptest::prelude::*;

/// Protocols over `IN a`, `IN b`, ... of which nothing but the structure matters.
fn protocols() -> impl Strategy<Value = Protocol> {
    (0u8..3).prop_map(message).prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Protocol::Choice),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Protocol::Sequence),
            inner.clone().prop_map(|it| Protocol::Optional(Box::new(it), Span::default())),
            inner.clone().prop_map(|it| Protocol::Repeated(Box::new(it), Span::default())),
            inner.prop_map(|it| Protocol::Group(Box::new(it), Span::default())),
        ]
    })
}

fn message(number: u8) -> Protocol {
    in_direction(Direction::In, char::from(b'a' + number))
}

fn in_direction(direction: Direction, name: char) -> Protocol {
    let place = u32::from(name);
    let span = Span { file: 0, start: place, end: place + 1 };
    let name = Name { text: name.into(), span };
    Protocol::Message(Message { direction, name, parameters: Vec::new(), span })
}

fn automaton(protocol: &Protocol) -> Result<Vec<State>, Vec<Diagnostic>> {
    compile(Some(protocol), &mut index)
}

fn index(message: &Message) -> usize {
    usize::from(message.name.text.as_bytes()[0] - b'a')
}

/// Where in `word` one can be after `protocol` when it began at `from`: by definition, without automata.
fn ends(protocol: &Protocol, word: &[usize], from: usize) -> BTreeSet<usize> {
    match protocol {
        Protocol::Message(it) if word.get(from) == Some(&index(it)) => [from + 1].into(),
        Protocol::Message(_) => BTreeSet::new(),
        Protocol::Group(inner, _) => ends(inner, word, from),
        Protocol::Choice(all) => all.iter().flat_map(|it| ends(it, word, from)).collect(),
        Protocol::Sequence(parts) => parts.iter().fold([from].into(), |places: BTreeSet<usize>, part| {
            places.iter().flat_map(|&place| ends(part, word, place)).collect()
        }),
        Protocol::Optional(inner, _) => {
            let mut places = ends(inner, word, from);
            places.insert(from);
            places
        }
        Protocol::Repeated(inner, _) => {
            let mut places = BTreeSet::from([from]);
            let mut pending = vec![from];
            while let Some(place) = pending.pop() {
                pending.extend(ends(inner, word, place).into_iter().filter(|&next| places.insert(next)));
            }
            places
        }
    }
}

fn accepts(states: &[State], word: &[usize]) -> bool {
    let mut state = 0;
    for message in word {
        match states[state].transitions.iter().find(|(label, _)| label == message) {
            Some(&(_, next)) => state = next,
            None => return false,
        }
    }
    states[state].may_end
}

/// The number of states that differ, by comparing all pairs until nothing changes.
fn distinguishable(states: &[State]) -> usize {
    let mut class: Vec<usize> = states.iter().map(|state| usize::from(state.may_end)).collect();
    loop {
        let mut known = HashMap::new();
        let refined: Vec<usize> = states
            .iter()
            .enumerate()
            .map(|(place, state)| {
                let next: Vec<_> = state.transitions.iter().map(|&(by, to)| (by, class[to])).collect();
                let fresh = known.len();
                *known.entry((class[place], next)).or_insert(fresh)
            })
            .collect();
        let count = |classes: &[usize]| classes.iter().collect::<BTreeSet<_>>().len();
        if count(&refined) == count(&class) {
            return count(&class);
        }
        class = refined;
    }
}

proptest! {
    #[test]
    fn automata_accept_what_protocols_mean(
        protocol in protocols(),
        words in prop::collection::vec(prop::collection::vec(0usize..3, 0..7), 20),
    ) {
        let states = automaton(&protocol).unwrap();
        for word in words {
            prop_assert_eq!(accepts(&states, &word), ends(&protocol, &word, 0).contains(&word.len()));
        }
        prop_assert_eq!(distinguishable(&states), states.len());
    }
}

#[test]
fn no_protocol_means_no_message() {
    let states = compile(None, &mut index).unwrap();
    assert_eq!(states, [State { transitions: Vec::new(), may_end: true }]);
}

#[test]
fn states_are_numbered_in_the_order_of_messages() {
    // (b a | a) c
    let ba = Protocol::Sequence(vec![message(1), message(0)]);
    let protocol = Protocol::Sequence(vec![Protocol::Choice(vec![ba, message(0)]), message(2)]);
    let state = |transitions: &[(usize, usize)], may_end| State { transitions: transitions.into(), may_end };
    let expected =
        [state(&[(0, 1), (1, 2)], false), state(&[(2, 3)], false), state(&[(0, 1)], false), state(&[], true)];
    assert_eq!(automaton(&protocol).unwrap(), expected);
}

#[test]
fn a_state_with_two_senders_is_refused_once_for_each_pair() {
    // IN a { IN b | OUT c }
    let both = Protocol::Choice(vec![message(1), in_direction(Direction::Out, 'c')]);
    let again = Protocol::Repeated(Box::new(both), Span::default());
    let refused = automaton(&Protocol::Sequence(vec![message(0), again])).unwrap_err();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].code, "protocol-two-senders");
    assert_eq!(refused[0].message, "after IN a, both sides may send: the client b, the server c");
    assert_eq!(refused[0].span.start, u32::from('c'));
    assert_eq!(refused[0].notes[0].0.start, u32::from('b'));
}

#[test]
fn an_exponential_automaton_is_refused() {
    // { a | b } a (a | b) (a | b) ...: which messages were an a, forty messages back?
    let either = || Protocol::Choice(vec![message(0), message(1)]);
    let mut parts = vec![Protocol::Repeated(Box::new(either()), Span::default()), message(0)];
    parts.extend((0..40).map(|_| either()));
    let refused = automaton(&Protocol::Sequence(parts)).unwrap_err();
    assert_eq!(refused[0].code, "protocol-too-large");
}

#[test]
fn a_long_protocol_takes_no_quadratic_time() {
    let long = Protocol::Sequence((0..MAX_STATES - 1).map(|_| message(0)).collect());
    assert_eq!(automaton(&long).unwrap().len(), MAX_STATES);
}
