//! The work of all engines.

/// The work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Work {
    /// A loop of two empty calls with three arguments each.
    Copy,
    /// A loop of four instructions.
    Instructions,
    /// Preparing the first program.
    Ready,
}

/// Rounds of the second loop: 1.2e8 instructions.
pub const INSTRUCTIONS: u64 = 30_000_000;

impl Work {
    /// Its word on the command line of all contenders.
    pub fn word(self) -> &'static str {
        match self {
            Work::Copy => "copy",
            Work::Instructions => "instructions",
            Work::Ready => "ready",
        }
    }

    /// How many rounds fast engines do.
    pub fn times(self) -> u64 {
        match self {
            Work::Copy => 20_000_000,
            Work::Instructions => INSTRUCTIONS,
            Work::Ready => 20_000,
        }
    }

    /// The correct result of so many rounds.
    pub fn result(self, n: u64) -> u64 {
        match self {
            Work::Copy => 512 * n,
            Work::Instructions => {
                (1..=n).rev().fold(1, |sum: u64, left| sum.wrapping_mul(31).wrapping_add(left))
            }
            // At the end, the prepared program runs seven rounds.
            Work::Ready => 512 * 7,
        }
    }
}
