//! Code that crosses a protection boundary: a client's block of calls, or a handler that runs where a message arrives.
//! It comes as bytecode, is verified, and then interpreted or compiled.
//!
//! * [`bytecode`]: eBPF (RFC 9669), the form of all such code.
//! * [`verifier`]: makes [`Verified`] programs of those that keep a host's contract.
//! * [`engine`]: an interpreter and a compiler for them.
//! * [`composite`]: blocks of calls that clients ship (*composite calls*).
//! * [`handler`]: handlers of messages (*ASHs*); [`demux`] finds the handler of a message, and [`pipe`] processes data
//!   while it is moved.
//!
//! It knows interfaces and messages, but neither the language, nor the runtime, nor platforms.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod verified;
mod xdp;

pub use verified::{DEPTH, FRAME, Guard, Verified};

pub mod bytecode;
pub mod composite;
pub mod demux;
pub mod engine;
pub mod handler;
pub mod pipe;
pub mod verifier;
