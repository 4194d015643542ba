//! Sessions: one end of a communication for asynchronous code, which sends and receives as the component language does.
//! The code goes on where it waited when its process is woken; there is no other executor.
//!
//! A process waits at one communication at a time, and beside it for the platform.
//!
//! # Safety: *ends*
//! All of this is used within a process that runs ([`Here::running`]), at home (see [`crate::home`]). A service's
//! communication is live as long as its process, which forgets it here when it ends; a port's slot is there as long as
//! its component, which is alive while one of its processes runs.

use alloc::rc::Rc;
use core::cell::Cell;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::task::Poll;

use drystone_component::{Interface, Required, Side};

use super::here::Here;
use super::interface::Declaration;
use super::{Held, Putting, Taking, Values, Waiter};
use crate::communication::connection::{ds_reach, is_open, resolve};
use crate::communication::moving::NO_LOCATION;
use crate::communication::{ANY, drop_first, ds_receive, ds_received, ds_send, ds_sent, ds_test};
use crate::failure::ds_fail;
use crate::instance::slot_at;
use crate::instance::slots::indexed_slot;
use crate::layout::{
    CLIENT_CLOSED, Communication, CommunicationWord, Fault, GONE, Instance, Process, RequiredSlot, Worker,
};

/// An interface, as generated code declares it: what each side sends.
pub trait Protocol: 'static {
    /// Which it is.
    const DECLARATION: &'static Declaration;
    /// What clients send.
    type In<'a>: Message;
    /// What servers send.
    type Out<'a>: Message;
}

