//! The component library (paper 002, section 4): native components and binding factories that no platform owns.
//!
//! [`event`] is a naming context with its binding factory; [`composed`] are the factories that put something into the
//! path of a binding that another has made; [`bindings`] are all that a program's names lead to, as a platform puts
//! them together. [`peer`] is another program with which this one speaks Drystone's own protocol over a line of bytes,
//! and [`domain`] a component in another domain, with which that line is shared memory. [`system`] is what programs
//! find on each platform. Components of kernels, which need no processes, are crates of their own: `hal`, `memory`.

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
pub mod interfaces;
pub mod peer;
pub mod system;

pub use self::addition::{Addition, Before, Context, Maker, Offer, Put};
pub use self::expectation::{Expectation, Expected};
