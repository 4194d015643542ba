//! Composite calls (`docs/src/composite.md`) with loops and conditions, that a client ships to a kernel by a system
//! call, or to a server by LRPC: what is the same of both. Who runs them is a [`Runner`], and what a client has of it
//! are its [`Programs`].

#![no_std]

extern crate alloc;

mod calls;
mod interface;
mod programs;

pub use calls::Calls;
pub use programs::{Cache, Programs};

/// Who runs programs of a client, for one slice: what they can call, where the client's bytes are, and when the slice
/// is over.
pub trait Runner: Copy + 'static {
    /// Whether programs may make the call with this number.
    fn may_call(self, number: u64) -> bool;

    /// Makes a call that they may; `None`: it was refused.
    fn call(self, number: u64, words: [u64; 4]) -> Option<i64>;

    /// Whether the slice is over.
    fn is_over(self) -> bool;

    /// Reads bytes of the client's, if that is what they are.
    fn read(self, from: u64, to: &mut [u8]) -> bool;

    /// Writes bytes of the client's, if that is what they are.
    fn write(self, to: u64, from: &[u8]) -> bool;

    /// Whether something may be begun that takes memory.
    fn has_room() -> bool;

    /// What is remembered for all clients.
    fn cache() -> &'static Cache<Self>;
}
