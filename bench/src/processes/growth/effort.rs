//! How much work is put into figures about growth.

use std::time::Duration;

use crate::processes::effort::Effort;

/// There are many rows, and each has neighbours that confirm it.
pub const EFFORT: Effort = Effort {
    rounds: 3,
    budget: Duration::from_secs(2),
    runs: 3,
    heavy: (1, 0),
    limit: Duration::from_secs(120),
    ..Effort::FULL
};
