//! The effort of figures about handlers.

use std::time::Duration;

/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender has its turn.
    pub(super) rounds: usize,
    /// After this time no further round of a row begins.
    pub(super) budget: Duration,
    /// Requests in a round.
    pub(super) requests: u64,
    /// Whether there are more rows than the headline ones.
    pub(super) is_full: bool,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort =
        Effort { rounds: 3, budget: Duration::from_secs(8), requests: 5_000, is_full: false };

    /// As good as it gets.
    pub const FULL: Effort =
        Effort { rounds: 7, budget: Duration::from_secs(25), requests: 20_000, is_full: true };
}
