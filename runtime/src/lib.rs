//! What compiled programs run on: processes and their scheduler, monitors, communications, component instances,
//! texts and collections. See `ENTRY_POINTS.md` for what generated code calls, [`layout`] for what it touches itself,
//! and [`platform`] for what the runtime needs from below.
//!
//! # Floors
//! The modules of this crate stand on floors; each knows only those below. From the ground up:
//!
//! 1. [`layout`], `protocol` (which messages an interface allows in which state), `threads` (the platform as every
//!    thread sees it), `spin`, `math`;
//! 2. [`heap`], `queue` (queues of processes);
//! 3. `worker` (a worker's heap, its recorded failures, its components without a holder);
//! 4. `failure` (records that a process fails), [`long`] (long calls, done in parts);
//! 5. [`text`];
//! 6. [`collection`];
//! 7. `instance` (a component: its slots, its monitor, what its processes run);
//! 8. `values` (values of messages, as Rust has them);
//! 9. [`far`] (traits for what is elsewhere);
//! 10. `naming` (traits that give names a meaning);
//! 11. [`platform`] (what the home worker needs from below);
//! 12. `home` (the state of a program that runs);
//! 13. `process` (how processes start), `time`, `output`, `visiting` (what is at another worker);
//! 14. `communication` (joins components, and moves messages to and from what is elsewhere);
//! 15. `life` (makes components and ends them, also by force), `parallel` (lends processes and components to other
//!     workers);
//! 16. [`native`] (components that are written in Rust), `fault` (recovers from errors);
//! 17. [`near`] (stands for what is elsewhere), [`inspect`] (shows a running program);
//! 18. [`binding`] (joins by names), `scheduler` (drives it all);
//! 19. [`entry_points`] (all that generated code calls).
//!
//! # Words of `# Safety`
//! Processes, components and communications lead to each other in circles, so they are raw pointers, and most functions
//! say what they need in these words:
//!
//! * *`w` is the home worker*: of a program that runs, and this is its thread. Nobody holds a reference to its data,
//!   the home's, or those of a component at home.
//! * *Live*: a process, instance or communication that was made and has not been ended. The block of an instance that
//!   is *dead* is still there; what is *freed* is not.
//! * *`p` runs on `w`*: `p` is live, and `w`, on its thread, runs it now, so that it stands in no queue.
//!
//! A module whose functions need the same says so once, under "Safety of this module", by a name in *italics*.
//!
//! # Tests
//! They drive the entry points without a compiler, on a platform of their own. `./test --long` runs them under Miri,
//! too, with `exact-memory`, so that Miri sees every block by itself.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub use drystone_component as component;

pub mod binding;
pub mod collection;
mod communication;
pub mod entry_points;
mod failure;
pub mod far;
mod fault;
pub mod heap;
mod home;
pub mod inspect;
mod instance;
pub mod layout;
mod life;
pub mod long;
mod math;
mod naming;
pub mod native;
pub mod near;
mod output;
mod parallel;
pub mod platform;
mod process;
mod protocol;
mod queue;
mod scheduler;
mod spin;
pub mod text;
mod threads;
mod time;
mod values;
mod visiting;
mod worker;

pub use instance::template_of;
pub use scheduler::{Options, Outcome, run, run_guest};
