//! The state of a path: the frames of its calls, its facts, and how it arrived at its place.
//!
//! Code is evaluated once in each *context*: the chain of call sites from the entry (a call string), and the rounds of
//! the unrolled loops in each frame. Within a context, paths that meet are merged if they have the same facts;
//! otherwise they are kept apart, in a few versions. [`State::key`] orders paths by context and position.

use super::facts::Facts;
use super::flow::Flow;
use super::memory::Memory;
use super::objects::{CallString, Site};
use super::value::{ObjectId, Value};
use crate::account::Counted;
use crate::ir::{BlockId, Body, Const, FunctionId, ValueId};
use std::rc::Rc;

/// A loop that a frame is in.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub header: BlockId,
    /// The number of times that control has returned to the header.
    pub number: u32,
    /// The state's `branches` when the round began.
    pub branches: u32,
    /// Whether the loop may be left on an unknown condition in this round.
    pub dynamic_exit: bool,
    /// The known values on which it was decided to stay in the loop, in this round and in the previous one.
    pub reasons: Vec<Const>,
    pub former_reasons: Option<Vec<Const>>,
    /// The known values of the header's phis in this round.
    pub variables: Vec<Value>,
}

impl Round {
    /// The first round of a loop.
    pub fn first(header: BlockId, branches: u32) -> Round {
        Round {
            header,
            number: 0,
            branches,
            dynamic_exit: false,
            reasons: Vec::new(),
            former_reasons: None,
            variables: Vec::new(),
        }
    }
}

/// A function that is being evaluated.
#[derive(Clone)]
pub(super) struct Frame {
    pub function: FunctionId,
    pub body: Rc<Body>,
    pub flow: Rc<Flow>,
    pub chain: CallString,
    /// The next instruction.
    pub block: BlockId,
    pub index: usize,
    /// The values of the function; undefined until they are computed.
    pub values: Rc<Counted<Vec<Value>>>,
    /// Its local variables and copies of arguments.
    pub locals: Vec<ObjectId>,
    pub loops: Counted<Vec<Round>>,
    /// The state's `branches` when it was called.
    pub branches: u32,
}

impl Frame {
    /// The frame's current place.
    pub fn site(&self) -> Site {
        Site { chain: self.chain, block: self.block, index: self.index }
    }

    /// Sets a value of the function.
    pub fn set(&mut self, value: ValueId, to: Value) {
        Rc::make_mut(&mut self.values).elements()[value.0 as usize] = to;
    }
}

/// One path.
#[derive(Clone)]
pub(super) struct State {
    /// The active calls, the entry first.
    pub frames: Counted<Vec<Frame>>,
    pub facts: Facts,
    /// The number of unknown branches that it has passed.
    pub branches: u32,
    /// How it arrived at its current place.
    pub arrival: Arrival,
}

/// How a path arrived at its current place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// In the middle of a function.
    Plain,
    /// At the header of a kept loop, from outside.
    Header,
    /// At the header of a kept loop, from inside.
    Back,
}

impl State {
    /// A path at the beginning of a residual block.
    pub fn new(memory: Memory, block: BlockId) -> State {
        State {
            frames: Counted::default(),
            facts: Facts::new(memory, block),
            branches: 0,
            arrival: Arrival::Plain,
        }
    }

    /// The frame of the function that is being evaluated.
    pub fn top(&mut self) -> &mut Frame {
        self.frames.elements().last_mut().expect("a path ends with its last frame")
    }

    /// The path's position in the order of evaluation. The path with the smallest key goes on first, so that all paths
    /// that meet at a place have arrived there when its turn comes.
    pub fn key(&self) -> Vec<u32> {
        let mut key = Vec::new();
        for frame in self.frames.iter() {
            for round in frame.loops.iter() {
                key.extend([frame.flow.order[round.header.0 as usize], round.number]);
            }
            key.extend([frame.flow.order[frame.block.0 as usize], frame.index as u32]);
        }
        key
    }

    /// Keeps only the facts that another path at the same place has too.
    pub fn forget_differences(&mut self, other: &State) {
        self.facts.forget_differences(&other.facts);
        self.branches = self.branches.max(other.branches);
        for (mine, theirs) in self.frames.elements().iter_mut().zip(other.frames.iter()) {
            for (mine, theirs) in mine.loops.elements().iter_mut().zip(theirs.loops.iter()) {
                mine.dynamic_exit |= theirs.dynamic_exit;
            }
        }
    }
}
