//! Makes rows from the driver's and callgrind's measurements.

use std::collections::BTreeMap;

use super::drive::Outcome;
use super::inside::NATIVE;
use super::specialiser::Times;
use super::targets::{Goal, Target};
use crate::row::{Better, Row};
use crate::statistics::{Figure, rounded};

/// The greatest ratio of the residual program's time to the hand-written one's.
pub const LIKE_HAND: f64 = 1.1;
/// The percentage that must be eliminated of the instructions that generic code has beyond hand-written code.
pub const GONE: f64 = 95.0;

/// The measurements of a target.
pub struct Measured {
    figures: BTreeMap<String, Figure>,
}

impl Measured {
    /// Reports contenders without a figure, and why.
    pub fn new(target: &Target, outcomes: &[Outcome]) -> Measured {
        for Outcome { contender, error, .. } in outcomes {
            if let Some(why) = error {
                eprintln!("{}: {contender} has no figure: {why}", target.row);
            }
        }
        let figures = outcomes.iter().filter(|outcome| outcome.error.is_none());
        let figures =
            figures.filter_map(|outcome| Some((outcome.contender.clone(), Figure::of(&outcome.ns)?)));
        Measured { figures: figures.collect() }
    }

    /// The quickest of some contenders.
    fn best(&self, names: &[&str]) -> Option<Figure> {
        let figures = names.iter().filter_map(|name| self.figures.get(*name).copied());
        figures.min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The row of nanoseconds of a call.
    pub fn row(&self, target: &Target) -> Row {
        let generic = self.best(&["generic-gcc", "generic-clang"]);
        let hand = self.best(&["hand gcc", "hand clang"]);
        let peers = BTreeMap::from([
            ("generic-gcc", self.best(&["generic-gcc"])),
            ("generic-clang", self.best(&["generic-clang"])),
            ("lto", self.best(&["lto"])),
            ("lto-pgo", self.best(&["lto-pgo"])),
            ("hand", hand),
            ("drystone-O2", self.best(&["residual O2"])),
            ("drystone-cranelift", self.best(&[NATIVE])),
        ]);
        let drystone = self.best(&["residual gcc", "residual clang"]);
        let note = match (drystone, generic, hand) {
            (Some(drystone), Some(generic), Some(hand)) => format!(
                "{:.1} x quicker than generic code, {:.2} x the hand-written code's time",
                generic.value / drystone.value,
                drystone.value / hand.value
            ),
            _ => String::new(),
        };
        let target_value = goal(target.goal, generic, hand);
        Row { drystone, peers, target: target_value, note, ..Row::new(target.row.into(), "ns") }
    }

    /// The row of Cranelift's machine code beside code without vectors.
    pub fn cranelift_row(&self, target: &Target) -> Row {
        let hand = self.best(&["hand scalar gcc", "hand scalar clang"]);
        let residual = self.best(&["residual scalar gcc", "residual scalar clang"]);
        Row {
            drystone: self.best(&[NATIVE]),
            peers: BTreeMap::from([("hand", hand), ("drystone-c", residual)]),
            target: goal(Goal::Hand, None, hand),
            ..Row::new(format!("cranelift {}", target.row), "ns")
        }
    }

    /// The same with AVX2.
    pub fn avx2_row(&self, target: &Target) -> Row {
        let hand = self.best(&["hand avx2 gcc", "hand avx2 clang"]);
        Row {
            drystone: self.best(&["residual avx2 gcc", "residual avx2 clang"]),
            peers: BTreeMap::from([("hand", hand)]),
            target: goal(Goal::Hand, None, hand),
            ..Row::new(format!("avx2 {}", target.row), "ns")
        }
    }
}

fn goal(goal: Goal, generic: Option<Figure>, hand: Option<Figure>) -> Option<f64> {
    let like_hand = hand.map(|hand| hand.value * LIKE_HAND);
    let over_generic = |times: f64| generic.map(|generic| generic.value / times);
    let value = match goal {
        Goal::Generic(times) => over_generic(times)?.min(like_hand?),
        Goal::GenericOnly(times) => over_generic(times)?,
        Goal::Hand => like_hand?,
    };
    Some(rounded(value))
}

/// The row of the eliminated percentage of instructions beyond hand-written code, from the instructions of one call
/// each.
pub fn instructions_row(target: &Target, counts: &Counts) -> Row {
    let gone = |count: Option<f64>| {
        let (generic, hand) = (counts.generic?, counts.hand?);
        Some(Figure::single(100.0 * (generic - count?) / (generic - hand)))
    };
    let told = |count: Option<f64>| count.map_or("-".into(), |count| format!("{count:.0}"));
    Row {
        better: Better::Higher,
        drystone: gone(counts.residual),
        peers: BTreeMap::from([("lto", gone(counts.lto))]),
        target: Some(GONE),
        note: format!(
            "a call takes {} instructions in generic code, {} after whole-program optimisation, {} specialised, {} \
             written by hand",
            told(counts.generic),
            told(counts.lto),
            told(counts.residual),
            told(counts.hand)
        ),
        ..Row::new(format!("instructions {}", target.row), "% of the known part gone")
    }
}

/// The instructions of a call.
pub struct Counts {
    /// Compiled by clang -O2.
    pub generic: Option<f64>,
    /// Whole-program optimisation.
    pub lto: Option<f64>,
    /// Without vectors.
    pub residual: Option<f64>,
    /// Without vectors.
    pub hand: Option<f64>,
}

/// The row of milliseconds from LLVM text to C, and to machine code.
pub fn time_row(name: String, times: Option<&Times>, target: Option<f64>) -> Row {
    let native = times.and_then(|times| Figure::of(&times.native));
    Row {
        drystone: times.and_then(|times| Figure::of(&times.c)),
        peers: BTreeMap::from([("drystone-cranelift", native)]),
        target,
        ..Row::new(name, "ms")
    }
}

#[cfg(test)]
mod tests {
    use super::super::targets::TARGETS;
    use super::*;

    fn outcome(contender: &str, ns: f64) -> Outcome {
        Outcome { contender: contender.into(), ns: vec![ns], error: None }
    }

    #[test]
    fn the_better_compiler_counts_and_both_goals_hold() {
        let measured = Measured::new(
            &TARGETS[0],
            &[
                outcome("generic-gcc", 27.0),
                outcome("generic-clang", 28.0),
                outcome("hand gcc", 2.5),
                outcome("hand clang", 2.2),
                outcome("residual gcc", 2.6),
                outcome("residual clang", 2.4),
                Outcome { contender: "lto".into(), ns: vec![], error: Some("differs".into()) },
            ],
        );
        let row = measured.row(&TARGETS[0]);
        assert_eq!((row.row.as_str(), row.drystone.unwrap().value), ("pair", 2.4));
        assert_eq!(row.target, Some(2.42));
        assert_eq!(row.peers["hand"], Some(Figure::single(2.2)));
        assert_eq!(row.peers["lto"], None);
        assert_eq!(row.note, "11.2 x quicker than generic code, 1.09 x the hand-written code's time");
    }

    #[test]
    fn what_hand_written_code_needs_is_not_of_the_known_part() {
        let counts =
            Counts { generic: Some(220.0), lto: Some(120.0), residual: Some(25.0), hand: Some(20.0) };
        let row = instructions_row(&TARGETS[0], &counts);
        assert_eq!(row.drystone.unwrap().value, 97.5);
        assert_eq!(row.peers["lto"].unwrap().value, 50.0);
        assert_eq!(row.miss(), None);
    }
}
