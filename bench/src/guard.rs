//! Guards the instruction counts of a few kernels and of a call of a component in Rust. It counts the instructions of
//! one operation of each, and fails if a count has grown without a new record. `./test` runs it, so a commit that makes
//! something dearer also records it.
//!
//! Instructions hardly differ from run to run, even on busy machines. Another processor, C library or version of
//! Valgrind changes them a little: the margin allows for that.

mod comparison;
mod kernel;
mod record;

use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;

use crate::{native, places};
use comparison::has_grown;
use kernel::Counter;
use record::Counts;

/// How often a kernel is counted before its growth is believed.
const TRIES: usize = 3;

/// The record's file, beside the kernels.
const RECORD: &str = "instructions.json";

const HINT: &str = "If that is meant, record it in the same commit:

    cargo run --release -p drystone-bench -- guard --bless
";

/// What is counted, and what becomes of the counts.
#[derive(Args)]
pub struct Guard {
    /// Records the counts: then they may be what they are.
    #[arg(long)]
    bless: bool,
    /// Where the kernels are, with their record.
    #[arg(long, value_name = "FOLDER", default_value_os_t = places::kernels())]
    kernels: PathBuf,
}

impl Guard {
    /// Counts, shows, and compares or records.
    pub fn run(self) -> Result<(), String> {
        let path = self.kernels.join(RECORD);
        let recorded = record::read(&path)?;
        let now = count(&self.kernels, &recorded)?;
        print!("{}", comparison::table(&recorded, &now));
        if self.bless {
            eprintln!("recorded in {}", path.display());
            return record::write(&path, &now);
        }
        comparison::check(&recorded, &now).map_err(|failed| format!("{failed}\n{HINT}"))
    }
}

fn count(folder: &Path, recorded: &Counts) -> Result<Counts, String> {
    let counter = Counter::new()?;
    let kernels = kernel::all(folder)?;
    let watched = if folder == places::kernels() { &native::WATCHED[..] } else { &[] };
    let of = |name: &str, count: &dyn Fn() -> Result<f64, String>| {
        Ok((name.to_string(), least(recorded.get(name).copied(), count)?))
    };
    // All at once: other load doesn't change the number of instructions.
    thread::scope(|scope| {
        let mut counting = Vec::new();
        for kernel in &kernels {
            counting.push(scope.spawn(|| of(&kernel.name, &|| counter.operation(kernel))));
        }
        for (name, call) in watched {
            counting.push(scope.spawn(|| of(name, &|| call.instructions().map(record::rounded))));
        }
        counting.into_iter().map(|count| count.join().expect("counting doesn't panic")).collect()
    })
}

/// The least of some counts, because disturbances only add to them. The first will do if it isn't above its record.
fn least(recorded: Option<f64>, mut count: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    let mut least = count()?;
    for _ in 1..TRIES {
        if recorded.is_none_or(|recorded| !has_grown(recorded, least)) {
            break;
        }
        least = least.min(count()?);
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_recorded() {
        let kernels = kernel::all(&places::kernels()).unwrap().into_iter().map(|kernel| kernel.name);
        let mut counted: Vec<_> =
            kernels.chain(native::WATCHED.iter().map(|(name, _)| name.to_string())).collect();
        counted.sort();
        let recorded = record::read(&places::kernels().join(RECORD)).unwrap();
        assert!(counted.iter().eq(recorded.keys()));
    }

    fn least_of(recorded: Option<f64>, counts: &[f64]) -> (f64, usize) {
        let mut counted = 0;
        let least = least(recorded, || {
            counted += 1;
            Ok(counts[counted - 1])
        });
        (least.unwrap(), counted)
    }

    #[test]
    fn a_count_that_is_not_above_its_record_is_believed() {
        assert_eq!(least_of(Some(100.0), &[104.0]), (104.0, 1));
        assert_eq!(least_of(None, &[104.0]), (104.0, 1));
    }

    #[test]
    fn a_disturbed_count_is_made_again() {
        assert_eq!(least_of(Some(100.0), &[120.0, 101.0]), (101.0, 2));
    }

    #[test]
    fn what_has_grown_stays_so() {
        assert_eq!(least_of(Some(100.0), &[120.0, 119.0, 121.0]), (119.0, 3));
    }
}
