//! Contexts of functions: their states for the calls from one place.

use alloc::{boxed::Box, vec::Vec};

use super::state::{Merge, State};

/// A function, called from one place at one depth; or from all places that have no context of their own.
pub(super) struct Context {
    pub place: (usize, usize),
    pub entry: State,
    /// How often `entry` has grown.
    calls: u8,
    /// The states at the beginning of its blocks, while they are needed.
    pub states: Vec<Option<Box<State>>>,
    /// How often each of them has grown.
    pub grown: Vec<u8>,
    /// The state at its end, if it returns.
    pub exit: Option<Box<State>>,
}

/// A call under way.
pub(super) struct Link {
    pub function: usize,
    /// Whether it may be part of an endless recursion.
    pub may_recur: bool,
}

/// The place of the outermost function's call.
pub(super) const OUTERMOST: (usize, usize) = (usize::MAX, 0);
/// The place of a context that several places share.
pub(super) const ANYWHERE: usize = usize::MAX;
impl Context {
    /// With empty vectors for its blocks.
    pub fn new(
        place: (usize, usize),
        entry: State,
        blocks: usize,
        (mut states, mut grown): (Vec<Option<Box<State>>>, Vec<u8>),
    ) -> Context {
        states.resize_with(blocks, || None);
        grown.resize(blocks, 0);
        Context { place, entry, calls: 0, grown, states, exit: None }
    }

    /// Moves it out, leaving an empty one in its place. It must be moved back.
    pub fn set_aside(&mut self) -> Context {
        let place = self.place;
        let nothing = Context {
            place,
            entry: State::new(0),
            calls: 0,
            states: Vec::new(),
            grown: Vec::new(),
            exit: None,
        };
        core::mem::replace(self, nothing)
    }

    /// Merges the entry of another call. Returns whether it has grown.
    pub fn take_in(&mut self, entry: &State) -> bool {
        let how = match self.calls {
            0..4 => Merge::Join,
            4..8 => Merge::Widen(&[]),
            _ => Merge::GiveUp,
        };
        let grows = self.entry.merge(entry, how);
        self.calls = self.calls.saturating_add(grows.into());
        grows
    }
}
