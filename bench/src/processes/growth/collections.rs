//! Measures a collection's operations and memory, from a hundred elements to ten million, beside Rust's maps.

use super::trial::{Sizes, Trial};
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// A kind of keys.
pub struct Kind {
    /// Its name in the rows.
    pub name: &'static str,
    /// Its number in the program.
    number: u64,
    factor: u64,
    /// The bytes of key and element; for a text, its characters.
    pub needed: f64,
    /// How many of [`COUNTS`] are measured.
    counts: usize,
    /// By how much operations are repeated, because they are so quick.
    repeats: u64,
}

/// Odd, and so large that consecutive keys are far apart.
const SCATTERED: u64 = 168_357_264_991;

/// The kinds that are measured.
pub const KINDS: [Kind; 4] = [
    Kind { name: "dense", number: 0, factor: 1, needed: 16.0, counts: 6, repeats: 4 },
    Kind { name: "sparse", number: 0, factor: SCATTERED, needed: 16.0, counts: 6, repeats: 1 },
    Kind { name: "pairs", number: 1, factor: SCATTERED, needed: 24.0, counts: 6, repeats: 1 },
    // The numbers below 2^40 have 11.99 digits on average.
    Kind { name: "texts", number: 2, factor: SCATTERED, needed: 20.0, counts: 5, repeats: 1 },
];

/// A number of elements.
struct Count {
    n: u64,
    /// The golden section of n, coprime to n.
    step: u64,
    rounds: u64,
}

/// From the fewest to the most.
const COUNTS: [Count; 6] = [
    Count { n: 100, step: 61, rounds: 40_000 },
    Count { n: 1000, step: 617, rounds: 4000 },
    Count { n: 10_000, step: 6181, rounds: 300 },
    Count { n: 100_000, step: 61_803, rounds: 10 },
    Count { n: 1_000_000, step: 618_033, rounds: 1 },
    Count { n: 10_000_000, step: 6_180_339, rounds: 1 },
];

/// The most elements that are looked up and deleted.
const TOUCHED: u64 = 300_000;
/// The least number of elements whose memory is measured: many small collections, if necessary.
const ALIVE: u64 = 1_000_000;
/// The clock of Rust's maps is finer than that of programs by this factor.
const FINER: u64 = 8;

/// The times that are measured.
pub const TIMES: [&str; 6] = ["insert", "lookup", "first visit", "visit", "lookup in order", "delete"];
/// The sizes that are measured: before and after the first ordered visit.
pub const MEMORY: [&str; 2] = ["bytes", "bytes in order"];
/// The maps that are peers.
pub const MAPS: [&str; 2] = ["btreemap", "hashmap"];

/// The promised ratio of memory to what the elements need.
const PROMISE: f64 = 2.0;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    for kind in &KINDS {
        let mut rows = Vec::new();
        for count in &COUNTS[..kind.counts] {
            for row in times(kind, count).into_iter().chain(memory(kind, count)) {
                rows.push(row.clone());
                tell(row)?;
            }
        }
        for what in TIMES {
            tell(growth(kind, what, &rows))?;
        }
    }
    Ok(())
}

/// The row of a kind, a number of elements, and what is measured.
pub fn row_of(kind: &Kind, n: u64, what: &str) -> String {
    format!("collection {n} {}: {what}", kind.name)
}

/// The row of a time's growth.
pub fn growth_of(kind: &Kind, what: &str) -> String {
    format!("collection growth {}: {what}", kind.name)
}

/// A kind's numbers of elements, ascending.
pub fn counts_of(kind: &Kind) -> impl Iterator<Item = u64> {
    COUNTS[..kind.counts].iter().map(|count| count.n)
}

