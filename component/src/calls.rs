//! The request/reply form of an interface: which of its messages are calls, and by which messages each is answered.
//!
//! Other systems know only calls: procedures of ONC RPC, requests of HTTP. An interface has this form if, whenever
//! nothing is unanswered, the client may make the same calls, or none any more in this communication, and each call is
//! answered by exactly one message, or by none. Then a call means the same whenever it is made.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use crate::interface::{Interface, Message, Side};

/// An interface in request/reply form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// In order of the client's messages.
    pub calls: Vec<Call>,
    /// A communication may consist of several calls: what the service remembers from one to the next is part of what
    /// the interface means. If not, each call is a communication of its own.
    pub lasting: bool,
}

/// A client's message, with its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The client's message.
    pub message: usize,
    /// The server's messages of which exactly one follows, ascending; empty if the call is not answered.
    pub answers: Vec<usize>,
}

/// Why an interface has no request/reply form.
#[derive(Clone, Copy)]
pub struct NoCalls {
    interface: &'static Interface,
    reason: Reason,
}

#[derive(Clone, Copy)]
enum Reason {
    /// It has no message that begins it.
    Nothing,
    /// The server begins, with this message.
    ServerBegins(usize),
    /// This client's message may be answered or not.
    MayStayUnanswered(usize),
    /// This client's message may be answered by this server's message, and then by one more.
    AnsweredTwice(usize, usize),
    /// After this message the communication cannot end.
    MustGoOn(usize),
    /// After this message the client may send other messages than at the beginning, such as this one.
    Differs(usize, usize),
}

impl Calls {
    /// The form of an interface, or why it has none.
    pub fn of(interface: &'static Interface) -> Result<Calls, NoCalls> {
        Analysis { interface, idle: BTreeSet::new(), waiting: Vec::new() }
            .calls()
            .map_err(|reason| NoCalls { interface, reason })
    }

    /// The call that begins with a client's message.
    pub fn with(&self, message: usize) -> Option<&Call> {
        self.calls.iter().find(|call| call.message == message)
    }
}

/// The state of the analysis.
struct Analysis {
    interface: &'static Interface,
    /// States where nothing is unanswered.
    idle: BTreeSet<u16>,
    /// Those that are still to be analysed, each with the message that led there.
    waiting: Vec<(u16, usize)>,
}

impl Analysis {
    fn calls(mut self) -> Result<Calls, Reason> {
        if let Some(&(message, _)) = self.leaving(0, Side::Server).first() {
            return Err(Reason::ServerBegins(message));
        }
        let calls = self.calls_in(0)?;
        if calls.is_empty() {
            return Err(Reason::Nothing);
        }
        let mut lasting = false;
        while let Some((state, after)) = self.waiting.pop() {
            if self.interface.state(state) & Interface::MAY_END == 0 {
                return Err(Reason::MustGoOn(after));
            }
            let found = self.calls_in(state)?;
            if !found.is_empty() {
                lasting = true;
                first_difference(&calls, &found).map_or(Ok(()), |call| Err(Reason::Differs(after, call)))?;
            }
        }
        Ok(Calls { calls, lasting })
    }

    /// The calls that may be made in an idle state; where they lead is looked at later.
    fn calls_in(&mut self, state: u16) -> Result<Vec<Call>, Reason> {
        let mut calls = Vec::new();
        for (message, next) in self.leaving(state, Side::Client) {
            let answers = self.leaving(next, Side::Server);
            if answers.is_empty() {
                self.is_idle(next, message);
            } else if self.interface.state(next) & Interface::MAY_END != 0 {
                return Err(Reason::MayStayUnanswered(message));
            }
            for &(answer, behind) in &answers {
                if !self.leaving(behind, Side::Server).is_empty() {
                    return Err(Reason::AnsweredTwice(message, answer));
                }
                self.is_idle(behind, answer);
            }
            calls.push(Call { message, answers: answers.into_iter().map(|(answer, _)| answer).collect() });
        }
        Ok(calls)
    }

    fn is_idle(&mut self, state: u16, after: usize) {
        if self.idle.insert(state) {
            self.waiting.push((state, after));
        }
    }

    /// The messages that one side may send in a state, and where they lead.
    fn leaving(&self, state: u16, side: Side) -> Vec<(usize, u16)> {
        let messages = self.interface.messages.get().iter().enumerate();
        let from = messages.filter(|(_, message)| message.sender == side);
        from.filter_map(|(number, _)| Some((number, self.interface.next(state, number)?))).collect()
    }
}

/// The message of the first call in which two lists differ.
fn first_difference(here: &[Call], there: &[Call]) -> Option<usize> {
    let only_here = here.iter().find(|call| !there.contains(call));
    only_here.or_else(|| there.iter().find(|call| !here.contains(call))).map(|call| call.message)
}

impl fmt::Display for NoCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = |number: usize| Spelled(&self.interface.messages.get()[number]);
        write!(f, "{} is no interface of requests and replies: ", self.interface.name.get())?;
        match self.reason {
            Reason::Nothing => write!(f, "it has no message that a client begins with"),
            Reason::ServerBegins(first) => write!(f, "{} comes unasked", message(first)),
            Reason::MayStayUnanswered(m) => write!(f, "{} may be answered or not", message(m)),
            Reason::AnsweredTwice(m, n) => {
                write!(f, "{} is answered by {} and more that follows it", message(m), message(n))
            }
            Reason::MustGoOn(m) => write!(f, "{} can't be the last message", message(m)),
            Reason::Differs(after, call) => {
                let (after, call) = (message(after), message(call));
                write!(f, "after {after}, {call} is not what it is at the beginning")
            }
        }
    }
}

impl fmt::Debug for NoCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A message as interfaces declare it, without its parameters.
struct Spelled(&'static Message);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.0.sender == Side::Client { "IN" } else { "OUT" };
        write!(f, "{direction} {}", self.0.name.get())
    }
}
