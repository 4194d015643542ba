//! The resources spent on an evaluation, in all attempts.

use crate::ir::{BlockId, FunctionId};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::time::Duration;

/// The resources spent in all attempts together.
pub(super) struct Spent {
    /// The processor time of this thread at the beginning.
    pub(super) start: Duration,
    /// The number of arrivals at the beginning of each loop or function.
    pub(super) visits: HashMap<(FunctionId, BlockId), u64>,
    /// The loops that are kept because a budget was spent on unrolling them, with the budget.
    pub given_up: Vec<String>,
}

impl Default for Spent {
    fn default() -> Spent {
        Spent { start: processor_time(), visits: HashMap::new(), given_up: Vec::new() }
    }
}

/// The processor time of this thread. The result must not depend on other activity of the machine.
pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
