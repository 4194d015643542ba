//! The effort of figures about processes.

use std::time::Duration;

use super::programs::Program;
use crate::contender::Runs;

/// Runs of a small ring in one process.
pub const JITTER_RUNS: usize = 500;
/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender's process is started, in turns.
    pub(super) rounds: usize,
    /// After this time no further round of a row begins.
    pub(super) budget: Duration,
    /// Measured runs in each process.
    pub(super) runs: usize,
    /// Measured and warm-up runs in each process, for heavy programs.
    pub(super) heavy: (usize, usize),
    /// Runs of the peers for their jitter.
    pub(super) peers_jitter: usize,
    /// The timeout of a process.
    pub(super) limit: Duration,
    /// How long a server is measured.
    pub(super) serving: Duration,
    /// Whether there are more rows than the headline ones.
    pub(super) is_full: bool,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort = Effort {
        rounds: 3,
        budget: Duration::from_secs(1),
        runs: 3,
        heavy: (1, 0),
        peers_jitter: 100,
        limit: Duration::from_secs(60),
        serving: Duration::from_millis(800),
        is_full: false,
    };

    /// As good as it gets.
    pub const FULL: Effort = Effort {
        rounds: 7,
        budget: Duration::from_secs(8),
        runs: 5,
        heavy: (1, 1),
        peers_jitter: JITTER_RUNS,
        limit: Duration::from_secs(300),
        serving: Duration::from_secs(2),
        is_full: true,
    };

    /// The runs of a program in one process.
    pub(super) fn runs(&self, program: &Program, cores: usize) -> Runs {
        let (measured, warm) = if program.is_heavy { self.heavy } else { (self.runs, 1) };
        Runs { cores, warm, measured, limit: self.limit }
    }
}
