//! What is hardly meant: messages that may come and that nothing receives, and tests that can't be TRUE. Nobody is
//! refused for it.
//!
//! A component's processes are taken together, whatever they talk through: what one of them begins another may receive.
//! A message may come only if somebody in the program sends it, unless the other side may be elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::{allowed, describe, one_of};
use super::positions::{Positions, Side};
use crate::ast::Direction;
use crate::program::{ComponentId, Interface, InterfaceId, Pattern, Program};
use crate::source::{Diagnostic, Span};

/// An interface, as the side that receives these sees it.
type End = (InterfaceId, Direction);

/// What only one request is answered by, though others lead to the same state of the protocol.
const ANSWERS: [(&str, &str, &str); 2] =
    [("FileSystem", "Byte", "ReadByte"), ("FileSystem", "Line", "ReadLine")];

/// How a component uses its communications.
#[derive(Clone, Default)]
pub struct Uses {
    /// The states in which it may be, with which server if that is a held component of a known template, and where it
    /// comes there first.
    reached: BTreeMap<(End, usize, Option<ComponentId>), Span>,
    /// What it receives or asks for by name, in which states, and where first.
    named: BTreeMap<(End, usize, usize), Span>,
    /// States in which it stops the program unless what it asks for comes: nothing else is forgotten there,
    refused: BTreeSet<(End, usize)>,
    /// unless it goes on, and leaves the communication there.
    left: BTreeSet<(End, usize)>,
    tests: BTreeMap<Span, Test>,
    /// What it sends.
    sent: BTreeSet<(InterfaceId, usize)>,
    /// What may lead out of the program.
    open: BTreeSet<InterfaceId>,
}

/// A test, wherever it is evaluated.
#[derive(Clone)]
struct Test {
    end: End,
    pattern: Pattern,
    /// Where the communication may be.
    before: Positions,
    may_hold: bool,
}

impl Uses {
    /// Something is sent.
    pub fn send(&mut self, interface: InterfaceId, message: usize) {
        self.sent.insert((interface, message));
    }

    /// An interface is bound to a name.
    pub fn bind(&mut self, interface: InterfaceId) {
        self.open.insert(interface);
    }

    /// A followed communication, with a component of this template if that is known, may be there.
    pub fn reach(&mut self, end: End, server: Option<ComponentId>, positions: &Positions, span: Span) {
        for &state in positions.open.iter().filter(|_| !positions.guessed) {
            self.reached.entry((end, state, server)).or_insert(span);
        }
    }

    /// A message is received or asked for.
    pub fn name(&mut self, end: End, side: Side, before: &Positions, message: usize, span: Span) {
        let leads_on = |&&state: &&usize| {
            side.interface.states[state].transitions.iter().any(|&(label, _)| label == message)
        };
        for &state in before.open.iter().filter(leads_on) {
            self.named.entry((end, state, message)).or_insert(span);
        }
    }

    /// The program stops there because of what comes, or doesn't.
    pub fn refuse(&mut self, end: End, positions: &Positions) {
        self.refused.extend(positions.open.iter().map(|&state| (end, state)));
    }

    /// Nothing more is said or heard.
    pub fn leave(&mut self, end: End, positions: &Positions) {
        self.left.extend(positions.open.iter().map(|&state| (end, state)));
    }

    /// A test is evaluated that may be TRUE or not.
    pub fn test(&mut self, span: Span, end: End, pattern: Pattern, before: &Positions, may_hold: bool) {
        let test = self.tests.entry(span).or_insert_with(|| Test {
            end,
            pattern,
            before: Positions::default(),
            may_hold: false,
        });
        test.before = test.before.union(before);
        test.may_hold |= may_hold;
    }

    /// Adds those of another process.
    pub fn merge(&mut self, other: Uses) {
        for (key, span) in other.reached {
            self.reached.entry(key).or_insert(span);
        }
        for (key, span) in other.named {
            self.named.entry(key).or_insert(span);
        }
        for (span, test) in other.tests {
            self.test(span, test.end, test.pattern, &test.before, test.may_hold);
        }
        self.refused.extend(other.refused);
        self.left.extend(other.left);
        self.sent.extend(other.sent);
        self.open.extend(other.open);
    }
}

/// What is hardly meant in the components of a program, each with its uses.
pub fn doubts(program: &Program, components: &[Uses]) -> Vec<Diagnostic> {
    let speakers = Speakers::of(program, components);
    let mut warnings = Vec::new();
    for uses in components {
        uses.never_received(program, &speakers, &mut warnings);
        uses.never_true(program, &mut warnings);
    }
    warnings
}

/// Who may send what.
struct Speakers<'p> {
    program: &'p Program,
    components: &'p [Uses],
    sent: BTreeSet<(InterfaceId, usize)>,
    /// Interfaces of which one side may be elsewhere.
    open: BTreeSet<InterfaceId>,
    /// Interfaces that components of the program implement.
    implemented: BTreeSet<InterfaceId>,
}

