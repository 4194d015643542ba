//! The verifier: decides whether a program is safe to run, and which instructions need guards.
//!
//! It is an abstract interpretation. A [`state::State`] is what is known at a point: of each value its [`value::Kind`]
//! (a number, or what it points to) and its [`number::Number`] (ranges, bits). There is one state for the beginning of
//! each block ([`flow`]), for each place that calls the function. States are joined where paths meet, and widened in
//! loops, which are never unrolled ([`walk`]): so the time is about linear in the length of the program. The transfer
//! functions are in [`transfer`], [`memory`], [`helper`], [`branch`] and [`call`]. What can't be proved but can be
//! checked at run time gets a [`crate::Guard`]; [`bounds`] decides this for loops. All else is a [`Rejection`].

mod analysis;
mod arithmetic;
mod bits;
mod bounds;
mod branch;
mod call;
mod compare;
mod context;
mod contract;
mod drift;
mod flow;
mod frame;
mod helper;
mod marks;
mod memory;
mod number;
mod rejection;
mod rounds;
mod state;
mod transfer;
mod value;
mod vectors;
mod walk;
mod workspace;

#[cfg(test)]
mod tests;

use core::mem::take;

pub use contract::{Bytes, Contract, Extent, Field, Given, Helper, Map, Memory, OWN, Region, Wanted};
pub use rejection::Rejection;
pub use workspace::Workspace;

use crate::Verified;
use crate::bytecode::Program;
use analysis::Analysis;

/// Proves that a program keeps a contract. What can be checked at run time may remain unproved, and is guarded.
pub fn verify(program: Program, contract: &Contract) -> Result<Verified, Rejection> {
    Workspace::default().verify(program, contract)
}

impl Workspace {
    /// As [`verify`], with memory of earlier programs.
    pub fn verify(&mut self, program: Program, contract: &Contract) -> Result<Verified, Rejection> {
        let mut analysis = Analysis::new(&program, contract, self)?;
        analysis.start()?;
        let guards = analysis.guards();
        let rewrites = take(&mut analysis.rewrites);
        analysis.leave(self);
        Ok(Verified::new(program.rewritten(rewrites), guards))
    }
}
