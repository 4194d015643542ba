//! The effort of figures about bindings.

use std::time::Duration;

/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender has its turn.
    pub(super) rounds: usize,
    /// After this time no further round of a row begins.
    pub(super) budget: Duration,
    /// The divisor of all numbers of messages.
    pub(super) part: u64,
    /// How long a server is measured.
    pub(super) serving: Duration,
    /// Whether there are more rows than the headline ones.
    pub(super) is_full: bool,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort = Effort {
        rounds: 3,
        budget: Duration::from_secs(3),
        part: 4,
        serving: Duration::from_millis(500),
        is_full: false,
    };

    /// As good as it gets.
    pub const FULL: Effort = Effort {
        rounds: 7,
        budget: Duration::from_secs(10),
        part: 1,
        serving: Duration::from_secs(2),
        is_full: true,
    };
}
