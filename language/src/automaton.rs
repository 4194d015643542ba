//! Protocols as automata: an EBNF expression becomes a nondeterministic automaton, that becomes a deterministic
//! one, and that the smallest one for the same protocol. Refuses protocols that let both sides send at the same
//! point, and those whose automaton would be too large. Knows nothing of how programs use protocols.

mod minimise;

use crate::ast::{Direction, Message, Protocol};
use crate::program::State;
use crate::source::Diagnostic;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A protocol with more states than this is refused. A state is an entry of a run-time table, and an EBNF of n
/// messages can need 2^n of them.
pub const MAX_STATES: usize = 60_000;

/// How many nodes of the nondeterministic automaton may be visited altogether: bounds the time of compilation
/// where few states consist of very many nodes.
const MAX_VISITS: usize = 20_000_000;

/// The minimal deterministic automaton of a protocol; state 0 is the start, the others are numbered in
/// breadth-first order. `message` gives each message of the protocol its index in the interface.
pub fn compile(
    protocol: Option<&Protocol>,
    message: &mut dyn FnMut(&Message) -> usize,
) -> Result<Vec<State>, Vec<Diagnostic>> {
    let Some(protocol) = protocol else {
        return Ok(vec![State { transitions: Vec::new(), may_end: true }]);
    };
    let mut graph = Graph { message, silent: Vec::new(), edges: Vec::new(), arrows: Vec::new() };
    let (start, end) = (graph.node(), graph.node());
    graph.add(protocol, start, end);
    let states = graph.determinise(start, end)?;
    Ok(minimise::minimise(&states))
}

/// A nondeterministic automaton with silent edges (Thompson's construction).
struct Graph<'a> {
    message: &'a mut dyn FnMut(&Message) -> usize,
    /// For each node, where one gets without a message.
    silent: Vec<Vec<usize>>,
    /// For each node, its outgoing arrows.
    edges: Vec<Vec<usize>>,
    /// One for each message in the text.
    arrows: Vec<Arrow<'a>>,
}

/// An edge that a message labels.
struct Arrow<'a> {
    index: usize,
    written: &'a Message,
    to: usize,
}

/// A state under construction: how it was first reached.
struct Reached {
    kernel: Vec<usize>,
    /// The state before and the arrow that led here; `None` for the start.
    by: Option<(usize, usize)>,
}

