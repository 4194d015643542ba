//! Which interfaces serve which: a client's end and a server's end may be bound if their interfaces are the same, or if
//! the server's is a subtype of the client's (*THINK*, section 3.1: a binding is made only between compatible ends).
//!
//! A subtype may take more messages than its clients send, and send fewer than they expect. Where a client may end, the
//! server may too. Where the server may end, the client may too, unless it is the client's turn to send: then the
//! server begins anew.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::interface::{Side, Type};
use crate::protocol::Protocol;

/// Why a server's interface does not serve a client's: the shortest sequence of messages after which they differ, and
/// how. Displays as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The messages that lead to the difference, by the client's numbers.
    pub after: Vec<u32>,
    /// The difference.
    pub what: What,
    sentence: String,
}

/// A difference between two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// They have different names.
    Name,
    /// The server does not know a client's message.
    Unknown(u32),
    /// A message has other parameters at the client than at the server.
    Parameters(u32, u32),
    /// A client's message carries a component or a sequence. What that consists of is not known here, so the interfaces
    /// may differ in it.
    Carries(u32),
    /// The client may send a message that the server does not take there.
    ServerRefuses(u32),
    /// The server may send a message (its number) that the client does not take there.
    ClientRefuses(u32),
    /// The client may end there, the server may not.
    ClientEnds,
    /// The server may end there, and the client waits for a message.
    ServerEnds,
}

/// Whether a server's interface serves a client's; if not, the difference that fewest messages lead to.
pub fn serves(server: &impl Protocol, client: &impl Protocol) -> Result<(), Difference> {
    if server.fingerprint() == client.fingerprint() {
        return Ok(());
    }
    let both = Both { server, client, counterparts: Counterparts::new(server, client) };
    if server.name() != client.name() {
        return Err(both.difference(Vec::new(), What::Name));
    }
    // How each pair of states was reached: from which pair, by which message of the client's.
    let mut reached = BTreeMap::from([((0, 0), None)]);
    let mut waiting = VecDeque::from([(0, 0)]);
    while let Some(pair) = waiting.pop_front() {
        let mut follows = Vec::new();
        if let Err(what) = both.compare(pair, &mut follows) {
            return Err(both.difference(way_to(pair, &reached), what));
        }
        for (message, next) in follows {
            reached.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                Some((pair, message))
            });
        }
    }
    Ok(())
}

/// The numbers, in either interface, of the messages that two interfaces have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterparts {
    /// For each of the client's messages, its number at the server.
    pub at_server: Vec<Option<u32>>,
    /// For each of the server's messages, its number at the client.
    pub at_client: Vec<Option<u32>>,
}

impl Counterparts {
    /// Matches messages by name and direction.
    pub fn new(server: &impl Protocol, client: &impl Protocol) -> Counterparts {
        Counterparts { at_server: numbers(client, server), at_client: numbers(server, client) }
    }
}

/// The numbers that the messages of one interface have in another.
fn numbers(of: &impl Protocol, within: &impl Protocol) -> Vec<Option<u32>> {
    let key = |(side, name)| (side == Side::Client, name);
    let known: BTreeMap<_, _> = (0..within.messages()).map(|n| (key(within.message(n)), n as u32)).collect();
    (0..of.messages()).map(|n| known.get(&key(of.message(n))).copied()).collect()
}

/// A state of the client's protocol, and one of the server's.
type Pair = (u16, u16);

fn way_to(mut pair: Pair, reached: &BTreeMap<Pair, Option<(Pair, Option<u32>)>>) -> Vec<u32> {
    let mut way = Vec::new();
    while let Some(Some((from, message))) = reached.get(&pair) {
        way.extend(*message);
        pair = *from;
    }
    way.reverse();
    way
}

struct Both<'a, S, C> {
    server: &'a S,
    client: &'a C,
    counterparts: Counterparts,
}

