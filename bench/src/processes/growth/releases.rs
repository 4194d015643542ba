//! What a release of a lock takes beside processes that await something of their own.

use super::trial::{Trial, figure, repeated};
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// How many await, and their golden section, without a common divisor with it.
const WAITING: [(u64, u64); 4] = [(1, 1), (100, 61), (10_000, 6181), (100_000, 61_803)];

/// What is measured, as the program and as the rows name it.
const RELEASES: [(&str, &str); 2] =
    [("release", "release beside waiting"), ("wake", "release that wakes one of")];

/// How many times longer it may take beside the most than beside the fewest.
const FLAT: f64 = 1.5;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    let trials =
        WAITING.map(|(n, step)| repeated(|| Trial::of_program("release", &[("N", n), ("Step", step)], 0)));
    for (name, row) in RELEASES {
        let figures = trials.each_ref().map(|trials| figure(trials, name));
        for ((n, _), figure) in WAITING.iter().zip(figures) {
            tell(Row { drystone: figure, ..Row::new(format!("{row} {n}"), "ns") })?;
        }
        let [first, .., last] = figures;
        let growth = first.zip(last).map(|(first, last)| Figure::single(last.value / first.value));
        // Whoever is woken has to be got from memory, so that among many it cannot be as cheap as alone.
        let target = (name == "release").then_some(FLAT);
        tell(Row { drystone: growth, target, ..Row::new(format!("{row}, growth"), "10^5 / 1") })?;
    }
    Ok(())
}
