//! Measures the release of a lock beside processes that await other conditions.

use super::trial::{Trial, figure, repeated};
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// Numbers of waiting processes, and their golden sections, coprime to them.
const WAITING: [(u64, u64); 4] = [(1, 1), (100, 61), (10_000, 6181), (100_000, 61_803)];

/// The names in the program and in the rows.
const RELEASES: [(&str, &str); 2] =
    [("release", "release beside waiting"), ("wake", "release that wakes one of")];

/// The greatest ratio of the time beside the most processes to that beside the fewest.
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
        // A woken process must be fetched from memory, so it can't be as cheap among many as alone.
        let target = (name == "release").then_some(FLAT);
        tell(Row { drystone: growth, target, ..Row::new(format!("{row}, growth"), "10^5 / 1") })?;
    }
    Ok(())
}
