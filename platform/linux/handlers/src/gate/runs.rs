//! Runs of programs in the kernel.

use std::time::Duration;

use rustix::thread::{MembarrierCommand, membarrier};

/// Comes back when all runs of programs that have begun before have ended.
pub(crate) fn wait_for_runs() {
    if membarrier(MembarrierCommand::Global).is_err() {
        // A kernel that can't tell: no run takes so long.
        std::thread::sleep(Duration::from_millis(20));
    }
}
