//! Memory that is used again for one program after the other: what a short program needs is soon found out, and
//! allocating took a good part of that time.

use alloc::{boxed::Box, vec::Vec};
use core::mem::take;

use super::bounds::{Costs, Rounds};
use super::call::{Context, Link};
use super::contract::Contract;
use super::drift::Drifts;
use super::flow::{BlockAt, Flow};
use super::rejection::Rejection;
use super::state::State;
use crate::Verified;
use crate::bytecode::Program;

/// What a verifier works with. It knows nothing of former programs: [`super::verify`] does the same with a new one.
#[derive(Default)]
pub struct Workspace {
    pub(super) flow: Flow,
    pub(super) block_at: BlockAt,
    pub(super) marks: Vec<u8>,
    pub(super) rounds: Vec<Rounds>,
    pub(super) contexts: Vec<Vec<Context>>,
    pub(super) chain: Vec<Link>,
    pub(super) pieces: Pieces,
}

/// What is used here and there for a while.
#[derive(Default)]
pub(super) struct Pieces {
    /// Of the outermost function.
    pub states: Vec<Option<Box<State>>>,
    pub grown: Vec<u8>,
    pub pending: Vec<u64>,
    pub costs: Costs,
    pub drifts: Vec<Option<Drifts>>,
    /// Nothing is known of what is in them.
    #[expect(clippy::vec_box, reason = "they are handed on as boxes")]
    pub spare: Vec<Box<State>>,
}

impl Workspace {
    /// As [`super::verify`].
    pub fn verify(&mut self, program: Program, contract: &Contract) -> Result<Verified, Rejection> {
        let mut verifier = super::Verifier::new(&program, contract, self)?;
        verifier.start()?;
        let guards = verifier.guards();
        let rewrites = take(&mut verifier.rewrites);
        verifier.leave(self);
        Ok(Verified::new(program.rewritten(rewrites), guards))
    }
}

impl Pieces {
    /// A copy of a state.
    pub fn copy(&mut self, state: &State) -> Box<State> {
        match self.spare.pop() {
            Some(mut copy) => {
                copy.become_copy_of(state);
                copy
            }
            None => Box::new(state.clone()),
        }
    }

    /// Nobody needs it any more.
    pub fn give_up(&mut self, state: Box<State>) {
        const KEPT: usize = 64;
        if self.spare.len() < KEPT {
            self.spare.push(state);
        }
    }
}
