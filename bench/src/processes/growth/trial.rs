//! Trials: processes that measure themselves and write lines of `NAME FIGURE`.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::effort::EFFORT;
use crate::execute::{execute, execute_late};
use crate::places;
use crate::statistics::Figure;

/// The figures of a trial.
pub struct Trial {
    figures: BTreeMap<String, f64>,
    /// The peak of its process's resident bytes.
    pub peak: f64,
}

/// Constants of a program, or options of a map's trial.
pub type Sizes<'a> = &'a [(&'a str, u64)];

impl Trial {
    /// Runs a program of the bench with other constants, and so many bytes of memory (0: all).
    pub fn of_program(name: &str, sizes: Sizes, memory: u64) -> Result<Trial, String> {
        let mut command = child(name, sizes);
        command.args(["--warm", "0", "--memory", &memory.to_string()]);
        if memory > 0 {
            // Running out of memory, as it reports, is expected.
            command.stderr(Stdio::null());
        }
        Trial::of(&mut command)
    }

    /// Runs a program of the bench whose output isn't read for some time.
    pub fn of_unread_program(name: &str, sizes: Sizes, unread: Duration) -> Result<Trial, String> {
        let execution = execute_late(child(name, sizes).arg("--aloud"), 1, EFFORT.limit, unread)?;
        Ok(Trial { figures: figures(&execution.output), peak: 0.0 })
    }

    /// Runs one of Rust's maps.
    pub fn of_map(name: &str, sizes: Sizes) -> Result<Trial, String> {
        let mut command = Command::new(places::executable());
        command.arg("map").arg(name);
        for (option, value) in sizes {
            command.arg(format!("--{}", option.to_lowercase())).arg(value.to_string());
        }
        Trial::of(&mut command)
    }

    fn of(command: &mut Command) -> Result<Trial, String> {
        #[derive(Deserialize)]
        struct Line {
            result: String,
            peak: f64,
        }
        let execution = execute(command, 1, EFFORT.limit)?;
        let line: Line = serde_json::from_str(&execution.output).map_err(|error| error.to_string())?;
        Ok(Trial { figures: figures(&line.result), peak: line.peak })
    }

    /// The figure with that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }
}

/// The command of a program of the bench with other constants.
fn child(name: &str, sizes: Sizes) -> Command {
    let source = places::root().join("bench/programs").join(name).with_extension("dry");
    let mut command = Command::new(places::executable());
    command.arg("child").arg(source);
    for (constant, value) in sizes {
        command.arg("--set").arg(format!("{constant}={value}"));
    }
    command
}

/// The figures in some lines.
fn figures(lines: &str) -> BTreeMap<String, f64> {
    let figures = lines.lines().filter_map(|line| {
        let (name, figure) = line.rsplit_once(' ')?;
        Some((name.to_string(), figure.parse().ok()?))
    });
    figures.collect()
}

/// Repeats a trial for as many rounds and as long as [`EFFORT`] says; none if one fails, which is reported.
pub fn repeated(trial: impl Fn() -> Result<Trial, String>) -> Vec<Trial> {
    let start = Instant::now();
    let mut trials = Vec::new();
    while trials.is_empty() || trials.len() < EFFORT.rounds && start.elapsed() < EFFORT.budget {
        match trial() {
            Ok(trial) => trials.push(trial),
            Err(why) => {
                eprintln!("no figure: {why}");
                return Vec::new();
            }
        }
    }
    trials
}

/// The summary of a figure over several trials.
pub fn figure(trials: &[Trial], name: &str) -> Option<Figure> {
    let samples: Option<Vec<f64>> = trials.iter().map(|trial| trial.get(name)).collect();
    Figure::of(&samples?)
}