impl<'a> Graph<'a> {
    fn node(&mut self) -> usize {
        self.silent.push(Vec::new());
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Adds all ways of `protocol` between two nodes. It never adds an edge into `from` or out of `to`, so
    /// alternatives can share both.
    fn add(&mut self, protocol: &'a Protocol, from: usize, to: usize) {
        match protocol {
            Protocol::Message(written) => {
                let index = (self.message)(written);
                self.edges[from].push(self.arrows.len());
                self.arrows.push(Arrow { index, written, to });
            }
            Protocol::Group(inner, _) => self.add(inner, from, to),
            Protocol::Choice(alternatives) => {
                for alternative in alternatives {
                    self.add(alternative, from, to);
                }
            }
            Protocol::Sequence(parts) => {
                let Some((last, parts)) = parts.split_last() else {
                    return self.silent[from].push(to);
                };
                let mut here = from;
                for part in parts {
                    let next = self.node();
                    self.add(part, here, next);
                    here = next;
                }
                self.add(last, here, to);
            }
            Protocol::Optional(inner, _) => {
                self.silent[from].push(to);
                self.add(inner, from, to);
            }
            Protocol::Repeated(inner, _) => {
                let again = self.node();
                self.silent[from].push(again);
                self.silent[again].push(to);
                self.add(inner, again, again);
            }
        }
    }

    /// The subset construction. A state is known by its kernel, the nodes that messages led to.
    fn determinise(&self, start: usize, end: usize) -> Result<Vec<State>, Vec<Diagnostic>> {
        let mut states: Vec<State> = Vec::new();
        let mut reached = vec![Reached { kernel: vec![start], by: None }];
        let mut known = HashMap::from([(vec![start], 0)]);
        let mut refused = HashSet::new();
        let mut diagnostics = Vec::new();
        let mut visits = 0;
        while states.len() < reached.len() {
            let nodes = self.without_message(&reached[states.len()].kernel);
            visits += nodes.len();
            let arrows = || nodes.iter().flat_map(|&node| &self.edges[node]).copied();
            if let Some(pair) = self.two_senders(arrows())
                && refused.insert(pair)
            {
                diagnostics.push(self.refuse_two_senders(pair, &reached, states.len()));
            }
            let mut next: BTreeMap<usize, (Vec<usize>, usize)> = BTreeMap::new();
            for arrow in arrows() {
                let Arrow { index, to, .. } = self.arrows[arrow];
                next.entry(index).or_insert_with(|| (Vec::new(), arrow)).0.push(to);
            }
            let mut transitions = Vec::with_capacity(next.len());
            for (index, (mut kernel, arrow)) in next {
                kernel.sort_unstable();
                kernel.dedup();
                let target = *known.entry(kernel).or_insert_with_key(|kernel| {
                    reached.push(Reached { kernel: kernel.clone(), by: Some((states.len(), arrow)) });
                    reached.len() - 1
                });
                transitions.push((index, target));
            }
            states.push(State { transitions, may_end: nodes.contains(&end) });
            if reached.len() > MAX_STATES || visits > MAX_VISITS {
                diagnostics.push(self.refuse_size());
                break;
            }
        }
        if diagnostics.is_empty() { Ok(states) } else { Err(diagnostics) }
    }

    /// All nodes that can be reached from these by silent edges, themselves included, in ascending order.
    fn without_message(&self, kernel: &[usize]) -> Vec<usize> {
        let mut seen: HashSet<usize> = kernel.iter().copied().collect();
        let mut pending = kernel.to_vec();
        while let Some(node) = pending.pop() {
            pending.extend(self.silent[node].iter().copied().filter(|&next| seen.insert(next)));
        }
        let mut nodes: Vec<usize> = seen.into_iter().collect();
        nodes.sort_unstable();
        nodes
    }

    /// The first arrow of each side, if both may send.
    fn two_senders(&self, arrows: impl Iterator<Item = usize> + Clone) -> Option<(usize, usize)> {
        let first = |direction| {
            arrows.clone().filter(|&arrow| self.arrows[arrow].written.direction == direction).min()
        };
        Some((first(Direction::In)?, first(Direction::Out)?))
    }

    fn refuse_two_senders(
        &self,
        (client, server): (usize, usize),
        reached: &[Reached],
        mut state: usize,
    ) -> Diagnostic {
        let mut path = VecDeque::new();
        while let Some((before, arrow)) = reached[state].by {
            path.push_front(describe(self.arrows[arrow].written));
            if path.len() > 4 {
                path[0] = "...".into();
                break;
            }
            state = before;
        }
        let place = if path.is_empty() {
            "at the start".to_string()
        } else {
            format!("after {}", Vec::from(path).join(" "))
        };
        let (client, server) = (self.arrows[client].written, self.arrows[server].written);
        let message = format!(
            "{place}, both sides may send: the client {}, the server {}",
            client.name.text, server.name.text
        );
        Diagnostic::new("protocol-two-senders", server.span, message)
            .label("the server may send this")
            .note(client.span, "and the client may send this")
            .help("at each point of a protocol one side sends: let a message say whose turn it is")
    }

    fn refuse_size(&self) -> Diagnostic {
        let first = self.arrows.first().map(|arrow| arrow.written.span).unwrap_or_default();
        let span = self.arrows.last().map_or(first, |last| first.to(last.written.span));
        Diagnostic::new("protocol-too-large", span, "the protocol's automaton is too large")
            .label(format!("needs more than {MAX_STATES} states, or too long to find them"))
            .help(
                "how to go on must not depend on messages far back: begin alternatives with different messages",
            )
    }
}

fn describe(message: &Message) -> String {
    let direction = match message.direction {
        Direction::In => "IN",
        Direction::Out => "OUT",
    };
    format!("{direction} {}", message.name.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Name;
    use crate::source::Span;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

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
        let state =
            |transitions: &[(usize, usize)], may_end| State { transitions: transitions.into(), may_end };
        let expected = [
            state(&[(0, 1), (1, 2)], false),
            state(&[(2, 3)], false),
            state(&[(0, 1)], false),
            state(&[], true),
        ];
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
}
