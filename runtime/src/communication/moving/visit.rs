//! What the process of a visitor does, and its seat: a near client's place.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cell::Cell;
use core::ptr::null_mut;

use drystone_component::wire::{Sink, Source, hand_over};
use drystone_component::{Interface, Side};

use super::Outcome;
use super::channel::{Channel, Party};
use super::client::Comes;
use crate::far::*;
use crate::layout::*;

/// What the process of a visitor does.
pub struct Visit {
    visitor: Box<dyn Visitor>,
    seat: Rc<Direct>,
    begun: bool,
}

impl Visit {
    /// For the process that the waker wakes, and the slot of its component.
    ///
    /// # Safety
    /// At home; the slot is of this interface, and the process's component's; this is dropped before they go.
    pub unsafe fn new(
        mut visitor: Box<dyn Visitor>,
        interface: &'static Interface,
        (worker, process, slot): (*mut Worker, *mut Process, *mut RequiredSlot),
        waker: Waker,
        traffic: &Rc<Traffic>,
    ) -> Visit {
        let (has_turn, waits, has_left) = Default::default();
        traffic.begin();
        let (slot, traffic) = (Cell::new(slot), traffic.clone());
        let seat =
            Rc::new(Direct { waker, worker, process, slot, interface, has_turn, waits, has_left, traffic });
        visitor.sit(seat.clone());
        Visit { visitor, seat, begun: false }
    }
}

impl Comes for Visit {
    fn go_on(&mut self, mut party: Party) -> Outcome {
        self.begun = true;
        let seat = &self.seat;
        seat.waits.set(false);
        if !seat.has_left.get() {
            seat.has_turn.set(true);
            self.visitor.go_on();
            seat.has_turn.set(false);
        }
        match (seat.waits.get(), seat.has_left.get()) {
            (true, _) => Outcome::Waits,
            (_, true) => Outcome::Ended,
            _ => party.park(),
        }
    }

    fn is_gone(&mut self) -> bool {
        self.seat.has_left.get()
    }

    fn near_is_gone(&mut self) -> Outcome {
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
        if !self.seat.has_left.get() {
            self.visitor.over(Err(LOST.to_string()));
        }
    }
}

/// A seat at a near client's place.
struct Direct {
    waker: Waker,
    worker: *mut Worker,
    process: *mut Process,
    /// Null when it is over: until then process and slot are there.
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
        // SAFETY: the slot is there while this knows it.
        if slot.is_null() { null_mut() } else { unsafe { (*slot).communication } }
    }

    /// How the communication stands; `None`: there is none.
    fn word(&self) -> Option<CommunicationWord> {
        let c = self.communication();
        // SAFETY: a slot's communication is live.
        (!c.is_null()).then(|| unsafe { (*c).word })
    }

    /// The communication, if the process has the turn, which it gets otherwise.
    fn turn(&self) -> Option<Party> {
        if !self.has_turn.get() {
            self.waker.wake();
            return None;
        }
        let c = Some(self.communication()).filter(|c| !c.is_null() && !self.waits.get())?;
        // SAFETY: the process runs, and is the client that this communication has.
        Some(unsafe { Party::new(Channel::new(self.worker, c, self.interface), self.process, Side::Client) })
    }

    /// Whether a message can be said now.
    fn may_say(&self, party: &mut Party, message: usize) -> Result<Said, String> {
        let (word, interface) = (party.word(), self.interface);
        if word.holds_for(Side::Client) {
            // What has come is not of interest any more.
            return goes_on(interface, word.seen, message).map(|_| Said::Anew);
        }
        if word.is_closed_for(Side::Client) {
            if !begins(interface, message) {
                let how = if word.flags & GONE == 0 { Ok(()) } else { Err(LOST.to_string()) };
                return Err(too_late(interface, message, how));
            }
            let is_there = word.flags & GONE == 0 && party.server_is_open();
            return Ok(if is_there { Said::Done } else { Said::Anew });
        }
        let goes_on = goes_on(interface, word.state, message)?;
        if !goes_on && word.goes_on(interface) {
            return Ok(Said::Anew);
        }
        if word.tag != 0 || !goes_on {
            // The server takes what was said before, or comes to its end.
            party.wait_for_room();
            return Ok(Said::Waits);
        }
        Ok(Said::Done)
    }
}

impl Seat for Direct {
    fn next(&self) -> Next {
        let Some(word) = self.word() else { return Next::Unknown };
        match word.flags {
            _ if word.holds_for(Side::Client) => Next::Message(usize::from(word.tag) - 1),
            flags if flags & GONE != 0 => Next::Over(Err(LOST.to_string())),
            flags if flags & SERVICE_ENDED != 0 => Next::Over(Ok(())),
            _ if self.interface.state(word.state) & Interface::SERVER_SENDS == 0 => Next::Nothing,
            _ => Next::Unknown,
        }
    }

    fn say(&self, message: usize, values: &dyn Source) -> Result<Said, String> {
        let Some(mut party) = self.turn() else { return Ok(Said::Waits) };
        let types = self.interface.messages.get()[message].types();
        let said = match self.may_say(&mut party, message)? {
            Said::Done if !party.send(message, &self.traffic, |to| hand_over(types, values, to))? => {
                Said::Waits
            }
            said => said,
        };
        self.waits.set(said == Said::Waits);
        Ok(said)
    }

    fn take(&self, message: usize, values: &mut dyn Sink) -> Result<bool, String> {
        let Some(mut party) = self.turn() else { return Ok(false) };
        let word = party.word();
        if usize::from(word.tag) != message + 1 || !word.is_for(Side::Client) {
            return is_next(self.interface, message, self.next());
        }
        let (_, come) = party.channel.outgoing();
        hand_over(self.interface.messages.get()[message].types(), &come, values)?;
        count(&self.traffic.sent, &come);
        party.received();
        Ok(true)
    }

    fn may_leave(&self) -> bool {
        self.word().is_none_or(|word| word.may_close(self.interface))
    }

    fn leave(&self) {
        self.has_left.set(true);
        self.waker.wake();
    }
}
