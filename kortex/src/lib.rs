//! The component library (*THINK*, section 4): native components and binding factories that belong to no platform.
//!
//! * [`event`]: a naming context for events, with its binding factory.
//! * [`composed`]: factories that put something in the path of another binding.
//! * [`bindings`]: all external names of a program, as a platform puts them together.
//! * [`peer`]: another program, reached by Drystone's own protocol over a line of bytes.
//! * [`domain`]: a component in another domain, reached by the same protocol over shared memory.
//! * [`system`]: what programs find on each platform.
//!
//! Components of kernels, which need no processes, are crates of their own: `hal`, `memory`.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod addition;
pub mod bindings;
pub mod composed;
pub mod domain;
pub mod event;
mod expectation;
mod host;
pub mod interfaces;
pub mod peer;
pub mod system;

pub use self::addition::{Addition, Before, Context, Maker, Offer, Put};
pub use self::expectation::{Expectation, Expected};
pub use self::host::Host;
