//! Runs a program of the component language again and again in this process, compiled once, and prints a line of JSON
//! for each measured run: what the peers print too.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use drystone_compiler::TimeSlices;
use drystone_language::check;
use drystone_language::imports;
use drystone_language::render::{self, Colour};
use drystone_language::source::SourceFile;
use drystone_linux::Options;

use crate::memory;

/// What is run, and how often.
#[derive(Args)]
pub struct Child {
    /// The program.
    file: PathBuf,
    /// Workers.
    #[arg(long, default_value_t = 1)]
    cores: usize,
    /// Runs before those that are measured.
    #[arg(long, default_value_t = 1)]
    warm: usize,
    /// Measured runs.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// Most bytes for the program's components and processes; 0: as much as there is.
    #[arg(long, default_value_t = 0)]
    memory: usize,
    /// Gives a constant of the program another value.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// What the program asks for by `Arguments`.
    #[arg(long, value_name = "TEXT")]
    argument: Vec<OsString>,
    /// Leaves the checks for the end of a time slice out.
    #[arg(long)]
    without_time_slices: bool,
    /// Runs it once, and lets it write to standard output itself.
    #[arg(long)]
    aloud: bool,
}

impl Child {
    /// A run's time is that of its work: from the beginning of the first component until all memory is freed.
    pub fn run(self) -> Result<(), String> {
        let time_slices = if self.without_time_slices { TimeSlices::LeftOut } else { TimeSlices::Kept };
        let program = compile(&self.file, &self.set, time_slices)?;
        let source_directory = self.file.parent().map(PathBuf::from);
        let arguments = self.argument.into_iter().map(OsString::into_vec).collect();
        let options = Options {
            arguments,
            cores: self.cores,
            memory: self.memory,
            source_directory,
            ..Options::default()
        };
        if self.aloud {
            return succeeded(&self.file, drystone_linux::run(program, options).into());
        }
        for run in 0..self.warm + self.runs {
            let start = Instant::now();
            let (outcome, output) = drystone_linux::run_quietly(program, &options)?;
            let ms = start.elapsed().as_secs_f64() * 1000.0;
            succeeded(&self.file, outcome.status)?;
            if run >= self.warm {
                let result = String::from_utf8_lossy(&output);
                let line = serde_json::json!({
                    "ms": ms, "messages": outcome.messages, "result": result, "peak": memory::peak()?,
                });
                println!("{line}");
            }
        }
        Ok(())
    }
}

/// A server, and where it listens.
#[derive(Args)]
pub struct Serve {
    /// The program.
    file: PathBuf,
    /// Workers.
    #[arg(long, default_value_t = 1)]
    cores: usize,
    /// What the program asks for by `Arguments` before the address.
    #[arg(long, value_name = "TEXT")]
    argument: Vec<OsString>,
    /// Where it is to be reached, as the program has it.
    address: String,
}

impl Serve {
    /// Comes back if the program ends.
    pub fn run(self) -> Result<(), String> {
        let program = compile(&self.file, &[], TimeSlices::Kept)?;
        let words = self.argument.into_iter().map(OsString::into_vec);
        let arguments = words.chain([self.address.into_bytes()]).collect();
        let options = Options { arguments, cores: self.cores, ..Options::default() };
        succeeded(&self.file, drystone_linux::run(program, options).into())
    }
}

fn succeeded(file: &Path, status: i64) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{}: status {status}", file.display())) }
}

fn compile(
    path: &Path,
    sizes: &[String],
    time_slices: TimeSlices,
) -> Result<&'static drystone_linux::Program, String> {
    let mut text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    for size in sizes {
        let (name, value) = size.split_once('=').ok_or_else(|| format!("{size}: not NAME=VALUE"))?;
        text = with_constant(&text, name, value)
            .ok_or_else(|| format!("{}: no constant {name}", path.display()))?;
    }
    let main = SourceFile { path: path.display().to_string(), text };
    let files = imports::load(vec![main], |path| std::fs::read_to_string(path).ok());
    let program = check::check(&files, check::Options::default())
        .map_err(|errors| render::render(&files, &errors, Colour::Plain))?;
    Ok(drystone_compiler::compile(&program, &files, time_slices))
}

/// The program with another value for a constant, which must have a line `NAME = VALUE;` of its own.
pub fn with_constant(text: &str, name: &str, value: &str) -> Option<String> {
    let mut found = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let old = line.trim_start().strip_prefix(name).and_then(|rest| rest.trim_start().strip_prefix('='));
        match old.and_then(|rest| rest.split_once(';')) {
            Some((_, rest)) if !found => {
                found = true;
                format!("{name} = {value};{rest}")
            }
            _ => line.to_string(),
        }
    });
    let text = lines.collect();
    found.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_gets_another_value() {
        let text = "CONSTANT\n  N = 1;  (* a *)\n  NN = 2;\n";
        assert_eq!(with_constant(text, "N", "5").unwrap(), "CONSTANT\nN = 5;  (* a *)\n  NN = 2;\n");
        assert_eq!(with_constant(text, "NN", "5").unwrap(), "CONSTANT\n  N = 1;  (* a *)\nNN = 5;\n");
        assert_eq!(with_constant(text, "K", "5"), None);
    }
}
