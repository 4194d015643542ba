//! Measures a process among a thousand, and up to ten million.

use super::trial::{Trial, figure, repeated};
use crate::contender::Runs;
use crate::processes::bench::{Bench, Heading};
use crate::processes::programs::Program;
use crate::processes::programs::growing::{SIZES, Size};
use crate::row::{Better, Row, Tell};
use crate::statistics::Figure;

/// The total number of servers, over several runs, to have enough to measure.
const SERVERS: u64 = 3_000_000;
/// Servers one after another: so many beforehand, and then so many that are measured.
const BEFOREHAND: usize = 100_000;
const MEASURED: usize = 200_000;

/// The most memory of ten million live servers with all of their process.
const MOST_MIB: f64 = 1024.0;

/// Measures row after row.
pub fn measure(bench: &Bench, tell: Tell) -> Result<(), String> {
    for size in &SIZES {
        let n = u64::from(size.n);
        let lives = repeated(|| Trial::of_program("life", &[("N", n), ("Rounds", (SERVERS / n).max(1))], 0));
        tell(bytes(bench, size, &lives))?;
        tell(creation(bench, size))?;
        for phase in ["create", "message", "delete"] {
            let row = format!("growth {n}: {phase}");
            tell(Row { drystone: figure(&lives, phase), ..Row::new(row, "ns") })?;
        }
        if n == 10_000_000 {
            let bytes = MOST_MIB * f64::from(1 << 20) / n as f64;
            let row = Row::new("ten million: bytes per process".into(), "bytes");
            tell(Row { drystone: figure(&lives, "bytes"), target: Some(bytes), ..row })?;
            let peak = lives.iter().map(|life| life.peak / f64::from(1 << 20)).max_by(f64::total_cmp);
            let row = Row::new("ten million: peak of the whole process".into(), "MiB");
            tell(Row { drystone: peak.map(Figure::single), target: Some(MOST_MIB), ..row })?;
        }
    }
    Ok(())
}

/// Resident bytes of each live server.
fn bytes(bench: &Bench, size: &Size, lives: &[Trial]) -> Row {
    let known: Vec<f64> = lives.iter().filter_map(|life| life.get("bytes")).collect();
    bench.row(heading(&size.bytes, "bytes"), |who| match who.name {
        "drystone" if known.is_empty() => Err("its servers did not live".into()),
        "drystone" => Ok(known.clone()),
        _ => who.bytes(&size.bytes, 1, bench.effort.limit).map(|bytes| vec![bytes]),
    })
}

/// Nanoseconds to make, ask and delete a server, one after another.
fn creation(bench: &Bench, size: &Size) -> Row {
    let n = size.n as usize;
    let runs =
        Runs { cores: 1, warm: BEFOREHAND / n, measured: (MEASURED / n).max(1), limit: bench.effort.limit };
    bench.row(heading(&size.creation, "ns"), |who| {
        let times = who.warm(&size.creation, runs)?;
        Ok(times.iter().map(|ms| ms * 1e6 / n as f64).collect())
    })
}

fn heading<'a>(program: &'a Program, unit: &'static str) -> Heading<'a> {
    Heading { row: program.row.into(), cores: 1, unit, better: Better::Lower, program, target: None }
}
