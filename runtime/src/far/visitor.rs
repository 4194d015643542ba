//! A visitor: a client of what is exported that sends and receives for itself, in code of the platform. It has the
//! place of a near client: a message goes straight from the visitor into the communication's buffer, and back, without
//! a pump, a letter, or a switch to any process but the server's.
//!
//! Where a factory of a BY stands before what is exported, a visitor comes in as other far clients do: see `queued`.
//! Its [`Seat`] does the same there.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};

use drystone_component::wire::{Sink, Source};
use drystone_component::{Interface, Side};

use crate::protocol::{may_end, next, sender};

/// See the head of this file.
pub trait Visitor: 'static {
    /// Hears where it says and takes its messages: once, first.
    fn sit(&mut self, seat: Rc<dyn Seat>);

    /// It has the turn: something may have changed.
    fn go_on(&mut self);

    /// The server has ended before the visitor has left; an error: why that is lost. The seat is of no more use.
    fn over(&mut self, how: Result<(), String>);

    /// At which slot it begins, as `Far::slot`.
    fn slot(&self) -> usize {
        1
    }
}

/// Where a visitor says and takes its messages. What can't be done now can be tried when the visitor has the turn next.
pub trait Seat {
    /// What comes next.
    fn next(&self) -> Next;

    /// Says a message.
    ///
    /// # Errors
    /// It can't be said, for this reason.
    fn say(&self, message: usize, values: &dyn Source) -> Result<Said, String>;

    /// Takes a message; `false`: it hasn't come yet.
    ///
    /// # Errors
    /// It won't come, for this reason, or can't be taken.
    fn take(&self, message: usize, values: &mut dyn Sink) -> Result<bool, String>;

    /// Whether the protocol allows that it leaves now.
    fn may_leave(&self) -> bool;

    /// It leaves for good. Where the protocol doesn't allow that, the server learns that its client is gone.
    fn leave(&self);
}

/// What is known of the next message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing yet.
    Unknown,
    /// It is this one.
    Message(usize),
    /// None comes before something is said.
    Nothing,
    /// None comes any more; an error: the server is lost.
    Over(Result<(), String>),
}

/// What became of a message that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is on its way.
    Done,
    /// There is no room for it yet.
    Waits,
    /// Only another communication can begin with it; this one may be left.
    Anew,
}

/// Why a server is lost.
pub(crate) const LOST: &str = "the server has ended it, or the protocol was violated";

fn name(interface: &Interface, message: usize) -> &str {
    interface.messages.get()[message].name.get()
}

/// Whether a message can be said in a state; `false`: another communication begins with it.
pub(crate) fn goes_on(interface: &Interface, state: u16, message: usize) -> Result<bool, String> {
    let is_own = sender(interface, message as u32) == Side::Client;
    if is_own && next(interface, state, message as u32).is_some() {
        return Ok(true);
    }
    match begins(interface, message) && may_end(interface, state) {
        true => Ok(false),
        false => Err(format!("{} is sent where the protocol doesn't allow that", name(interface, message))),
    }
}

/// Whether a communication may begin with a message.
pub(crate) fn begins(interface: &Interface, message: usize) -> bool {
    next(interface, 0, message as u32).is_some()
}

/// Why a message can't be said any more.
pub(crate) fn too_late(interface: &Interface, message: usize, how: Result<(), String>) -> String {
    let has_ended = || format!("{} is sent where the server has ended", name(interface, message));
    how.err().unwrap_or_else(has_ended)
}

/// Whether the next message is this one; an error: it won't be.
pub(crate) fn is_next(interface: &Interface, message: usize, next: Next) -> Result<bool, String> {
    let but = match next {
        Next::Unknown => return Ok(false),
        Next::Message(next) if next == message => return Ok(true),
        Next::Message(other) => format!("{} has come", name(interface, other)),
        Next::Nothing => "nothing can come".to_string(),
        Next::Over(Ok(())) => "the server has ended".to_string(),
        Next::Over(Err(why)) => return Err(why),
    };
    Err(format!("{} is received where {but}", name(interface, message)))
}
