//! The component library (paper 002, section 4): native components and binding factories that no platform owns.
//!
//! [`event`] is a naming context with its binding factory; [`composed`] are the factories that put something into the path of a
//! binding that another has made; [`bindings`] are all that a program's names lead to, as a platform puts them together. [`system`] is
//! what programs find on each platform. Components of kernels, which need no processes, are crates of their own: `hal`, `memory`.

#![no_std]

extern crate alloc;

mod addition;
pub mod bindings;
pub mod composed;
pub mod event;
pub mod interfaces;
pub mod system;

pub use self::addition::{Addition, Before, Context, Maker, Offer, Put};
