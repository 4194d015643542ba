//! The work list: paths that wait for their turn. A path comes before the places that it can still reach, so that all
//! paths that meet at a place are there when its turn comes.

use super::state::State;
use std::collections::BTreeMap;

/// The waiting paths, by their places ([`State::key`]).
#[derive(Default)]
pub(super) struct Waiting(BTreeMap<Vec<u32>, Vec<State>>);

impl Waiting {
    /// Lets a path wait at its place.
    pub fn suspend(&mut self, state: State) {
        self.suspend_at(state.key(), state);
    }

    /// Lets a path wait for the turn of another place.
    pub fn suspend_at(&mut self, key: Vec<u32>, state: State) {
        self.0.entry(key).or_default().push(state);
    }

    /// Whether another path must go on before this one.
    pub fn comes_before(&self, state: &State) -> bool {
        self.0.first_key_value().is_some_and(|(first, _)| *first <= state.key())
    }

    /// Takes the next paths: all those at the place that comes first.
    pub fn next(&mut self) -> Option<(Vec<u32>, Vec<State>)> {
        self.0.pop_first()
    }
}
