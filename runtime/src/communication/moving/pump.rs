//! A pump: it moves the messages of one communication between the near side and the far one, in both directions, and
//! tells each when the other has come to its end.
//!
//! It waits for both at once: as the communication's waiter, and for the platform ([`PLATFORM`]). Whichever comes first
//! ends the wait. It is not the waiter while the near side waits itself, which then does nothing that it would have to
//! be told of.
//!
//! # Why this is sound
//! See the `moving` module. The communication lives while the pump runs: it is the service's own block, or was looked
//! up just before.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::slice;

use drystone_component::{Interface, Role, Side};

use super::{NO_LOCATION, Outcome};
use crate::communication::{drop_words, ds_received, ds_send, ds_sent, may_close_as, payload, wait};
use crate::far::{Arrival, Far, Filling, Outgoing, Traffic, Waker, count};
use crate::home::waker;
use crate::instance::natives::wake_parked;
use crate::instance::template_of;
use crate::layout::*;
use crate::protocol::{may_end, next, sender};
use crate::values::Values;

/// See the head of this file.
pub struct Pump {
    far: Box<dyn Far>,
    /// What it is to the near side: that one's server, or its client.
    side: Side,
    /// The near side has taken part.
    begun: bool,
    waker: Waker,
    traffic: Rc<Traffic>,
    /// What has come can't be understood: its process will say so.
    broken: Option<String>,
}

impl Pump {
    /// For the process that will run it.
    pub unsafe fn new(
        mut far: Box<dyn Far>,
        side: Side,
        w: *mut Worker,
        p: *mut Process,
        traffic: &Rc<Traffic>,
    ) -> Pump {
        let waker = waker(w, p);
        far.attach(waker.clone());
        traffic.begin();
        Pump { far, side, begun: false, waker, traffic: traffic.clone(), broken: None }
    }

    /// Moves what can be moved. The process has to return after it.
    pub unsafe fn go_on(
        &mut self,
        w: *mut Worker,
        p: *mut Process,
        c: *mut Communication,
        interface: &'static Interface,
    ) -> Outcome {
        self.begun = true;
        loop {
            let word = (*c).word;
            if word.tag != 0 && self.is_for_us(word) {
                if !self.far.has_room() {
                    return park(c, p);
                }
                if !(*c).waiter.is_null() && (*(*c).waiter).status == ROOM {
                    (*c).word.flags |= STREAMS;
                }
                self.forward(w, c, interface, word.tag as usize - 1);
                continue;
            }
            if let Some(outcome) = self.near_end(word, c, interface) {
                return outcome;
            }
            if let Some(why) = self.broken.take() {
                return self.lost(why);
            }
            let message = match self.far.receive() {
                Arrival::Message(message) => message,
                Arrival::Nothing => return park(c, p),
                Arrival::Closed if self.may_follow_far_end(c, interface) => return Outcome::Ended,
                Arrival::Closed => {
                    return self.lost("the far side has ended where the protocol goes on".into());
                }
                Arrival::Lost(why) => return self.lost(why),
            };
            if !self.may_come(word, interface, message) {
                return self.lost(out_of_turn(interface, message));
            }
            if word.tag != 0 {
                (*c).word.flags |= STREAMS;
                wait(c, p, ROOM);
                return Outcome::Waits;
            }
            if let Some(outcome) = self.deliver(w, p, c, interface, message) {
                return outcome;
            }
        }
    }

    /// Passes the message in the buffer on within the process that has sent it; `false`: that is left to its own
    /// process, as is the end of the communication.
    pub unsafe fn push(
        &mut self,
        w: *mut Worker,
        c: *mut Communication,
        interface: &'static Interface,
    ) -> bool {
        let word = (*c).word;
        let sends = Interface::CLIENT_SENDS | Interface::SERVER_SENDS;
        let is_plain = word.flags & !(STREAMS | FOR_CLIENT) == 0 && interface.state(word.state) & sends != 0;
        if !is_plain || !self.is_for_us(word) || !self.far.has_room() {
            return false;
        }
        self.forward(w, c, interface, word.tag as usize - 1);
        true
    }

    /// Puts the next message into the empty buffer within the process that has taken the one before; `false`: there is
    /// none, or it isn't plain, which is left to its own process.
    pub unsafe fn refill(
        &mut self,
        w: *mut Worker,
        c: *mut Communication,
        interface: &'static Interface,
    ) -> bool {
        let word = (*c).word;
        if word.flags != STREAMS {
            return false;
        }
        let Arrival::Message(message) = self.far.receive() else { return false };
        if message >= interface.messages.length || sender(interface, message as u32) != self.side {
            return false;
        }
        let Some(state) = next(interface, word.state, message as u32) else { return false };
        if let Err(why) = self.take(w, c, interface, message) {
            self.broken = Some(why);
            return false;
        }
        (*w).messages += 1;
        let for_whom = if self.side == Side::Server { FOR_CLIENT } else { 0 };
        let (tag, flags) = (message as u16 + 1, STREAMS | for_whom);
        (*c).word = CommunicationWord { state, seen: word.state, tag, flags };
        true
    }