impl<'p> Speakers<'p> {
    fn of(program: &'p Program, components: &'p [Uses]) -> Speakers<'p> {
        let implemented = program.components.iter().flat_map(|component| {
            component.implementations.iter().map(|one| component.offers[one.offered].interface)
        });
        Speakers {
            program,
            components,
            sent: components.iter().flat_map(|uses| &uses.sent).copied().collect(),
            open: components.iter().flat_map(|uses| &uses.open).copied().collect(),
            implemented: implemented.collect(),
        }
    }

    /// Whether a component of a template implements an interface.
    fn implements(&self, server: ComponentId, interface: InterfaceId) -> bool {
        let component = &self.program.components[server.index()];
        component.implementations.iter().any(|one| component.offers[one.offered].interface == interface)
    }

    /// Whether a message may come at all, from a component of this template if that is known.
    fn send(&self, interface: InterfaceId, message: usize, server: Option<ComponentId>) -> bool {
        if let Some(server) = server.filter(|&server| self.implements(server, interface)) {
            return self.components[server.index()].sent.contains(&(interface, message));
        }
        let messages = &self.program.interfaces[interface.index()].messages;
        let direction = messages[message].direction;
        let is_known = match direction {
            Direction::Out => self.implemented.contains(&interface),
            Direction::In => {
                self.sent.iter().any(|&(of, it)| of == interface && messages[it].direction == direction)
            }
        };
        !is_known || self.open.contains(&interface) || self.sent.contains(&(interface, message))
    }
}

impl Uses {
    /// Messages that may come in a state, and that no receive and no test names there. Where none at all is named, the
    /// communication may just end.
    fn never_received(&self, program: &Program, speakers: &Speakers, warnings: &mut Vec<Diagnostic>) {
        let mut forgotten: BTreeMap<(End, Span), (BTreeSet<usize>, Positions)> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for (&(end, state, server), &reached) in &self.reached {
            let (interface, receives) = end;
            let protocol = &program.interfaces[interface.index()];
            let at = (end, state);
            let is_refused = self.refused.contains(&at) && !self.left.contains(&at);
            if is_refused || !self.asks_for_all(protocol, end, state) {
                continue;
            }
            let coming = protocol.states[state].transitions.iter().map(|&(message, _)| message);
            let coming = coming.filter(|&message| {
                protocol.messages[message].direction == receives
                    && speakers.send(interface, message, server)
                    && self.asks_for(protocol, interface, message)
            });
            let (named, unnamed): (Vec<_>, Vec<_>) =
                coming.partition(|&message| self.named.contains_key(&(end, state, message)));
            if named.is_empty() && protocol.states[state].may_end {
                continue;
            }
            let first = named.iter().map(|&message| self.named[&(end, state, message)]).min();
            for message in unnamed.into_iter().filter(|&message| known.insert((end, message))) {
                let (messages, positions) = forgotten.entry((end, first.unwrap_or(reached))).or_default();
                messages.insert(message);
                positions.open.insert(state);
            }
        }
        for (((interface, _), span), (messages, positions)) in forgotten {
            let protocol = &program.interfaces[interface.index()];
            let it = if messages.len() == 1 { "it" } else { "them" };
            let all = one_of(messages.iter().map(|&message| describe(protocol, message)).collect());
            let message =
                format!("{all} may come by the protocol of {}, and nothing receives {it}", protocol.name);
            let warning = Diagnostic::warning("never-received", span, message)
                .label(format!("here the protocol allows {}", allowed(protocol, &positions)))
                .help(format!(
                    "receive {it} too, or what comes there ends the component, or the communication"
                ));
            warnings.push(match protocol.span == Span::default() {
                true => warning,
                false => warning.note(protocol.span, format!("the protocol of {}", protocol.name)),
            });
        }
    }

    /// Whether all the messages by which this side comes to a state are sent: which of them those that follow answer
    /// isn't known.
    fn asks_for_all(&self, protocol: &Interface, (interface, receives): End, state: usize) -> bool {
        let all = protocol.states.iter().flat_map(|from| &from.transitions);
        let own =
            all.filter(|&&(message, to)| to == state && protocol.messages[message].direction != receives);
        let own: BTreeSet<usize> = own.map(|&(message, _)| message).collect();
        let is_ours = protocol.span == Span::default();
        is_ours || own.len() < 2 || own.iter().all(|&message| self.sent.contains(&(interface, message)))
    }

    /// Whether what a message of the system's answers is sent.
    fn asks_for(&self, protocol: &Interface, interface: InterfaceId, message: usize) -> bool {
        let name = &protocol.messages[message].name;
        let request = ANSWERS.iter().find(|(of, answer, _)| *of == protocol.name && *answer == name);
        request.is_none_or(|(.., request)| {
            self.sent.iter().any(|&(of, sent)| of == interface && protocol.messages[sent].name == *request)
        })
    }

    fn never_true(&self, program: &Program, warnings: &mut Vec<Diagnostic>) {
        for (&span, test) in self.tests.iter().filter(|(_, test)| !test.may_hold) {
            let (interface, _) = test.end;
            let protocol = &program.interfaces[interface.index()];
            let asked = match test.pattern {
                Pattern::Message(message) => describe(protocol, message),
                Pattern::Any => "a message".into(),
                Pattern::Finish => continue,
            };
            let here = match test.before.open.is_empty() {
                true => "here the communication is over".to_string(),
                false => format!("here the protocol allows {}", allowed(protocol, &test.before)),
            };
            let message =
                format!("this is never TRUE: {asked} can't come here by the protocol of {}", protocol.name);
            let warning = Diagnostic::warning("never-true", span, message).label(here);
            warnings.push(match protocol.span == Span::default() {
                true => warning,
                false => warning.note(protocol.span, format!("the protocol of {}", protocol.name)),
            });
        }
    }
}
