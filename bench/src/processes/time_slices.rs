//! Measures the checks for the end of a time slice (section 3.2 of *structured concurrent programs* (Bläser)): the
//! instructions of a run with them and without them, counted by Valgrind.

use std::process::{Command, Stdio};

use super::programs::Program;
use crate::places;

/// The part of the checks in a program's instructions, in percent.
pub fn cost(program: &Program) -> Result<f64, String> {
    let (with, without) = (instructions(program, &[])?, instructions(program, &["--without-time-slices"])?);
    Ok(100.0 * (with - without) / without)
}

/// The instructions of one run, without compiling.
fn instructions(program: &Program, options: &[&str]) -> Result<f64, String> {
    Ok(count(program, options, 1)? - count(program, options, 0)?)
}

fn count(program: &Program, options: &[&str], runs: usize) -> Result<f64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(places::executable()).arg("child").arg(program.source()).args(program.settings());
    command.args(["--warm", "0", "--runs", &runs.to_string()]).args(options).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("valgrind (apt-get install valgrind): {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {}: {told}", program.row, output.status));
    }
    let collected = told.lines().find_map(|line| line.split_once("Collected :"));
    collected.and_then(|(_, number)| number.trim().parse().ok()).ok_or_else(|| format!("no count: {told}"))
}
