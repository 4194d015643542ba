//! Composite calls (`docs/src/composite.md`) with loops and conditions, which a client ships to the kernel by a system
//! call, or to a server by LRPC. Here is what both have in common: a [`Runner`] is the kernel or server, [`Programs`]
//! are a client's programs and runs, and the [`Cache`] has the programs of all clients by their hashes.

#![no_std]

extern crate alloc;

mod calls;
mod interface;
mod programs;
mod runner;

pub use calls::Calls;
pub use programs::{Cache, Programs};
pub use runner::Runner;
