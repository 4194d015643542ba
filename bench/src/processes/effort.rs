//! How much work is put into figures about processes.

use std::time::Duration;

use super::programs::Program;
use crate::contender::Runs;

/// Of a small ring in one process.
pub const JITTER_RUNS: usize = 500;
/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender's process is started, in turns.
    pub(super) rounds: usize,
    /// No round begins after that time in one row.
    pub(super) budget: Duration,
    /// Measured runs in each process.
    pub(super) runs: usize,
    /// Measured runs in each process of what is heavy, and those to warm up.
    pub(super) heavy: (usize, usize),
    /// Runs of the peers from which their jitter is known.
    pub(super) peers_jitter: usize,
    /// For a process.
    pub(super) limit: Duration,
    /// How long a server is asked.
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

    /// How a program is run in one process.
    pub(super) fn runs(&self, program: &Program, cores: usize) -> Runs {
        let (measured, warm) = if program.is_heavy { self.heavy } else { (self.runs, 1) };
        Runs { cores, warm, measured, limit: self.limit }
    }
}
