//! What all engines do.

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Work {
    /// Two calls of nothing, with three arguments each, in a loop.
    Copy,
    /// Four instructions in a loop.
    Instructions,
    /// The first program is made ready to run.
    Ready,
}

/// Rounds of the second loop: 1.2e8 instructions.
pub const INSTRUCTIONS: u64 = 30_000_000;

impl Work {
    /// As all contenders know it.
    pub fn word(self) -> &'static str {
        match self {
            Work::Copy => "copy",
            Work::Instructions => "instructions",
            Work::Ready => "ready",
        }
    }

    /// How often it is done by what is quick.
    pub fn times(self) -> u64 {
        match self {
            Work::Copy => 20_000_000,
            Work::Instructions => INSTRUCTIONS,
            Work::Ready => 20_000,
        }
    }

    /// What comes out of so many rounds.
    pub fn result(self, n: u64) -> u64 {
        match self {
            Work::Copy => 512 * n,
            Work::Instructions => {
                (1..=n).rev().fold(1, |sum: u64, left| sum.wrapping_mul(31).wrapping_add(left))
            }
            // What was made ready is run for seven rounds in the end.
            Work::Ready => 512 * 7,
        }
    }
}
