//! The composite service (*composite calls*, Ballesteros): runs the blocks of calls that other programs ship here over
//! Drystone's own protocol, and ships the blocks of this program's own clients to theirs.
//!
//! * [`Server`] is the service, as a line between two programs knows it ([`Composites`]).
//! * `session` is one client of it; `messages` is what they say to each other.
//! * `engine` has the runs of all clients, and gives them their turns beside the program's own processes.
//! * `preparing` has a helper thread check and compile long programs.
//! * `ports` is what a run talks over: to the components that serve it, it is a client as any other.
//! * `block` is a block of one of this program's own clients, which it ships.
//!
//! What a program in a block means is in `extension::composite`. Threads and clocks are the [`Platform`]'s.
//!
//! [`Composites`]: drystone_kortex::peer::Composites

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod block;
mod engine;
mod messages;
mod platform;
mod ports;
mod preparing;
mod server;
mod session;

pub use self::platform::{Platform, Preparation, Prepared};
pub use self::server::Server;
