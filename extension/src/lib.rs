//! Code that crosses a boundary: a client's block of calls, a handler that runs where a message arrives. It comes as
//! bytecode ([`bytecode`]: eBPF, RFC 9669), and is run by an [`engine`] as [`Verified`]. [`composite`] is the blocks of calls,
//! [`pipe`] what is done with the data of messages.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod verified;

pub use verified::{DEPTH, FRAME, Guard, Verified};

pub mod bytecode;
pub mod composite;
pub mod engine;
pub mod pipe;
pub mod verifier;
