//! Moves the messages of communications with one end outside of the program.
//!
//! * A [`pump`] is what a process runs to move messages between a communication and its far side. Its [`stream`] is the
//!   part that moves one message; [`at_once`] uses that within the near side's process, without a switch to the pump's.
//! * A [`visit`] moves nothing: code of the platform sends and receives for itself.
//! * A [`client`] is either of these in the place of a near client.
//!
//! Both take part in the communication as a [`channel::Party`], over a [`channel::Channel`].

pub mod at_once;
pub mod channel;
pub mod client;
mod party;
pub mod pump;
pub mod stream;
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
    PAYLOAD + interface.buffer() * size_of::<u64>()
}
