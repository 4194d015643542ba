//! Passes that remove dead code from a residual function and normalise the rest: each address is one sum, jumps are
//! direct, values are numbered without gaps. The passes are correct for any function; re-rolling relies on folded
//! addresses.
//!
//! They omit what the compiler of the residual program does as well. On arithmetic, they only join tests.

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
