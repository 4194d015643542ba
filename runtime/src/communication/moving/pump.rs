//! A pump moves the messages of one communication between the near side and the far one, in both directions, and tells
//! each when the other has come to its end.
//!
//! It waits for both at once: as the communication's waiter, and for the platform ([`PLATFORM`]). Whichever comes first
//! ends the wait. If the near side is waiting, the pump need not be its waiter: only the far side can do something
//! then.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use drystone_component::{Interface, Side};

use super::Outcome;
use super::channel::Party;
use super::client::Comes;
use super::stream::Stream;
use crate::far::{Arrival, Far, Traffic, Waker};
use crate::layout::*;
use crate::protocol::{may_end, next, sender};

/// See the head of this file.
#[repr(C)]
pub struct Pump {
    /// First: [`super::at_once`] finds it where the pump is.
    stream: Stream,
    /// The near side has taken part.
    begun: bool,
    waker: Waker,
}

impl Pump {
    /// For the process that the waker wakes.
    pub fn new(mut far: Box<dyn Far>, side: Side, waker: Waker, traffic: &Rc<Traffic>) -> Pump {
        far.attach(waker.clone());
        traffic.begin();
        Pump { stream: Stream::new(far, side, traffic.clone()), begun: false, waker }
    }

    fn lost(&self, why: String) -> Outcome {
        self.stream.traffic.lose(why);
        Outcome::Lost
    }

    /// What follows if the near side has ended; all that it sent is passed on.
    fn near_end(&mut self, party: &Party) -> Option<Outcome> {
        let (word, interface) = (party.word(), party.interface());
        // A server has nothing to do any more when nobody can send. What its client hasn't received stays for it.
        let is_over = self.stream.side == Side::Server && !word.goes_on(interface);
        if !word.is_closed_for(self.stream.side) && !is_over {
            return None;
        }
        if word.flags & GONE != 0 || !(is_over || word.may_close(interface)) {
            return Some(Outcome::Abandoned);
        }
        self.stream.far.close();
        Some(Outcome::Ended)
    }

    /// Whether the near side's end may come here too, because the far side's has.
    fn may_follow_far_end(&self, word: CommunicationWord, interface: &Interface) -> bool {
        match self.stream.side {
            Side::Server => may_end(interface, word.state),
            Side::Client => word.may_close(interface),
        }
    }

    /// Whether the protocol allows that the far side sends this now.
    fn may_come(&self, word: CommunicationWord, interface: &Interface, message: usize) -> bool {
        if message >= interface.messages.length {
            return false;
        }
        let number = message as u32;
        let begins_anew = || {
            self.stream.side == Side::Client
                && may_end(interface, word.state)
                && next(interface, 0, number).is_some()
        };
        sender(interface, number) == self.stream.side
            && (next(interface, word.state, number).is_some() || begins_anew())
    }
}

impl Comes for Pump {
    fn go_on(&mut self, mut party: Party) -> Outcome {
        self.begun = true;
        let interface = party.interface();
        loop {
            let word = party.word();
            if word.holds_for(self.stream.side) {
                if !self.stream.far.has_room() {
                    return party.park();
                }
                if party.channel.waits_for_room() {
                    party.channel.mark_stream();
                }
                self.stream.forward(&mut party.channel);
                party.received();
                continue;
            }
            if let Some(outcome) = self.near_end(&party) {
                return outcome;
            }
            if let Some(why) = self.stream.broken() {
                return self.lost(why);
            }
            let message = match self.stream.far.receive() {
                Arrival::Message(message) => message,
                Arrival::Nothing => return party.park(),
                Arrival::Closed if self.may_follow_far_end(word, interface) => return Outcome::Ended,
                Arrival::Closed => {
                    return self.lost("the far side has ended where the protocol goes on".into());
                }
                Arrival::Lost(why) => return self.lost(why),
            };
            if !self.may_come(word, interface, message) {
                return self.lost(out_of_turn(interface, message));
            }
            if word.tag != 0 {
                party.channel.mark_stream();
                return party.wait_for_room();
            }
            let Stream { far, traffic, .. } = &mut self.stream;
            match party.send(message, traffic, |filling| far.take(filling)) {
                Ok(true) => {}
                Ok(false) => return Outcome::Waits,
                Err(why) => return self.lost(why),
            }
        }
    }

    fn is_gone(&mut self) -> bool {
        matches!(self.stream.far.receive(), Arrival::Closed | Arrival::Lost(_))
    }

    fn near_is_gone(&mut self) -> Outcome {
        if !self.begun {
            return Outcome::Abandoned;
        }
        self.stream.far.close();
        Outcome::Ended
    }

    fn stream(&mut self) -> Option<&mut Stream> {
        Some(&mut self.stream)
    }
}

/// Says what the far side has done.
fn out_of_turn(interface: &Interface, message: usize) -> String {
    let name =
        interface.messages.get().get(message).map_or("an unknown message", |message| message.name.get());
    format!("the far side has sent {name} where the protocol doesn't allow that")
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.waker.forget();
        self.stream.traffic.end();
    }
}
