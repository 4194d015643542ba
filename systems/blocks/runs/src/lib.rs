//! Composite calls (`docs/src/composite.md`) with loops and conditions, which a client ships to the kernel by a system
//! call, or to a server by LRPC. This crate is what kernel and server have in common: a [`Runner`] is either of them,
//! [`Programs`] are a client's programs and runs, and the [`Cache`] holds all clients' programs by hash.

#![no_std]

extern crate alloc;

mod calls;
mod interface;
mod programs;
mod runner;

pub use calls::Calls;
pub use programs::{Cache, Programs};
pub use runner::Runner;
