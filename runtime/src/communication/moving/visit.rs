//! What the process of a visitor does, and its seat: a near client's place.
//!
//! # Why this is sound
//! See the `moving` module. A [`Direct`] forgets the slot of its process's component when that is over. It only looks
//! at the communication, unless the process has the turn ([`Visit::go_on`]).
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cell::Cell;
use core::ptr::null_mut;
use core::slice;

use drystone_component::Interface;
use drystone_component::wire::{Sink, Source, hand_over};

use super::pump::{park, sent_by_client};
use super::{NO_LOCATION, Outcome};
use crate::communication::{drop_words, ds_received, ds_send, may_close_as, payload, wait};
use crate::far::*;
use crate::home::waker;
use crate::layout::*;
use crate::values::Values;

/// What the process of a visitor does.
pub struct Visit {
    visitor: Box<dyn Visitor>,
    seat: Rc<Direct>,
    begun: bool,
}

impl Visit {
    /// For the process that will run it, and the slot of its component.
    pub unsafe fn new(
        mut visitor: Box<dyn Visitor>,
        interface: &'static Interface,
        w: *mut Worker,
        p: *mut Process,
        slot: *mut RequiredSlot,
        traffic: &Rc<Traffic>,
    ) -> Visit {
        let (has_turn, waits, has_left) = Default::default();
        let (waker, slot, traffic) = (waker(w, p), Cell::new(slot), traffic.clone());
        traffic.begin();
        let seat = Rc::new(Direct {
            waker,
            worker: w,
            process: p,
            slot,
            interface,
            has_turn,
            waits,
            has_left,
            traffic,
        });
        visitor.sit(seat.clone());
        Visit { visitor, seat, begun: false }
    }

    /// Has it go on, now that there is a communication. The process has to return after it.
    pub unsafe fn go_on(&mut self) -> Outcome {
        self.begun = true;
        let seat = &self.seat;
        seat.waits.set(false);
        if !self.has_left() {
            seat.has_turn.set(true);
            self.visitor.go_on();
            seat.has_turn.set(false);
        }
        if seat.waits.get() {
            return Outcome::Waits;
        }
        if self.has_left() { Outcome::Ended } else { park(seat.communication(), seat.process) }
    }

    /// Whether it wants nothing any more.
    pub fn has_left(&self) -> bool {
        self.seat.has_left.get()
    }

    /// There is nothing to visit, or no more.
    pub fn near_is_gone(&mut self) -> Outcome {
        if !self.begun {
            return Outcome::Abandoned;
        }
        self.visitor.over(Ok(()));
        self.seat.has_left.set(true);
        Outcome::Ended
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.seat.waker.forget();
        self.seat.slot.set(null_mut());
        self.seat.traffic.end();
        if !self.has_left() {
            self.visitor.over(Err(LOST.to_string()));
        }
    }
}

/// A seat at a near client's place.
struct Direct {
    waker: Waker,
    worker: *mut Worker,
    process: *mut Process,
    /// Null when it is over.
    slot: Cell<*mut RequiredSlot>,
    interface: &'static Interface,
    /// The process has it.
    has_turn: Cell<bool>,
    /// The process waits for something, or will have another turn at once.
    waits: Cell<bool>,
    has_left: Cell<bool>,
    traffic: Rc<Traffic>,
}

impl Direct {
    /// Null before it begins, and when it is over.
    fn communication(&self) -> *mut Communication {
        let slot = self.slot.get();
        // SAFETY: see the head of this file.
        if slot.is_null() { null_mut() } else { unsafe { (*slot).communication } }
    }

    /// The communication, if the process has the turn, which it gets otherwise.
    fn turn(&self) -> Option<*mut Communication> {
        if !self.has_turn.get() {
            self.waker.wake();
            return None;
        }
        Some(self.communication()).filter(|c| !c.is_null() && !self.waits.get())
    }

