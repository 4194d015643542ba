//! What has been spent on an evaluation, in all attempts.

use crate::ir::{BlockId, FunctionId};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::time::Duration;

/// What was spent, in all attempts together.
pub(super) struct Spent {
    /// What this thread had taken of the processor's time before.
    pub(super) start: Duration,
    /// How often each place was come to where loops begin or functions do.
    pub(super) visits: HashMap<(FunctionId, BlockId), u64>,
    /// The loops that stay loops because too much was spent on unrolling them, and on what.
    pub given_up: Vec<String>,
}

impl Default for Spent {
    fn default() -> Spent {
        Spent { start: processor_time(), visits: HashMap::new(), given_up: Vec::new() }
    }
}

/// What this thread has taken of the processor's time: what comes out must not depend on what else the machine does.
pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
