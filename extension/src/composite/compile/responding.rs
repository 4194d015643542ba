//! What the code of a responder knows: its words of the stack, and those that it shares with its process.

use alloc::vec::Vec;

use drystone_component::Type;

use super::assembler::Label;
use crate::FRAME;
use crate::composite::table::WORD;

/// The words of the map's value, which a service's process and its handler share.
pub mod shared {
    /// 1 while the lock is held.
    pub const LOCK: usize = 0;
    /// The address (low half) and the port (above it) whose datagrams are answered, in network byte order.
    pub const PLACE: usize = 1;
    /// How many requests were answered.
    pub const ANSWERED: usize = 2;
    /// How many were left to the process, because the lock was held, or something failed.
    pub const LEFT: usize = 3;
    /// The first variable.
    pub const VARIABLES: usize = 4;
}

/// Words of the stack, from its end. Parameters follow, then the program's variables.
pub(super) mod own {
    use super::{FRAME, WORD};

    pub const CONTEXT: u32 = 0;
    /// The number of the message that has arrived; -1 when the service has received it.
    pub const ARRIVED: u32 = 1;
    /// 1 + the number of the message that the service sent; 0 if it sent none.
    pub const REPLY: u32 = 2;
    /// Bytes of the request's parameters.
    pub const LENGTH: u32 = 3;
    pub const PARAMETERS: u32 = 4;

    /// Where a word is, from r10. Words that the stack has no room for are all at its end: no such program is taken.
    pub fn at(word: u32) -> i16 {
        let stack = FRAME as i32;
        (word as i32 * WORD as i32 - stack).max(-stack) as i16
    }
}

/// What the compiler knows while it makes a responder.
pub(super) struct Responding {
    /// The word of the stack where the program's variables begin.
    pub variables: u32,
    /// The parameters of each message of the interface.
    pub messages: Vec<Vec<Type>>,
    /// Where a run goes when the tree is done.
    pub done: Label,
    /// Where a run that holds the lock goes to leave the datagram to the process.
    pub leave: Label,
    /// Something in the program that handlers can't do.
    pub refused: Option<&'static str>,
}
