//! What a client from elsewhere has of its own: a pump, or a visit.
//!
//! # Why this is sound
//! See the `moving` module.
#![allow(unsafe_op_in_unsafe_fn)]

use drystone_component::Interface;

use super::Outcome;
use super::pump::Pump;
use super::visit::Visit;
use crate::layout::*;

/// A client from elsewhere.
pub struct Client {
    /// How.
    pub comes: Comes,
    /// It waits for a connection, as a component of this domain would.
    pub waits: bool,
}

/// How a client comes.
pub enum Comes {
    /// From elsewhere: its messages are moved.
    Far(Pump),
    /// To say and take its messages itself.
    Visiting(Visit),
}

impl Client {
    /// What moves its messages, if it comes from elsewhere.
    pub fn pump(&mut self) -> Option<*mut Pump> {
        match &mut self.comes {
            Comes::Far(pump) => Some(pump),
            Comes::Visiting(_) => None,
        }
    }

    /// Whether it wants nothing any more, and nothing of what it has said is left.
    pub fn is_gone(&mut self) -> bool {
        match &mut self.comes {
            Comes::Far(pump) => pump.is_far_gone(),
            Comes::Visiting(visit) => visit.has_left(),
        }
    }

    /// There is nobody here for it, or no more.
    pub fn near_is_gone(&mut self) -> Outcome {
        match &mut self.comes {
            Comes::Far(pump) => pump.near_is_gone(),
            Comes::Visiting(visit) => visit.near_is_gone(),
        }
    }

    /// Goes on, now that there is a communication. The process has to return after it.
    pub unsafe fn go_on(
        &mut self,
        w: *mut Worker,
        p: *mut Process,
        c: *mut Communication,
        interface: &'static Interface,
    ) -> Outcome {
        match &mut self.comes {
            Comes::Far(pump) => pump.go_on(w, p, c, interface),
            Comes::Visiting(visit) => visit.go_on(),
        }
    }
}
