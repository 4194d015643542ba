//! The paper's Tables I to III, V and VI, and its section V-D: `drystone-stack` has a program that measures them.

use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::execute::{execute, processors};
use crate::places;
use crate::row::Tell;
use crate::row::{Better, Row};
use crate::statistics::Figure;

/// For all of it.
const LIMIT: Duration = Duration::from_secs(900);

/// What is to be reached: the paper's figures, where they are instructions or shares, or what the issue of handlers is
/// to save.
const TARGETS: [(&str, f64); 7] = [
    ("generic write", 68.0),
    ("specific write", 38.0),
    ("sandbox 40", 1.1),
    ("sandbox 4096", 1.01),
    ("tcp latency, aborts", 0.2),
    ("tcp throughput, aborts", 0.2),
    ("tcp small segments, aborts", 0.2),
];

/// A line of that program's.
#[derive(Deserialize)]
struct Told {
    row: String,
    who: String,
    unit: String,
    values: Vec<f64>,
}

/// Tells the rows.
pub fn rows(tell: Tell) -> Result<(), String> {
    let program = places::example("drystone-stack", "figures")?;
    let output = execute(&mut Command::new(program), processors(), LIMIT)?.output;
    let mut rows: Vec<Row> = Vec::new();
    for line in output.lines() {
        match serde_json::from_str(line) {
            Ok(told) => enter(&mut rows, told),
            Err(_) => eprintln!("{line}"),
        }
    }
    rows.into_iter().try_for_each(tell)
}

fn enter(rows: &mut Vec<Row>, told: Told) {
    let place = rows.iter().position(|row| row.row == told.row).unwrap_or_else(|| {
        rows.push(begun(&told));
        rows.len() - 1
    });
    let (row, figure) = (&mut rows[place], Figure::of(&told.values));
    if told.who == "drystone" {
        row.drystone = figure;
    } else {
        // There are a few, until the program ends.
        row.peers.insert(told.who.leak(), figure);
    }
}

fn begun(told: &Told) -> Row {
    let target = TARGETS.iter().find(|(row, _)| *row == told.row).map(|(_, target)| *target);
    let better = if told.unit == "MB/s" { Better::Higher } else { Better::Lower };
    Row { cores: 2, better, target, ..Row::new(told.row.clone(), told.unit.clone().leak()) }
}
