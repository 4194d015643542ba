//! The one place where a program waits: for sockets, the console, helper threads and time limits.
//!
//! A service that would block registers its process here and says `wait`; it is woken when its source is ready, or
//! its time limit has passed. Sources are registered with the kernel once, edge-triggered, for both directions: a
//! service tries first and waits only after the kernel said that it would block, so no edge is lost. A process may be
//! woken for nothing; it then tries and waits again.
//!
//! Channels to other domains are looked at besides: see [`Rings`]. Where something else has to sleep in the kernel on
//! this thread, too, it does so for both: see [`Sleeper`].
//!
//! Everything here belongs to the home worker's thread, except what a [`Signal`] does.

mod errand;
mod handler;
mod patience;
mod reactor;
mod reason;
mod signals;
mod sleeper;

pub use drystone_kortex::Expectation;

pub use self::errand::Errand;
pub use self::handler::{Handler, Time, weakly};
pub use self::reactor::{Direction, Drain, Reactor};
pub use self::reason::{reason, without_number};
pub use self::signals::Signal;
pub use self::sleeper::Sleeper;