    /// Takes a message's values from the far side into the buffer.
    unsafe fn take(
        &mut self,
        w: *mut Worker,
        c: *mut Communication,
        interface: &'static Interface,
        message: usize,
    ) -> Result<(), String> {
        let described = &interface.messages.get()[message];
        let words = slice::from_raw_parts_mut(payload(c), described.parameters.length);
        let mut filling = Filling::new(w, words, described);
        self.far.take(&mut filling)?;
        if !filling.is_whole() {
            return Err("a message lacks values".into());
        }
        drop(filling);
        count(&self.traffic.received, &Values::new(payload(c), described.parameters.get()));
        Ok(())
    }

    fn lost(&self, why: String) -> Outcome {
        self.traffic.lose(why);
        Outcome::Lost
    }

    /// Whether there is no far side any more, and nothing of what it has said is left.
    pub fn is_far_gone(&mut self) -> bool {
        matches!(self.far.receive(), Arrival::Closed | Arrival::Lost(_))
    }

    /// There is no near side, or no more.
    pub fn near_is_gone(&mut self) -> Outcome {
        if !self.begun {
            return Outcome::Abandoned;
        }
        self.far.close();
        Outcome::Ended
    }

    /// Whether the buffered message is one that the near side has sent.
    fn is_for_us(&self, word: CommunicationWord) -> bool {
        (word.flags & FOR_CLIENT != 0) == (self.side == Side::Client)
    }

    /// Passes on what the near side has sent.
    unsafe fn forward(
        &mut self,
        w: *mut Worker,
        c: *mut Communication,
        interface: &'static Interface,
        number: usize,
    ) {
        let words = payload(c);
        let values = Outgoing::new(w, words, &interface.messages.get()[number]);
        count(&self.traffic.sent, &values);
        self.far.send(number, values);
        drop_words(w, words, interface, number as u32);
        ds_received(w, c);
    }

    /// What follows if the near side has ended; all that it sent is passed on.
    unsafe fn near_end(
        &mut self,
        word: CommunicationWord,
        c: *mut Communication,
        interface: &Interface,
    ) -> Option<Outcome> {
        let ended = match self.side {
            Side::Server => CLIENT_CLOSED | GONE,
            Side::Client => SERVICE_ENDED | GONE,
        };
        let sends = Interface::CLIENT_SENDS | Interface::SERVER_SENDS;
        // A server has nothing to do any more when nobody can send.
        let is_over = self.side == Side::Server && word.tag == 0 && interface.state(word.state) & sends == 0;
        if word.flags & ended == 0 && !is_over {
            return None;
        }
        if word.flags & GONE != 0 || !(is_over || may_close_as(c, interface)) {
            return Some(Outcome::Abandoned);
        }
        self.far.close();
        Some(Outcome::Ended)
    }

    /// Whether the near side's end may come here too, because the far side's has.
    unsafe fn may_follow_far_end(&self, c: *mut Communication, interface: &Interface) -> bool {
        match self.side {
            Side::Server => may_end(interface, (*c).word.state),
            Side::Client => may_close_as(c, interface),
        }
    }

    /// Whether the protocol allows that the far side sends this now.
    fn may_come(&self, word: CommunicationWord, interface: &Interface, message: usize) -> bool {
        if message >= interface.messages.length {
            return false;
        }
        let number = message as u32;
        let begins_anew = || {
            self.side == Side::Client
                && may_end(interface, word.state)
                && next(interface, 0, number).is_some()
        };
        sender(interface, number) == self.side
            && (next(interface, word.state, number).is_some() || begins_anew())
    }

    /// Sends on what has come from the far side; `None`: done.
    unsafe fn deliver(
        &mut self,
        w: *mut Worker,
        p: *mut Process,
        c: *mut Communication,
        interface: &'static Interface,
        message: usize,
    ) -> Option<Outcome> {
        let words = ds_send(w, p, c, interface, message as u32, NO_LOCATION);
        if words.is_null() {
            return Some(Outcome::Waits);
        }
        if let Err(why) = self.take(w, c, interface, message) {
            return Some(self.lost(why));
        }
        match self.side {
            Side::Client => sent_by_client(w, c, interface, message),
            Side::Server => ds_sent(w, c, interface, message as u32),
        }
        None
    }
}

/// Says what the far side has done.
fn out_of_turn(interface: &Interface, message: usize) -> String {
    let name =
        interface.messages.get().get(message).map_or("an unknown message", |message| message.name.get());
    format!("the far side has sent {name} where the protocol doesn't allow that")
}

/// Waits for both sides. Between two pumps it is the client that waits as the communication's waiter: it wakes the
/// other itself.
pub unsafe fn park(c: *mut Communication, p: *mut Process) -> Outcome {
    let waiter = (*c).waiter;
    if waiter.is_null() || (waiter == c.cast() && (*waiter).status == PLATFORM) {
        (*c).waiter = p;
    }
    (*p).status = PLATFORM;
    Outcome::Waits
}

/// What a client has put into the buffer, who parks or is about to, is sent.
pub unsafe fn sent_by_client(
    w: *mut Worker,
    c: *mut Communication,
    interface: &'static Interface,
    message: usize,
) {
    ds_sent(w, c, interface, message as u32);
    if is_pump(c.cast()) {
        wake_parked(w, c.cast());
    }
}

/// Whether a service is a proxy's.
unsafe fn is_pump(p: *mut Process) -> bool {
    let instance = (*p).instance;
    !instance.is_null() && matches!((*template_of(instance)).role, Role::Proxy | Role::Remote)
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.waker.forget();
        self.traffic.end();
    }
}
