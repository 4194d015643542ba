//! Waits for runs of programs in the kernel.

use std::time::Duration;

use rustix::thread::{MembarrierCommand, membarrier};

/// Returns when all runs of programs that had begun before have ended.
pub(crate) fn wait_for_runs() {
    if membarrier(MembarrierCommand::Global).is_err() {
        // A kernel that can't tell: no run takes so long.
        std::thread::sleep(Duration::from_millis(20));
    }
}
