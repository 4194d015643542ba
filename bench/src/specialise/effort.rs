//! The effort of figures about the specialiser.

use super::drive::Extent;

/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    pub(super) extent: Extent,
    /// Runs of the specialiser for each time.
    pub(super) runs: usize,
    /// Whether there are more rows than the headline ones.
    pub(super) is_full: bool,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort =
        Effort { extent: Extent { rounds: 41, microseconds: 100 }, runs: 5, is_full: false };

    /// As good as it gets.
    pub const FULL: Effort =
        Effort { extent: Extent { rounds: 401, microseconds: 200 }, runs: 15, is_full: true };
}
