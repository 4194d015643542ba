//! The composite service (*composite calls*, Ballesteros): runs the blocks of calls that other programs ship here over
//! Drystone's own protocol, and ships the blocks of this program's own clients to other programs.
//!
//! * [`Server`] is the service as a line between two programs sees it ([`Composites`]).
//! * `session` is one client of the service; `messages` are their requests and replies.
//! * `engine` schedules the runs of all clients beside the program's own processes.
//! * `preparing` has a helper thread check and compile long programs.
//! * `ports` are the communications of a run. To the components that serve it, a run is a client like any other.
//! * `block` ships a block of one of this program's own clients.
//!
//! What the program in a block means is defined in `extension::composite`. Threads and clocks come from the
//! [`Platform`].
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
