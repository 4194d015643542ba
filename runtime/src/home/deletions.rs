//! What the home knows about components that are being deleted, or were ended by force. The life module sees to them.

use alloc::collections::VecDeque;
use core::ffi::c_void;

/// See the head of this file.
#[derive(Default)]
pub struct Deletions {
    /// Those that go on when other processes have had their turn: records of the life module.
    pub paused: VecDeque<*mut c_void>,
    /// How many nobody waits for.
    pub detached: usize,
    /// How often something has been ended by force.
    pub forced: u64,
}