    /// Whether a message can be said now; in its turn, the communication's.
    unsafe fn may_say(&self, c: *mut Communication, message: usize) -> Result<Said, String> {
        let interface = self.interface;
        let word = (*c).word;
        if word.tag != 0 && word.flags & FOR_CLIENT != 0 {
            // What has come is not of interest any more.
            return goes_on(interface, word.seen, message).map(|_| Said::Anew);
        }
        if word.flags & (GONE | SERVICE_ENDED) != 0 {
            if !begins(interface, message) {
                let how = if word.flags & GONE == 0 { Ok(()) } else { Err(LOST.to_string()) };
                return Err(too_late(interface, message, how));
            }
            let server = (*c).process.instance;
            let is_there = !server.is_null() && (*server).live & CLOSED == 0;
            return Ok(if word.flags & GONE == 0 && is_there { Said::Done } else { Said::Anew });
        }
        let goes_on = goes_on(interface, word.state, message)?;
        let sends = Interface::CLIENT_SENDS | Interface::SERVER_SENDS;
        if !goes_on && interface.state(word.state) & sends != 0 {
            return Ok(Said::Anew);
        }
        if word.tag != 0 || !goes_on {
            // Who serves it takes what was said before, or comes to its end.
            wait(c, self.process, ROOM);
            return Ok(Said::Waits);
        }
        Ok(Said::Done)
    }

    /// Puts a message into the communication; `false`: it has to wait. In its turn, where it may be said.
    unsafe fn put(&self, c: *mut Communication, message: usize, values: &dyn Source) -> Result<bool, String> {
        let (w, interface) = (self.worker, self.interface);
        let words = ds_send(w, self.process, c, interface, message as u32, NO_LOCATION);
        if words.is_null() {
            return Ok(false);
        }
        let described = &interface.messages.get()[message];
        let words = slice::from_raw_parts_mut(words, described.parameters.length);
        hand_over(described.types(), values, &mut Filling::new(w, words, described))?;
        count(&self.traffic.received, &Values::new(payload(c), described.parameters.get()));
        sent_by_client(w, c, interface, message);
        Ok(true)
    }
}

impl Seat for Direct {
    fn next(&self) -> Next {
        let c = self.communication();
        if c.is_null() {
            return Next::Unknown;
        }
        // SAFETY: see the head of this file.
        let word = unsafe { (*c).word };
        match word.tag {
            tag if tag != 0 && word.flags & FOR_CLIENT != 0 => Next::Message(tag as usize - 1),
            _ if word.flags & GONE != 0 => Next::Over(Err(LOST.to_string())),
            _ if word.flags & SERVICE_ENDED != 0 => Next::Over(Ok(())),
            _ if self.interface.state(word.state) & Interface::SERVER_SENDS == 0 => Next::Nothing,
            _ => Next::Unknown,
        }
    }

    fn say(&self, message: usize, values: &dyn Source) -> Result<Said, String> {
        let Some(c) = self.turn() else { return Ok(Said::Waits) };
        // SAFETY: see the head of this file.
        let said = unsafe {
            match self.may_say(c, message)? {
                Said::Done if !self.put(c, message, values)? => Said::Waits,
                said => said,
            }
        };
        self.waits.set(said == Said::Waits);
        Ok(said)
    }

    fn take(&self, message: usize, values: &mut dyn Sink) -> Result<bool, String> {
        let Some(c) = self.turn() else { return Ok(false) };
        // SAFETY: see the head of this file.
        let word = unsafe { (*c).word };
        if word.tag as usize != message + 1 || word.flags & FOR_CLIENT == 0 {
            return is_next(self.interface, message, self.next());
        }
        let described = &self.interface.messages.get()[message];
        // SAFETY: see the head of this file; the message has come.
        unsafe {
            let come = Outgoing::new(self.worker, payload(c), described);
            hand_over(described.types(), &come, values)?;
            count(&self.traffic.sent, &come);
            drop_words(self.worker, payload(c), self.interface, message as u32);
            ds_received(self.worker, c);
        }
        Ok(true)
    }

    fn may_leave(&self) -> bool {
        let c = self.communication();
        // SAFETY: see the head of this file.
        c.is_null() || unsafe { may_close_as(c, self.interface) }
    }

    fn leave(&self) {
        self.has_left.set(true);
        self.waker.wake();
    }
}
