//! Tables I to III, V and VI and section V-D of *ASHs* (Wallach), measured by a program of `drystone-stack`.

use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::execute::{execute, processors};
use crate::places;
use crate::row::Tell;
use crate::row::{Better, Row};
use crate::statistics::Figure;

/// The timeout of that program.
const LIMIT: Duration = Duration::from_secs(900);

/// The targets: the paper's figures if they are instructions or ratios, otherwise the savings that handlers are to
/// give.
const TARGETS: [(&str, f64); 7] = [
    ("generic write", 68.0),
    ("specific write", 38.0),
    ("sandbox 40", 1.1),
    ("sandbox 4096", 1.01),
    ("tcp latency, aborts", 0.2),
    ("tcp throughput, aborts", 0.2),
    ("tcp small segments, aborts", 0.2),
];

/// A line of that program's output.
#[derive(Deserialize)]
struct Told {
    row: String,
    who: String,
    unit: String,
    values: Vec<f64>,
}

/// Measures row after row.
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
        // The leaked names are few.
        row.peers.insert(told.who.leak(), figure);
    }
}

fn begun(told: &Told) -> Row {
    let target = TARGETS.iter().find(|(row, _)| *row == told.row).map(|(_, target)| *target);
    let better = if told.unit == "MB/s" { Better::Higher } else { Better::Lower };
    Row { cores: 2, better, target, ..Row::new(told.row.clone(), told.unit.clone().leak()) }
}
