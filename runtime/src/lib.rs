//! What compiled programs run on: processes and their scheduler, monitors, communications, component instances,
//! texts and collections. See `ENTRY_POINTS.md` for what generated code calls, [`layout`] for what it touches itself,
//! and [`platform`] for what the runtime needs from below.
//!
//! The rooms of this crate, from the bottom; each knows only those before it:
//!
//! * [`layout`], [`platform`], [`heap`], `worker` (a worker's memory, and its record of what has failed), `failure`
//!   (a process fails), `long` (what takes long is done in parts), [`text`] and [`collection`] know no processes but as
//!   addresses;
//! * `queue` and `home` are where processes stand and what the scheduler knows; `instance` is a component with its
//!   monitor, `process` what runs in it;
//! * `communication` joins components; `life` makes and ends them, also by force; [`native`] is how they are written in
//!   Rust, [`far`] how what is elsewhere takes part, and [`binding`] joins by names;
//! * `parallel` lends processes to other workers, `fault` recovers from errors, [`inspect`] shows what is there, and
//!   `scheduler` drives it all.
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
