//! Warnings about communications: messages that may come and that nothing receives, and tests that can't be TRUE.
//!
//! All processes of a component are taken together, since one may receive what another has begun. A message may come
//! only if some component of the program sends it, or the other side may be in another program.

use std::collections::{BTreeMap, BTreeSet};

use super::positions::{Positions, Side};
use super::wording::{allowed, describe, one_of};
use crate::ast::Direction;
use crate::program::{ComponentId, Interface, InterfaceId, Pattern, Program};
use crate::source::{Diagnostic, Span};

/// An end of an interface: the side that receives messages of this direction.
type End = (InterfaceId, Direction);

/// Messages that answer only one request, though other requests lead to the same state of the protocol.
const ANSWERS: [(&str, &str, &str); 2] =
    [("FileSystem", "Byte", "ReadByte"), ("FileSystem", "Line", "ReadLine")];

/// The uses that a component makes of its communications.
#[derive(Clone, Default)]
pub struct Uses {
    /// The states that it may reach, and the first place of each. If the server is a held component of a known
    /// template, the states are kept apart for each template.
    reached: BTreeMap<(End, usize, Option<ComponentId>), Span>,
    /// The messages that it receives or tests for by name, the states in which it does, and the first place.
    named: BTreeMap<(End, usize, usize), Span>,
    /// States in which it stops the program unless a tested message comes. No other message need be received there,
    /// unless the state is in `left` too.
    refused: BTreeSet<(End, usize)>,
    /// States in which it leaves a communication and goes on.
    left: BTreeSet<(End, usize)>,
    tests: BTreeMap<Span, Test>,
    /// The messages that it sends.
    sent: BTreeSet<(InterfaceId, usize)>,
    /// Interfaces that may lead out of the program.
    open: BTreeSet<InterfaceId>,
}

/// A test, wherever it is evaluated.
#[derive(Clone)]
struct Test {
    end: End,
    pattern: Pattern,
    /// The positions of the communication.
    before: Positions,
    may_hold: bool,
}

impl Uses {
    /// A message is sent.
    pub fn send(&mut self, interface: InterfaceId, message: usize) {
        self.sent.insert((interface, message));
    }

    /// An interface is bound to a name.
    pub fn bind(&mut self, interface: InterfaceId) {
        self.open.insert(interface);
    }

    /// A followed communication may be in these positions. `server` is the template of the other side, if it is known.
    pub fn reach(&mut self, end: End, server: Option<ComponentId>, positions: &Positions, span: Span) {
        for &state in positions.open.iter().filter(|_| !positions.guessed) {
            self.reached.entry((end, state, server)).or_insert(span);
        }
    }

    /// A message is received or tested for.
    pub fn name(&mut self, end: End, side: Side, before: &Positions, message: usize, span: Span) {
        let leads_on = |&&state: &&usize| {
            side.interface.states[state].transitions.iter().any(|&(label, _)| label == message)
        };
        for &state in before.open.iter().filter(leads_on) {
            self.named.entry((end, state, message)).or_insert(span);
        }
    }

    /// The program stops there, because of a message that comes or doesn't.
    pub fn refuse(&mut self, end: End, positions: &Positions) {
        self.refused.extend(positions.open.iter().map(|&state| (end, state)));
    }

    /// The communication is left in these positions: no more messages are exchanged.
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

    /// Adds the uses of another process.
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

/// The warnings for a program, from the uses of each component.
pub fn doubts(program: &Program, components: &[Uses]) -> Vec<Diagnostic> {
    let speakers = Speakers::of(program, components);
    let mut warnings = Vec::new();
    for uses in components {
        uses.never_received(program, &speakers, &mut warnings);
        uses.never_true(program, &mut warnings);
    }
    warnings
}

/// The messages that may be sent, and by which components.
struct Speakers<'p> {
    program: &'p Program,
    components: &'p [Uses],
    sent: BTreeSet<(InterfaceId, usize)>,
    /// Interfaces of which one side may be in another program.
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
    /// Messages that may come in a state, and that no receive or test names there. In a state in which none at all is
    /// named, the communication may just end.
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
                    "receive {it} too: a message that nothing receives ends the component, or the communication"
                ));
            warnings.push(match protocol.span == Span::default() {
                true => warning,
                false => warning.note(protocol.span, format!("the protocol of {}", protocol.name)),
            });
        }
    }

    /// Whether all the messages that lead this side to a state are sent. It isn't known which of them a following
    /// message answers.
    fn asks_for_all(&self, protocol: &Interface, (interface, receives): End, state: usize) -> bool {
        let all = protocol.states.iter().flat_map(|from| &from.transitions);
        let own =
            all.filter(|&&(message, to)| to == state && protocol.messages[message].direction != receives);
        let own: BTreeSet<usize> = own.map(|&(message, _)| message).collect();
        let is_ours = protocol.span == Span::default();
        is_ours || own.len() < 2 || own.iter().all(|&message| self.sent.contains(&(interface, message)))
    }

    /// Whether the request is sent that a message of the system answers.
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