fn times(kind: &Kind, count: &Count) -> Vec<Row> {
    let rounds = if count.rounds == 1 { 1 } else { count.rounds * kind.repeats };
    let known = told(program(kind, count, rounds, &[]));
    let rounds = rounds.div_ceil(FINER);
    let maps = MAPS.map(|map| (map, told(Trial::of_map(map, &sizes(kind, count, rounds)))));
    let rows = TIMES.iter().map(|what| {
        let figure = |trial: &Option<Trial>| trial.as_ref()?.get(what).map(Figure::single);
        let peers = maps.iter().map(|(map, trial)| (*map, figure(trial))).collect();
        Row { drystone: figure(&known), peers, ..Row::new(row_of(kind, count.n, what), "ns") }
    });
    rows.collect()
}

fn memory(kind: &Kind, count: &Count) -> Vec<Row> {
    let alive = (ALIVE / count.n).max(1);
    let figure = |trial: Result<Trial, String>| told(trial)?.get("bytes").map(Figure::single);
    let mut options = sizes(kind, count, 1);
    options.push(("alive", alive));
    let maps = MAPS.map(|map| (map, figure(Trial::of_map(map, &options))));
    let rows = match count.n <= ALIVE {
        true => vec![(MEMORY[0], 1, &maps[..]), (MEMORY[1], 2, &maps[..1])],
        // Collections of so many elements are always in order.
        false => vec![(MEMORY[1], 2, &maps[..])],
    };
    let rows = rows.into_iter().map(|(what, measure, maps)| {
        let drystone = figure(program(kind, count, 1, &[("Alive", alive), ("Measure", measure)]));
        let (peers, target) = (maps.iter().copied().collect(), Some(PROMISE * kind.needed));
        Row { drystone, peers, target, ..Row::new(row_of(kind, count.n, what), "bytes") }
    });
    rows.collect()
}

/// The ratio of the times with the most and with the fewest elements.
fn growth(kind: &Kind, what: &str, rows: &[Row]) -> Row {
    let find = |n| rows.iter().find(|row| row.row == row_of(kind, n, what)).expect("it was measured");
    let (few, many) = (COUNTS[0].n, COUNTS[kind.counts - 1].n);
    let ratio = |few: Option<Figure>, many: Option<Figure>| Some(Figure::single(many?.value / few?.value));
    let (first, last) = (find(few), find(many));
    let peers = first.peers.iter().map(|(&map, &few)| (map, ratio(few, last.peers[map])));
    let unit = if many == 10_000_000 { "10^7 / 10^2" } else { "10^6 / 10^2" };
    Row {
        drystone: ratio(first.drystone, last.drystone),
        peers: peers.collect(),
        ..Row::new(growth_of(kind, what), unit)
    }
}

fn program(kind: &Kind, count: &Count, rounds: u64, more: Sizes) -> Result<Trial, String> {
    let constants = [("Kind", kind.number), ("Factor", kind.factor), ("N", count.n)];
    let steps = [("Touched", count.n.min(TOUCHED)), ("Step", count.step), ("Rounds", rounds)];
    Trial::of_program("collections", &[&constants[..], &steps, more].concat(), 0)
}

fn sizes(kind: &Kind, count: &Count, rounds: u64) -> Vec<(&'static str, u64)> {
    let keys = [("kind", kind.number), ("factor", kind.factor), ("n", count.n)];
    let steps = [("touched", count.n.min(TOUCHED)), ("step", count.step), ("rounds", rounds)];
    [keys, steps].concat()
}

fn told(trial: Result<Trial, String>) -> Option<Trial> {
    trial.map_err(|why| eprintln!("no figure: {why}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_reach_all_elements() {
        for Count { n, step, .. } in COUNTS {
            let (mut a, mut b) = (n, step);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            assert_eq!(a, 1, "{n}");
        }
    }

    #[test]
    fn a_text_has_as_many_characters_as_are_said_to_be_needed() {
        let texts = &KINDS[3];
        let digits: usize = (0..100_000).map(|i| (i * texts.factor % (1 << 40)).to_string().len()).sum();
        let needed = digits as f64 / 1e5 + 8.0;
        assert!((needed - texts.needed).abs() < 0.1, "{needed}");
    }
}
