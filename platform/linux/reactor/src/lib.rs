//! The one place where a program waits: for sockets, the console, helper threads, channels to other domains, and time.
//!
//! * [`Reactor`] has the *sources* that are waited for. A process that would block waits for a source or a deadline. A
//!   [`Handler`] runs when its source is ready or its [`Time`] has come, before any process does.
//! * Sources are registered with the kernel once, edge-triggered, for both directions: code tries first, and waits only
//!   after the kernel said that it would block, so no edge is lost. A process may be woken for nothing; it then tries
//!   and waits again.
//! * [`Errand`] is work for a helper thread, which ends by a [`Signal`]. [`Drain`] is output that waits for the kernel.
//! * [`Sleeper`] is another event loop on this thread, which sleeps in the kernel for both. `patience` decides how long
//!   the reactor polls before it sleeps.
//!
//! All of it belongs to the home worker's thread, but for a `Signal`.

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
