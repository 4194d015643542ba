//! Counts of a program's processes, and of its scheduler's work.

/// See the head of this file.
#[derive(Default)]
pub struct Census {
    /// Processes made so far.
    pub created: u64,
    /// Processes alive.
    pub live: u64,
    /// Long calls of processes that go on now, each within the one before.
    pub within: u32,
    /// Ticks that the home has seen.
    pub ticks: u32,
}
