//! Communications whose other end is elsewhere: on another processor, in another process, on another machine. What
//! crosses is no business of this module: it keeps the *near* half of each such communication going, and talks to the
//! *far* one through the traits below, which a binding factory implements (paper 002, section 3.1).
//!
//! A near client's slot is connected to a *proxy*: a component without variables that offers the interface, and whose
//! service processes are *pumps*. A far client is a component that requires the interface: its main process is a pump,
//! too. A *listener* is connected to what is exported and makes such components as far clients come. So local
//! communications, and the code that uses them, know nothing of all this and pay nothing for it.
//!
//! What comes from the far side is not trusted: each message is looked up in the protocol before the near side sees it.
//! A far side that is lost, or breaks the protocol, ends the communication and nothing else.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.
#![allow(unsafe_op_in_unsafe_fn)]

mod cell;
mod clients;
mod domain;
mod door;
mod listener;
mod proxy;
mod pump;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use core::cell::Cell;
use core::ops::Deref;

use drystone_component::{Parameter, Type};

pub use domain::{Domain, State, proxy_of};
pub use door::{Door, Entrance, door};
pub use listener::listen;
pub use proxy::proxy;

use crate::communication::connection::wake_parked;
use crate::layout::{Process, Worker};
use crate::native::{Parcel, Value, Values, drop_word, fits, word_of};

/// A binding's half of one communication. It is dropped when the communication is over; where that comes before
/// [`Far::close`], the communication has been ended by force.
pub trait Far: 'static {
    /// What to wake when something has changed: told once, first.
    fn attach(&mut self, pump: Waker);

    /// Whether [`Far::send`] takes one more message now. If not, the pump is woken when it does.
    fn has_room(&mut self) -> bool;

    /// The near side has sent this message: its number in the interface.
    fn send(&mut self, message: usize, values: Outgoing<'_>);

    /// What the far side has done next; the same again until [`Far::take`] takes a message.
    fn receive(&mut self) -> Arrival;

    /// Gives the values of the message that [`Far::receive`] has told.
    ///
    /// # Errors
    /// Why they can't be understood: the communication is lost.
    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String>;

    /// At which slot of a required interface with a cardinality it begins, from 1: only for a component's own clients
    /// ([`Domain::required`]).
    fn slot(&self) -> usize {
        1
    }

    /// The near side has come to an end where the protocol allows it.
    fn close(&mut self);
}

/// Wakes a pump or a listener, if that waits. It belongs to the home's thread, and does nothing when its process has ended.
#[derive(Clone)]
pub struct Waker(Rc<Cell<Option<(*mut Worker, *mut Process)>>>);

impl Waker {
    /// On the home's thread, with its worker.
    fn new(worker: *mut Worker, process: *mut Process) -> Waker {
        Waker(Rc::new(Cell::new(Some((worker, process)))))
    }

    /// It has something to look at.
    pub fn wake(&self) {
        if let Some((worker, process)) = self.0.get() {
            // SAFETY: whose it is forgets it before its process ends; it can't leave the home's thread.
            unsafe { wake_parked(worker, process) }
        }
    }

    fn is_for(&self, process: *mut Process) -> bool {
        self.0.get().is_some_and(|(_, p)| p == process)
    }

    fn forget(&self) {
        self.0.set(None);
    }
}

/// What comes from the far side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing yet: the pump will be woken.
    Nothing,
    /// A message: its number in the interface.
    Message(usize),
    /// The far side has ended in good order, after it received all that was sent.
    Closed,
    /// The far side is not there any more, or never was: why, as a sentence for people that begins with the name.
    Lost(String),
}

/// What reaches a name for a near client: what a binding factory makes of a name.
pub trait Reach: 'static {
    /// A new communication begins. Whether the far side is there at all may turn out later.
    fn begin(&mut self) -> Box<dyn Far>;
}

/// An exported name, which brings far clients. It is withdrawn when this is dropped.
pub trait Exported: 'static {
    /// What to wake when a client has come: told once, first.
    fn attach(&mut self, listener: Waker);

    /// The next client that has come.
    fn accept(&mut self) -> Option<Box<dyn Far>>;
}

/// A message's values, on their way elsewhere.
pub struct Outgoing<'a> {
    worker: *mut Worker,
    values: Values<'a>,
}

impl Outgoing<'_> {
    /// The component that a parameter is, for whoever asks first; `None` where its container was empty. One that nobody
    /// takes is deleted.
    pub fn component(&self, index: usize) -> Option<Parcel> {
        // SAFETY: on the home worker's thread, see the head of this file.
        unsafe { self.values.parcel(index, self.worker) }
    }
}

impl<'a> Deref for Outgoing<'a> {
    type Target = Values<'a>;

    fn deref(&self) -> &Values<'a> {
        &self.values
    }
}

/// A message's values, as they come in from elsewhere.
pub struct Filling<'a> {
    worker: *mut Worker,
    words: &'a mut [u64],
    parameters: &'static [Parameter],
    filled: usize,
}

impl Filling<'_> {
    /// What they are to be.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    /// The next value.
    ///
    /// # Errors
    /// There is no memory for it; or it isn't one of the next parameter's type.
    pub fn put(&mut self, value: Value<'_>) -> Result<(), String> {
        let parameter = self.parameters.get(self.filled).ok_or("more values than parameters")?;
        if !fits(parameter.ty, &value) {
            return Err("a value of another type than the parameter".into());
        }
        // SAFETY: on the home worker's thread, see the head of this file.
        self.words[self.filled] = unsafe { word_of(self.worker, value) }.ok_or("out of memory")?;
        self.filled += 1;
        Ok(())
    }

    /// The same for a component whose container was empty.
    ///
    /// # Errors
    /// As for [`Filling::put`].
    pub fn put_empty(&mut self) -> Result<(), String> {
        match self.parameters.get(self.filled) {
            Some(parameter) if parameter.ty == Type::Component => {
                self.words[self.filled] = 0;
                self.filled += 1;
                Ok(())
            }
            _ => Err("a component in the place of another value".into()),
        }
    }

    fn is_whole(&self) -> bool {
        self.filled == self.parameters.len()
    }
}

impl Drop for Filling<'_> {
    /// What was put into a message that didn't become whole is dropped.
    fn drop(&mut self) {
        if !self.is_whole() {
            for (&word, parameter) in self.words.iter().zip(self.parameters).take(self.filled) {
                // SAFETY: the word owns what it was made of.
                unsafe { drop_word(self.worker, word, parameter.ty) }
            }
        }
    }
}