/// A message with its values, as generated code declares it.
pub trait Message: Sized {
    /// Its number in the interface.
    fn number(&self) -> usize;
    /// Puts the values, in order.
    fn put(self, to: &mut Putting<'_>);
    /// The message of a number with the values that have come; `None`: the other side sends it.
    fn take(number: usize, from: Taking<'_>) -> Option<Self>;
}

/// The other side has closed, and everything that it sent is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// One end of a communication, whatever its interface.
pub(super) struct End {
    pub(super) here: Rc<Here>,
    pub(super) place: Place,
    pub(super) interface: &'static Interface,
}

/// Where an end is.
pub(super) enum Place {
    /// A service's own; null when that has ended.
    Service(Rc<Cell<*mut Communication>>),
    /// A required interface's slot.
    Port(Slot),
}

/// One of the slots of a required interface.
pub(super) struct Slot {
    pub(super) instance: *mut Instance,
    pub(super) required: &'static Required,
    /// From 0.
    pub(super) index: usize,
    /// Null before its first use.
    pub(super) found: Cell<*mut RequiredSlot>,
}

impl Slot {
    /// The slot, on behalf of a process that runs. `None`: no memory.
    fn find(&self, w: *mut Worker) -> Option<*mut RequiredSlot> {
        if self.found.get().is_null() {
            // SAFETY: the component is alive, for the process that runs is one of its own.
            self.found.set(unsafe {
                match self.required.slots {
                    0 => slot_at(self.instance, self.required.offset),
                    _ => indexed_slot(w, self.instance, self.required, self.index)?,
                }
            });
        }
        Some(self.found.get())
    }
}

impl End {
    pub(super) fn side(&self) -> Side {
        match self.place {
            Place::Service(_) => Side::Server,
            Place::Port(_) => Side::Client,
        }
    }

    /// The communication, if there is one; null: the process has to wait for it.
    fn communication(&self, w: *mut Worker, p: *mut Process) -> *mut Communication {
        match &self.place {
            Place::Service(own) => {
                let c = own.get();
                assert!(c.cast() == p, "a service's session is for its own process");
                c
            }
            // SAFETY: the slot is that of a component that is alive, and the process runs.
            Place::Port(slot) => unsafe {
                match slot.find(w) {
                    Some(slot) => ds_reach(w, p, slot, self.interface, NO_LOCATION),
                    None => {
                        ds_fail(w, p, Fault::OutOfMemory as u32, NO_LOCATION);
                        null_mut()
                    }
                }
            },
        }
    }

    /// The slot of a port that has a communication.
    #[inline]
    pub(super) fn slot_in_use(&self) -> Option<*mut Communication> {
        let Place::Port(slot) = &self.place else { return None };
        let slot = slot.found.get();
        // SAFETY: the port's component is alive, for one of its processes runs.
        (!slot.is_null()).then(|| unsafe { (*slot).communication })
    }

    /// Whether something serves the port now.
    fn is_connected(&self) -> bool {
        let (w, _) = self.here.running();
        match &self.place {
            Place::Service(_) => true,
            // SAFETY: the port's component is alive, so its slot and the slot's target are linked.
            Place::Port(slot) => slot.find(w).is_some_and(|slot| unsafe {
                !(*slot).communication.is_null() || is_open(resolve((*slot).target))
            }),
        }
    }

    /// Does something that may have to wait: an entry point says so by `None`.
    fn attempt<T>(
        &self,
        act: impl FnOnce(*mut Worker, *mut Process, *mut Communication) -> Option<T>,
    ) -> Poll<T> {
        let (w, p) = self.here.running();
        assert!(!self.here.waits(), "a native process waits at one communication at a time");
        let c = self.communication(w, p);
        let done = if c.is_null() { None } else { act(w, p, c) };
        match done {
            Some(result) => Poll::Ready(result),
            None => {
                self.here.must_wait();
                Poll::Pending
            }
        }
    }

    /// Receives a message, which is read while it is in its buffer.
    pub(super) fn poll_receive<T>(
        &self,
        mut read: impl FnMut(usize, Taking<'_>) -> Option<T>,
    ) -> Poll<Result<T, Closed>> {
        let interface = self.interface;
        // SAFETY: the process runs, and is a side of the communication; the message's words belong to it until the
        // other side is told that it may send.
        self.attempt(|w, p, c| unsafe {
            if self.is_at_end((*c).word) {
                return Some(Err(Closed));
            }
            match ds_test(w, p, c, interface, self.side() as u32, ANY, NO_LOCATION) {
                0 => return Some(Err(Closed)),
                1 => {}
                _ => return None,
            }
            let number = (*c).word.tag as usize - 1;
            let words = ds_receive(w, p, c, interface, number as u32, NO_LOCATION);
            if words.is_null() {
                return None;
            }
            let values = Values::new(words, interface.messages.get()[number].parameters.get());
            let message = read(number, Taking::new(w, values));
            drop_first(w, c, interface);
            ds_received(w, c);
            Some(message.ok_or(Closed))
        })
    }

    /// Whether a server need not look on: neither side can send any more, and everything is received here.
    fn is_at_end(&self, word: CommunicationWord) -> bool {
        self.side() == Side::Server && !word.is_unread() && !word.goes_on(self.interface)
    }

    /// Sends a message: `put` is called when there is room for it.
    pub(super) fn poll_send(
        &self,
        number: usize,
        put: &mut Option<impl FnOnce(&mut Putting<'_>)>,
    ) -> Poll<()> {
        let interface = self.interface;
        // SAFETY: the process runs, and is a side of the communication; there is room for the message's words.
        self.attempt(|w, p, c| unsafe {
            let words = ds_send(w, p, c, interface, number as u32, NO_LOCATION);
            if words.is_null() {
                return None;
            }
            let parameters = interface.messages.get()[number].parameters.get();
            let mut putting = Putting::new(w, words, parameters);
            if let Some(put) = put.take() {
                put(&mut putting);
            }
            assert!(putting.is_whole(), "a message with too few values");
            if putting.is_out_of_memory {
                putting.undo();
                ds_fail(w, p, Fault::OutOfMemory as u32, NO_LOCATION);
                return None;
            }
            ds_sent(w, c, interface, number as u32);
            Some(())
        })
    }
}

/// The server's end of a communication.
pub struct Server<P>(pub(super) End, pub(super) PhantomData<P>);

/// The client's end: a port of the component, through which one communication goes after the other.
pub struct Client<P>(pub(super) End, pub(super) PhantomData<P>);

macro_rules! session {
    ($session:ident, $receives:ident, $sends:ident) => {
        impl<P: Protocol> $session<P> {
            /// The next message.
            ///
            /// # Errors
            /// The other side has closed, and no more comes.
            pub fn receive(&mut self) -> impl Future<Output = Result<P::$receives<'static>, Closed>> {
                poll_fn(|_| self.0.poll_receive(P::$receives::take))
            }

            /// Sends a message. It is dropped if the other side has closed.
            pub fn send<'a>(&mut self, message: P::$sends<'a>) -> impl Future<Output = ()> {
                let number = message.number();
                let mut put = Some(|to: &mut Putting<'_>| message.put(to));
                poll_fn(move |_| self.0.poll_send(number, &mut put))
            }

            /// Asks again whenever the waiter is woken: how a process waits for the platform.
            pub fn until<T>(&self, attempt: impl FnMut(Waiter) -> Poll<T>) -> impl Future<Output = T> {
                self.0.here.until(attempt)
            }

            /// Gives others a turn, if the time slice is over.
            pub fn give_way(&self) -> impl Future<Output = ()> {
                self.0.here.give_way()
            }

            /// Bytes as a text of the program, which may be made longer before it is sent. `None`: no memory.
            pub fn text(&self, bytes: &[u8]) -> Option<Held> {
                let (worker, _) = self.0.here.running();
                // SAFETY: a process runs, at home.
                unsafe { Held::new(worker, bytes) }
            }

            /// Reports what the protocol has no message for, and ends the program with status 1.
            pub fn fail(&self, reason: &str) {
                self.0.here.fail(reason);
            }
        }
    };
}

session!(Server, In, Out);
session!(Client, Out, In);

impl<P: Protocol> Server<P> {
    /// Whether the client has closed, so that nobody receives what is sent.
    pub fn has_left(&self) -> bool {
        let Place::Service(own) = &self.0.place else { return false };
        let c = own.get();
        // SAFETY: a service's communication lasts until its process has ended.
        c.is_null() || unsafe { (*c).word.flags } & (CLIENT_CLOSED | GONE) != 0
    }
}

impl<P: Protocol> Client<P> {
    /// Whether something serves it now. Where nothing does, to send or to receive waits for that.
    pub fn is_connected(&self) -> bool {
        self.0.is_connected()
    }
}
