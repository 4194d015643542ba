//! Measures *composite calls* (Ballesteros): what shipping a block of calls saves, and what it takes to prepare and run
//! a shipped program, beside native code and other engines.
//!
//! Each group of rows is a function of [`Bench`]; [`measure`] calls all of them.

mod delays;
mod engine;
mod forms;
mod nfs;
mod page;
mod parties;
mod reasons;
mod relay;
mod ship;
mod shipped;
mod size;
mod work;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;

pub use engine::Engine;
pub use forms::Form;
pub use page::{page, sections};
use parties::{Parties, Party};
pub use relay::Relay;
pub use ship::Ship;
use work::{INSTRUCTIONS, Work};

use crate::row::{Row, Tell};
use crate::statistics::{Figure, rounded};
use crate::turns::{Turn, by_turns};

/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender has its turn.
    rounds: usize,
    /// After this time no further round of a row begins.
    budget: Duration,
    /// The divisor of all numbers of rounds.
    part: u64,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort = Effort { rounds: 5, budget: Duration::from_secs(8), part: 4 };

    /// As good as it gets.
    pub const FULL: Effort = Effort { rounds: 9, budget: Duration::from_secs(30), part: 1 };
}

/// The greatest ratio of compiled code's time to native code's: for calls, and for computing.
const COMPILED: [f64; 2] = [1.5, 1.1];
/// The greatest ratio of the interpreter's time to native code's.
const INTERPRETED: f64 = 10.0;
/// Microseconds to build and verify a program, and to compile it.
const READY: [f64; 2] = [1.0, 3.0];

/// Rows that are measured together.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    BreakEven,
    Delays,
    Dependent,
    Copies,
    Forms,
    Loops,
    Readiness,
    Interpreter,
    Size,
}

/// Measures row after row, of one group or of all.
pub fn measure(effort: Effort, only: Option<Group>, tell: Tell) -> Result<(), String> {
    let bench = Bench { effort, parties: Parties::new() };
    let all = Group::value_variants().iter().filter(|&&group| only.is_none_or(|only| only == group));
    all.into_iter().try_for_each(|group| match group {
        Group::BreakEven => bench.break_even(tell),
        Group::Delays => bench.delays(tell),
        Group::Dependent => bench.dependent(tell),
        Group::Copies => bench.copies(tell),
        Group::Forms => bench.forms(tell),
        Group::Loops => bench.loops(tell),
        Group::Readiness => bench.readiness(tell),
        Group::Interpreter => bench.interpreter(tell),
        Group::Size => tell(size::row()),
    })
}

/// What all rows share.
struct Bench {
    effort: Effort,
    parties: Parties,
}

impl Bench {
    /// Compiled programs.
    fn loops(&self, tell: Tell) -> Result<(), String> {
        let peers = ["c", "java", "luajit", "rbpf-jit", "sbpf-jit", "wasmtime"];
        let [calls, computes] = COMPILED;
        tell(self.row("copy loop", Work::Copy, "drystone-jit", &peers, calls))?;
        tell(self.row("instruction loop", Work::Instructions, "drystone-jit", &peers, computes))?;
        let plain = ["c", "drystone-jit"];
        tell(self.row("plain copy loop", Work::Copy, "drystone-plain", &plain, calls))
    }

    /// The same programs, interpreted.
    fn interpreter(&self, tell: Tell) -> Result<(), String> {
        let peers = ["c", "rbpf", "sbpf"];
        tell(self.row("interpreter", Work::Copy, "drystone", &peers, INTERPRETED))?;
        tell(self.row("interpreted instruction loop", Work::Instructions, "drystone", &peers, INTERPRETED))
    }

    /// Measures preparing a program: from bytes to what can be run.
    fn readiness(&self, tell: Tell) -> Result<(), String> {
        let rows: [(&str, &'static str, &[&'static str], f64); 2] = [
            ("build and verify", "drystone-verified", &["rbpf", "sbpf"], READY[0]),
            ("jit", "drystone-jit", &["rbpf-jit", "sbpf-jit", "wasmtime"], READY[1]),
        ];
        for (row, drystone, peers, target) in rows {
            let (drystone, peers) = self.figures(Work::Ready, drystone, peers, 1e-3);
            tell(Row { drystone, peers, target: Some(target), ..Row::new(row.into(), "us") })?;
        }
        Ok(())
    }

    /// Fills the row of a loop; its target is so many times native code's time.
    fn row(&self, row: &str, work: Work, drystone: &'static str, peers: &[&'static str], times: f64) -> Row {
        let (unit, scale) = match work {
            Work::Instructions => ("ms", INSTRUCTIONS as f64 * 1e-6),
            _ => ("ns", 1.0),
        };
        let (drystone, peers) = self.figures(work, drystone, peers, scale);
        let native = peers.get("c").copied().flatten();
        let target = native.map(|native| rounded(native.value * times));
        let note = match (drystone, native) {
            (Some(drystone), Some(native)) => {
                format!("{:.2} x native code's time", drystone.value / native.value)
            }
            _ => String::new(),
        };
        Row { drystone, peers, target, note, ..Row::new(row.into(), unit) }
    }

    /// Measures all in turns; figures are nanoseconds times `scale`.
    fn figures(
        &self,
        work: Work,
        drystone: &'static str,
        peers: &[&'static str],
        scale: f64,
    ) -> (Option<Figure>, BTreeMap<&'static str, Option<Figure>>) {
        let all: Vec<Party> =
            [&drystone].into_iter().chain(peers).map(|name| self.parties.party(name)).collect();
        let measures: Vec<_> =
            all.iter().map(|party| move || Ok(party.measure(work, self.effort.part)? * scale)).collect();
        let turns: Vec<Turn> =
            all.iter().zip(&measures).map(|(party, measure)| (party.name, measure as _)).collect();
        self.turns(&turns)
    }

    /// Measures all in turns; returns the first one's figure, and the other ones'.
    fn turns(&self, turns: &[Turn]) -> (Option<Figure>, BTreeMap<&'static str, Option<Figure>>) {
        let mut figures = by_turns(self.effort.rounds, self.effort.budget, turns);
        let first = turns.first().and_then(|(name, _)| figures.remove(name));
        (first.flatten(), figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_loops() {
        assert_eq!(Work::Copy.result(3), 1536);
        assert_eq!(Work::Instructions.result(2), (31 + 2) * 31 + 1);
    }
}
