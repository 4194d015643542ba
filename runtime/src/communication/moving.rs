//! How the messages of a communication get out of the program and into it, where one of its ends is elsewhere: a *pump*
//! moves them (`at_once` within the process that sends or receives), a *visit* has code of the platform say and take them.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod at_once;
pub mod pump;
pub mod visit;

use core::mem::size_of;

use drystone_component::Interface;

use self::pump::Pump;
use self::visit::Visit;
use crate::layout::*;

/// No location in the source.
pub const NO_LOCATION: u32 = u32::MAX;

/// What became of a run.
#[derive(PartialEq)]
pub enum Outcome {
    /// It waits.
    Waits,
    /// One side has ended where the protocol allows it, and the other may.
    Ended,
    /// The far side is lost, or was given up because it broke the protocol.
    Lost,
    /// The near side was ended by force, or has let go where it may not.
    Abandoned,
}

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

/// Where a service process keeps its pump: behind the communication's buffer.
pub fn cell_offset(interface: &Interface) -> usize {
    PAYLOAD + interface.payload_words * size_of::<u64>()
}
