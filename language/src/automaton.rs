//! Compiles protocols to automata: an EBNF expression becomes a nondeterministic automaton (Thompson), which becomes a
//! deterministic one (subset construction), which is minimised (Hopcroft). Refuses protocols in which both sides may
//! send at the same point, and those whose automaton would be too large. Knows nothing of how programs use protocols.

mod minimise;

use crate::ast::{Direction, Message, Protocol};
use crate::program::State;
use crate::source::Diagnostic;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A protocol with more states than this is refused. A state is an entry of a run-time table, and an EBNF of n
/// messages can need 2^n of them.
pub const MAX_STATES: usize = 60_000;

/// How many nodes of the nondeterministic automaton may be visited in all. This bounds the time of compilation if a few
/// states consist of very many nodes.
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
    /// For each node, its silent edges.
    silent: Vec<Vec<usize>>,
    /// For each node, its outgoing arrows.
    edges: Vec<Vec<usize>>,
    /// The arrows: one for each message in the text.
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
