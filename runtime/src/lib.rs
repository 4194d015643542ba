//! What compiled programs run on: processes and their scheduler, monitors, communications, component instances,
//! texts and collections. See `ENTRY_POINTS.md` for what generated code calls, [`layout`] for what it touches itself,
//! and [`platform`] for what the runtime needs from below.
//!
//! The rooms of this crate stand on floors. Each room knows only rooms of the floors below its own. From the ground up:
//!
//! 1. [`layout`], `protocol` (which messages an interface allows in which state), `threads` (the platform as every
//!    thread sees it), `spin`, `math`;
//! 2. [`heap`], `queue` (where processes stand);
//! 3. `worker` (a worker's memory, and its records of what has failed and of components that nobody holds);
//! 4. `failure` (a process fails), [`long`] (what takes long is done in parts);
//! 5. [`text`];
//! 6. [`collection`];
//! 7. `instance` (a component: its slots, its monitor, and what its processes run);
//! 8. `values` (values of messages, as Rust has them);
//! 9. [`far`] (the traits by which what is elsewhere takes part);
//! 10. `naming` (the traits that give names a meaning);
//! 11. [`platform`] (what the home worker needs from below);
//! 12. `home` (what the scheduler knows);
//! 13. `process` (how processes start), `time`, `output`;
//! 14. `communication` (joins components, and moves messages to and from what is elsewhere), `parallel` (lends
//!     processes to other workers);
//! 15. `life` (makes components and ends them, also by force);
//! 16. [`native`] (how components are written in Rust), `fault` (recovers from errors);
//! 17. [`near`] (stands for what is elsewhere), [`inspect`] (shows what is there);
//! 18. [`binding`] (joins by names), `scheduler` (drives it all);
//! 19. [`entry_points`] (all that generated code calls).
//!
//! The tests drive the entry points without a compiler, on a platform of their own. `./test --long` runs them under
//! Miri, too, with `exact-memory`, so that Miri sees every block by itself.

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
mod worker;

pub use instance::template_of;
pub use scheduler::{Options, Outcome, run, run_guest};