impl<S: Protocol, C: Protocol> Both<'_, S, C> {
    /// Checks all messages that may come in these states of client and server, and adds the states that follow.
    fn compare(&self, (c, s): Pair, follows: &mut Vec<(Option<u32>, Pair)>) -> Result<(), What> {
        let (client, server) = (self.client, self.server);
        let mut waits = false;
        for (number, next) in client.transitions(c) {
            if client.message(number).0 == Side::Server {
                waits = true;
                continue;
            }
            let number = number as u32;
            let to = server.next(s, self.counterpart(number)? as usize);
            follows.push((Some(number), (next, to.ok_or(What::ServerRefuses(number))?)));
        }
        for (number, to) in
            server.transitions(s).filter(|(number, _)| server.message(*number).0 == Side::Server)
        {
            let refused = What::ClientRefuses(number as u32);
            let theirs = self.counterparts.at_client[number].ok_or(refused)?;
            self.counterpart(theirs)?;
            let next = client.next(c, theirs as usize).ok_or(refused)?;
            follows.push((Some(theirs), (next, to)));
        }
        match (client.may_end(c), server.may_end(s)) {
            (true, false) => Err(What::ClientEnds),
            (false, true) if waits => Err(What::ServerEnds),
            (false, true) => {
                follows.push((None, (c, 0)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The server's number of a client's message, if its parameters are the same.
    fn counterpart(&self, number: u32) -> Result<u32, What> {
        let found = self.counterparts.at_server[number as usize].ok_or(What::Unknown(number))?;
        if !self.client.types(number as usize).eq(self.server.types(found as usize)) {
            return Err(What::Parameters(number, found));
        }
        if self.client.types(number as usize).any(|ty| !ty.is_plain()) {
            return Err(What::Carries(number));
        }
        Ok(found)
    }

    fn difference(&self, after: Vec<u32>, what: What) -> Difference {
        let mut sentence = String::new();
        // Writing to a string does not fail.
        let _ = self.say(&mut sentence, &after, what);
        Difference { after, what, sentence }
    }

    fn say(&self, f: &mut String, after: &[u32], what: What) -> fmt::Result {
        let (client, server) = (self.client, self.server);
        let name = client.name();
        if what == What::Name {
            return write!(f, "{name} is wanted, {} is offered", server.name());
        }
        write!(f, "{name}: ")?;
        for (index, &message) in after.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "after " } else { ", " }, Spelled(client, message))?;
        }
        if !after.is_empty() {
            write!(f, ", ")?;
        }
        match what {
            What::Name => Ok(()),
            What::Unknown(m) => write!(f, "the client knows {}, the server does not", Spelled(client, m)),
            What::Parameters(m, n) => {
                let (theirs, ours) = (Parameters(client, m), Parameters(server, n));
                write!(f, "{} has {theirs} for the client and {ours} for the server", Spelled(client, m))
            }
            What::Carries(m) => {
                let carried = client.types(m as usize).find(|ty| !ty.is_plain()).unwrap_or(Type::Component);
                write!(f, "{} carries {carried}, and the interfaces differ", Spelled(client, m))
            }
            What::ServerRefuses(m) => {
                write!(f, "the client may send {}, which the server does not take", Spelled(client, m))
            }
            What::ClientRefuses(n) => {
                write!(f, "the server may send {}, which the client does not take", Spelled(server, n))
            }
            What::ClientEnds => write!(f, "the client may end, the server may not"),
            What::ServerEnds => write!(f, "the server may end, and the client waits for a message"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// A message as interfaces declare it, without its parameters.
struct Spelled<'a, P>(&'a P, u32);

impl<P: Protocol> fmt::Display for Spelled<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sender, name) = self.0.message(self.1 as usize);
        write!(f, "{} {name}", if sender == Side::Client { "IN" } else { "OUT" })
    }
}

/// The types of a message's parameters.
struct Parameters<'a, P>(&'a P, u32);

impl<P: Protocol> fmt::Display for Parameters<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(")?;
        for (index, ty) in self.0.types(self.1 as usize).enumerate() {
            write!(f, "{}{ty}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, ")")
    }
}
