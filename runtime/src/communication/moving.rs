//! How the messages of a communication get out of the program and into it, where one of its ends is elsewhere: a *pump*
//! moves them (`at_once` within the process that sends or receives), a *visit* has code of the platform say and take
//! them.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod at_once;
pub mod client;
pub mod pump;
pub mod visit;

use core::mem::size_of;

use drystone_component::Interface;

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

/// Where a service process keeps its pump: behind the communication's buffer.
pub fn cell_offset(interface: &Interface) -> usize {
    PAYLOAD + interface.payload_words * size_of::<u64>()
}
