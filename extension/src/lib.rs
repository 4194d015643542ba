//! Code that crosses a boundary: a client's block of calls, a handler that runs where a message arrives. It comes as
//! bytecode ([`bytecode`]: eBPF, RFC 9669), and is run by an [`engine`] as [`Verified`]. [`composite`] is the blocks of
//! calls, [`handler`] what runs where a message arrives, [`demux`] says whose that is, and [`pipe`] is what is done
//! with data as it is moved.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod verified;

pub use verified::{DEPTH, FRAME, Guard, Verified};

pub mod bytecode;
pub mod composite;
pub mod demux;
pub mod engine;
pub mod handler;
pub mod pipe;
pub mod verifier;
