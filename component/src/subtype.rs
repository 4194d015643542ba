//! Which interfaces serve which: a client's end and a server's end may be bound if their interfaces are the same, or if
//! the server's is a subtype of the client's (paper 002, section 3.1: a binding is made only between compatible ends).
//!
//! The server may take more messages than its clients send, and send fewer than they expect. Where a client may end, the
//! server may too; where the server may end, so may the client, unless it is the one to send: then the server begins anew.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;

use crate::interface::{Interface, Message, Side, Type};

/// Why a server's interface does not serve a client's: after the fewest messages, what may come then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The client's messages that lead there, in order; their numbers are the client's.
    pub after: Vec<u32>,
    /// What may come there.
    pub what: What,
    client: Names,
    server: Names,
}

/// What a server's interface lacks, or has too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// They have different names.
    Name,
    /// The server does not know a message of the client's.
    Unknown(u32),
    /// The parameters of a message of the client's differ from those of the server's.
    Parameters(u32, u32),
    /// A message of the client's carries a component, of which nothing is known here but that the interfaces differ.
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

/// An interface, for messages: equal if they are the same description.
#[derive(Clone, Copy)]
struct Names(&'static Interface);

impl PartialEq for Names {
    fn eq(&self, other: &Names) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Names {}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name.get())
    }
}

/// Whether a server's interface serves a client's; if not, the first difference, by the number of messages before it.
pub fn serves(server: &'static Interface, client: &'static Interface) -> Result<(), Difference> {
    if server.fingerprint == client.fingerprint {
        return Ok(());
    }
    let fail = |after, what| Err(Difference { after, what, client: Names(client), server: Names(server) });
    if server.name.get() != client.name.get() {
        return fail(Vec::new(), What::Name);
    }
    let both = Both { server, client };
    // How each pair of states was reached: from which pair, by which message of the client's.
    let mut reached = BTreeMap::from([((0, 0), None)]);
    let mut waiting = VecDeque::from([(0, 0)]);
    while let Some(pair) = waiting.pop_front() {
        let mut follows = Vec::new();
        if let Err(what) = both.compare(pair, &mut follows) {
            return fail(way_to(pair, &reached), what);
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

struct Both {
    server: &'static Interface,
    client: &'static Interface,
}

impl Both {
    /// Looks at all that may come while client and server are in these states, and adds where it leads.
    fn compare(&self, (c, s): Pair, follows: &mut Vec<(Option<u32>, Pair)>) -> Result<(), What> {
        let (client, server) = (self.client, self.server);
        let mut waits = false;
        for (number, message) in numbered(client) {
            let Some(next) = client.next(c, number as usize) else { continue };
            waits |= message.sender == Side::Server;
            if message.sender == Side::Client {
                let to = server.next(s, self.counterpart(number)? as usize);
                follows.push((Some(number), (next, to.ok_or(What::ServerRefuses(number))?)));
            }
        }
        for (number, message) in numbered(server).filter(|(_, message)| message.sender == Side::Server) {
            let Some(to) = server.next(s, number as usize) else { continue };
            let theirs = find(client, message).ok_or(What::ClientRefuses(number))?;
            self.counterpart(theirs)?;
            let next = client.next(c, theirs as usize).ok_or(What::ClientRefuses(number))?;
            follows.push((Some(theirs), (next, to)));
        }
        let ends = |interface: &Interface, state| interface.state(state) & Interface::MAY_END != 0;
        match (ends(client, c), ends(server, s)) {
            (true, false) => Err(What::ClientEnds),
            (false, true) if waits => Err(What::ServerEnds),
            (false, true) => {
                follows.push((None, (c, 0)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The server's number of a message of the client's.
    fn counterpart(&self, number: u32) -> Result<u32, What> {
        let message = &self.client.messages.get()[number as usize];
        let found = find(self.server, message).ok_or(What::Unknown(number))?;
        let types = |message: &'static Message| message.parameters.get().iter().map(|parameter| parameter.ty);
        if !types(message).eq(types(&self.server.messages.get()[found as usize])) {
            return Err(What::Parameters(number, found));
        }
        if types(message).any(|ty| ty == Type::Component) {
            return Err(What::Carries(number));
        }
        Ok(found)
    }
}

fn numbered(interface: &'static Interface) -> impl Iterator<Item = (u32, &'static Message)> {
    (0..).zip(interface.messages.get())
}

fn find(interface: &'static Interface, wanted: &Message) -> Option<u32> {
    let is_same =
        |message: &Message| message.sender == wanted.sender && message.name.get() == wanted.name.get();
    numbered(interface).find(|(_, message)| is_same(message)).map(|(number, _)| number)
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (client, server) = (self.client.0, self.server.0);
        let name = client.name.get();
        if self.what == What::Name {
            return write!(f, "{name} is wanted, {} is offered", server.name.get());
        }
        write!(f, "{name}: ")?;
        for (index, &message) in self.after.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "after " } else { ", " }, Spelled(client, message))?;
        }
        if !self.after.is_empty() {
            write!(f, ", ")?;
        }
        match self.what {
            What::Name => Ok(()),
            What::Unknown(m) => write!(f, "the client knows {}, the server does not", Spelled(client, m)),
            What::Parameters(m, n) => {
                let (theirs, ours) = (Parameters(client, m), Parameters(server, n));
                write!(f, "{} has {theirs} for the client and {ours} for the server", Spelled(client, m))
            }
            What::Carries(m) => {
                write!(f, "{} carries a component, and the interfaces differ", Spelled(client, m))
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

/// A message as interfaces declare it, without its parameters.
struct Spelled(&'static Interface, u32);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.0.messages.get()[self.1 as usize];
        let direction = if message.sender == Side::Client { "IN" } else { "OUT" };
        write!(f, "{direction} {}", message.name.get())
    }
}

/// The types of a message's parameters.
struct Parameters(&'static Interface, u32);

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.0.messages.get()[self.1 as usize].parameters.get();
        write!(f, "(")?;
        for (index, parameter) in parameters.iter().enumerate() {
            let ty = match parameter.ty {
                Type::Boolean => "BOOLEAN",
                Type::Character => "CHARACTER",
                Type::Integer => "INTEGER",
                Type::Real => "REAL",
                Type::Text => "TEXT",
                Type::Component => "a component",
            };
            write!(f, "{}{ty}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, ")")
    }
}
