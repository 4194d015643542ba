//! Counts of a program's processes, and of its scheduler's work.

use core::mem::take;

/// See the head of this file.
#[derive(Default)]
pub struct Census {
    /// Processes made so far.
    pub created: u64,
    /// Processes alive. In a team that is lent: how many more than when it left.
    pub live: i64,
    /// Long calls of processes that go on now, each within the one before.
    pub within: u32,
    /// Ticks that the home has seen.
    pub ticks: u32,
}

impl Census {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &mut Census) {
        self.created += take(&mut other.created);
        self.live += take(&mut other.live);
    }
}
