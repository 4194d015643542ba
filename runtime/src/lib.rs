//! What compiled programs run on: processes and their scheduler, monitors, communications, component instances,
//! texts and collections. See `ENTRY_POINTS.md` for what generated code calls, [`layout`] for what it touches itself,
//! and [`platform`] for what the runtime needs from below.
//!
//! The rooms of this crate, from the bottom: [`layout`], [`heap`], [`text`] and [`collection`] know no processes;
//! `process` and `monitor` know no components' lives; `communication` and `connection` join them; `instance` and
//! `deletion` make and end them; `fault` ends them by force; `scheduler` drives it all, and `parallel` lends
//! processes to other workers.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub use drystone_component as component;

pub mod collection;
pub mod communication;
pub mod connection;
pub mod deletion;
pub mod entry_points;
pub mod fault;
pub mod heap;
pub mod instance;
pub mod layout;
pub mod math;
pub mod monitor;
pub mod native;
pub mod native_process;
pub mod number;
pub mod output;
pub mod parallel;
pub mod platform;
pub mod process;
pub mod scheduler;
mod spin;
pub mod text;
pub mod time;

pub use scheduler::{Options, Outcome, run};
