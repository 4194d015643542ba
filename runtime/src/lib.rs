//! What compiled programs run on: processes and their scheduler, monitors, communications, component instances,
//! texts and collections. See `ENTRY_POINTS.md` for what generated code calls, [`layout`] for what it touches itself,
//! and [`platform`] for what the runtime needs from below.
//!
//! The rooms of this crate, from the bottom: [`layout`], [`heap`], [`text`] and [`collection`] know no processes;
//! `process` and `monitor` know no components' lives; `communication` and `connection` join them; `instance` and
//! `deletion` make and end them; `fault` ends them by force; `scheduler` drives it all, and `parallel` lends
//! processes to other workers.
//!
//! The tests drive the entry points without a compiler, on a platform of their own. They run under Miri, too, which
//! then sees every block by itself (addresses of holders and targets are tagged, hence the permissive provenance;
//! descriptions live for ever, hence the leaks):
//!
//! ```text
//! MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks" \
//!     cargo +nightly miri test -p drystone-runtime --features exact-memory
//! ```

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub use drystone_component as component;

pub mod collection;
mod communication;
mod connection;
mod deletion;
pub mod entry_points;
pub mod fault;
pub mod heap;
pub mod instance;
mod isolation;
pub mod layout;
mod math;
mod monitor;
pub mod native;
mod native_process;
pub mod number;
mod output;
mod parallel;
pub mod platform;
mod process;
mod scheduler;
mod spin;
mod survey;
pub mod text;
mod time;

pub use scheduler::{Options, Outcome, run};
