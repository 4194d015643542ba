//! Memory that is reused for one program after another: for short programs, allocation took a good part of the time.

use alloc::{boxed::Box, vec::Vec};

use super::bounds::Costs;
use super::context::{Context, Link};
use super::drift::Drifts;
use super::flow::{BlockAt, Flow};
use super::rounds::Rounds;
use super::state::State;

/// The memory of analyses. It keeps nothing of former programs: [`super::verify`] uses a new one, with the same result.
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

/// Memory for temporary use.
#[derive(Default)]
pub(super) struct Pieces {
    /// For the outermost function.
    pub states: Vec<Option<Box<State>>>,
    pub grown: Vec<u8>,
    pub pending: Vec<u64>,
    pub costs: Costs,
    pub drifts: Vec<Option<Drifts>>,
    /// States to be overwritten.
    #[expect(clippy::vec_box, reason = "they are handed on as boxes")]
    pub spare: Vec<Box<State>>,
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

    /// Takes a state back that isn't needed any more.
    pub fn give_up(&mut self, state: Box<State>) {
        const KEPT: usize = 64;
        if self.spare.len() < KEPT {
            self.spare.push(state);
        }
    }
}
