//! The passes that take out of a residual function what does nothing, and writes what is left in the simplest form: addresses as one
//! sum, blocks without detours, values without gaps. What it does is correct for any function; re-rolling relies on
//! addresses being folded.
//!
//! It refuses to do what the compiler of the residual program does as well or better: of arithmetic only tests are
//! touched, where several become one.

pub(crate) mod ahead;
mod calls;
pub(crate) mod dead;
pub(crate) mod flow;
pub(crate) mod forward;
pub(crate) mod guards;
mod hash;
mod memory;
pub(crate) mod number;
mod roots;
mod surroundings;
pub(crate) mod unroll;
pub(crate) mod widen;

pub(crate) use calls::{Known, known_call};
pub(crate) use hash::{Mixer, Table};
pub(crate) use memory::{Addresses, Place};
pub(crate) use roots::{Root, Roots};

pub use surroundings::Surroundings;
