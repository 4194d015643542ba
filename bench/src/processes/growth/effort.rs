//! The effort of figures about growth.

use std::time::Duration;

use crate::processes::effort::Effort;

/// Small, because there are many rows, and neighbouring rows confirm each other.
pub const EFFORT: Effort = Effort {
    rounds: 3,
    budget: Duration::from_secs(2),
    runs: 3,
    heavy: (1, 0),
    limit: Duration::from_secs(120),
    ..Effort::FULL
};
