//! Interfaces of requests and replies: a call is a method, and the client's message runs it at once, without a switch
//! to another process.
//!
//! A service process is made for each client nevertheless. While nothing is unanswered it is parked, and the
//! communication is marked with [`CALLS`]: a client that sends over it calls the service's body then and there
//! ([`CALLED`]). A method that can't answer before the platform has done something leaves the request where it is: from
//! then on the process waits for the platform, and calls the method again, with the same request, when it is woken.
//!
//! # Safety
//! A method runs within the client's process, or within the service's own; in both cases nothing else runs at home
//! until it has returned, for nothing that it can call lets other processes run. A [`Caller`] is used at home only (see
//! [`crate::home`]), while a process runs there.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;
use core::task::Poll;

use super::component::Component;
use super::here;
use super::interface::Declaration;
use super::kind::Kind;
use super::turn::{Outcome, Serve, Serving, Turn};
use super::{Held, Part, Putting, Taking, Text, Values, Waiter, platform, unpark};
use crate::communication::moving::NO_LOCATION;
use crate::communication::{ds_room, ds_sent, payload, wake};
use crate::failure::ds_fail;
use crate::layout::*;
use crate::platform::Bell;
use crate::protocol::next;

/// What answers the calls of one client: generated code implements it for an interface's trait.
pub trait Answers: 'static {
    /// Which interface it is.
    const DECLARATION: &'static Declaration;

    /// A request has come. It is answered by `reply` at once, or else nothing is done with that.
    fn answer(&mut self, caller: &Caller, number: usize, request: Request<'_>, reply: Reply<'_>) -> Poll<()>;

    /// The object itself, for clients that are written in Rust: a `Box` of the interface's trait.
    fn object(&mut self) -> &mut dyn Any;
}

/// What a method can do besides computing.
pub struct Caller {
    pub(super) worker: *mut Worker,
    pub(super) process: *mut Process,
}

impl Caller {
    /// To be woken when the call may be answered: the method is called again then.
    pub fn waiter(&self) -> Waiter {
        Waiter { process: self.process }
    }

    /// A bell, by which another thread tells that a call may be answered: where a method has to wait for a library that
    /// blocks. `None`: this platform has no threads.
    pub fn bell(&self) -> Option<Rc<dyn Bell>> {
        // SAFETY: at home; the platform is used for this call only.
        unsafe { (*platform(self.worker)).bell() }
    }

    /// Wakes another service, if it waits.
    pub fn wake(&self, waiter: Waiter) {
        // SAFETY: at home; a waiter is forgotten when its service is dropped.
        unsafe { unpark(self.worker, waiter.process) }
    }

    /// Bytes as a text of the program: an answer takes it over without another copy. Where there is no memory for it,
    /// that is found when the answer is sent.
    pub fn text(&self, bytes: &[u8]) -> Text<'static> {
        // SAFETY: a process runs, at home.
        unsafe { Held::new(self.worker, bytes) }.map_or_else(|| Text::Own(bytes.into()), Text::Held)
    }

    /// A new component, to be sent.
    pub fn part(&self, kind: &'static Kind, component: impl Component) -> Part {
        Part::new(kind, component)
    }

    /// Something happened that the protocol has no message for: reports it and ends the program with status 1. No
    /// answer will be received.
    pub fn fail(&self, reason: &str) {
        // SAFETY: a process runs, at home.
        unsafe { here::fail(self.worker, self.process, reason) };
    }
}

/// The values of a request: they stay where they are until it is answered.
pub type Request<'a> = Taking<'a>;

/// Answers a request.
pub struct Reply<'a> {
    turn: &'a Turn,
}

impl Reply<'_> {
    /// Answers by a message.
    pub fn send(self, number: usize, put: impl FnOnce(&mut Putting<'_>)) {
        let Turn { worker, process, binding, .. } = *self.turn;
        let c = process.cast::<Communication>();
        // SAFETY: the communication is that of the turn's process; its request is taken, so there is room for the
        // answer's words.
        unsafe {
            let is_called = (*c).word.flags == CALLS;
            let words = if is_called {
                self.turn.drop_request();
                payload(c)
            } else {
                self.turn.take_request();
                ds_room(worker, process, c, binding.interface, number as u32, NO_LOCATION)
            };
            if words.is_null() {
                return;
            }
            let mut putting = Putting::new(worker, words, binding.parameters(number));
            put(&mut putting);
            assert!(putting.is_whole(), "a message with too few values");
            if putting.is_out_of_memory {
                putting.undo();
                return ds_fail(worker, process, Fault::OutOfMemory as u32, NO_LOCATION);
            }
            match next(binding.interface, (*c).word.state, number as u32) {
                Some(state) if is_called => answered(worker, c, state, number),
                _ => ds_sent(worker, c, binding.interface, number as u32),
            }
        }
    }

    /// The request has no answer.
    pub fn none(self) {
        self.turn.take_request();
    }
}

/// The answer is in the buffer of a client that goes on: what [`ds_sent`] does, where nothing is unusual.
///
/// # Safety
/// At home; `c` is live, its flags are [`CALLS`] alone, and the buffer holds this message, which leads to this state.
#[inline]
unsafe fn answered(w: *mut Worker, c: *mut Communication, state: u16, number: usize) {
    // SAFETY: the communication is live.
    unsafe {
        (*w).messages += 1;
        let seen = (*c).word.state;
        (*c).word = CommunicationWord { state, seen, tag: number as u16 + 1, flags: CALLS | FOR_CLIENT };
        wake(w, c);
    }
}

impl Serving {
    /// Answers the calls of an interface of requests and replies.
    pub fn calls<A: Answers>(answers: A) -> Serving {
        Serving { serve: Box::new(Calls { answers, waits: false }), declaration: A::DECLARATION }
    }
}

struct Calls<A> {
    answers: A,
    /// The request in the buffer waits for the platform.
    waits: bool,
}

impl<A: Answers> Calls<A> {
    /// Answers the request in the buffer, if that can be done now.
    fn answer(&mut self, turn: &Turn) -> Poll<()> {
        let request = usize::from(turn.word().tag) - 1;
        let caller = Caller { worker: turn.worker, process: turn.process };
        let parameters = turn.binding.parameters(request);
        // SAFETY: the buffer holds this message, and its words stay until that is taken, which needs the reply.
        let taking =
            unsafe { Taking::new(turn.worker, Values::new(payload(turn.communication()), parameters)) };
        self.answers.answer(&caller, request, taking, Reply { turn })
    }
}

impl<A: Answers> Serve for Calls<A> {
    fn run(&mut self, turn: &Turn) -> Outcome {
        turn.mark(false);
        if core::mem::take(&mut self.waits) {
            turn.forget();
            // What it waits for is for a client that has gone.
            if turn.client_closed() {
                turn.take_request();
            }
        }
        loop {
            if turn.is_over() {
                return Outcome::Ended;
            }
            if !turn.has_request() {
                turn.mark(true);
                return turn.park();
            }
            if self.answer(turn).is_pending() {
                self.waits = true;
                return turn.park();
            }
        }
    }

    fn called(&mut self, turn: &Turn) -> Outcome {
        if self.answer(turn).is_pending() {
            turn.mark(false);
            self.waits = true;
            return Outcome::Waits;
        }
        if turn.is_over() { Outcome::Ended } else { Outcome::Waits }
    }

    fn object(&mut self) -> Option<&mut dyn Any> {
        Some(self.answers.object())
    }
}
