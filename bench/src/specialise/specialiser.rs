//! Runs the specialiser in a process of its own, by a hidden subcommand: a target that fails or takes too long costs
//! only its own row.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;
use drystone_specialise::ir::Module;
use drystone_specialise::{Context, Specialised, c, link, parse, passes};
use drystone_specialise_native as native;
use serde::{Deserialize, Serialize};

use super::shell::{read, write};
use crate::execute::execute;
use crate::places;

/// What is specialised.
#[derive(Args, Clone)]
pub struct Program {
    /// LLVM's text of all layers.
    #[arg(required = true)]
    pub ir: Vec<PathBuf>,
    /// What is known.
    #[arg(long)]
    pub context: PathBuf,
}

/// Makes residual C, and says how long that took.
#[derive(Args)]
pub struct Residual {
    #[command(flatten)]
    program: Program,
    /// Where the C goes.
    #[arg(long)]
    output: PathBuf,
    /// How often it is done.
    #[arg(long)]
    runs: usize,
}

/// Milliseconds of each run.
#[derive(Serialize, Deserialize, Default)]
pub struct Times {
    /// From LLVM text to C.
    pub c: Vec<f64>,
    /// From LLVM text to Cranelift's machine code.
    pub native: Vec<f64>,
}

/// The timeout of all runs of a target.
const LIMIT: Duration = Duration::from_secs(120);

impl Program {
    /// Writes residual C, so many times, in another process.
    pub fn residual(&self, output: &Path, runs: usize) -> Result<Times, String> {
        let mut command = Command::new(places::executable());
        // Passes aren't verified where the time is measured.
        command.env("DRYSTONE_VERIFY_PASSES", "0");
        command.arg("residual").arg("--output").arg(output).args(["--runs", &runs.to_string()]);
        self.add_to(&mut command);
        let said = execute(&mut command, 1, LIMIT)?.output;
        serde_json::from_str(&said).map_err(|error| format!("the specialiser said {said}: {error}"))
    }

    /// Adds it to a subcommand's arguments.
    pub fn add_to(&self, command: &mut Command) {
        command.arg("--context").arg(&self.context).args(&self.ir);
    }

    /// Specialises it in this process.
    pub fn specialise(&self) -> Result<Specialised, String> {
        let context = Context::read(&read(&self.context)?).map_err(|error| error.to_string())?;
        let module = |path: &PathBuf| {
            let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            parse::read(&text, &path.to_string_lossy()).map_err(|error| error.to_string())
        };
        let modules = self.ir.iter().map(module).collect::<Result<Vec<Module>, String>>()?;
        let program = link::link(modules).map_err(|error| error.to_string())?;
        drystone_specialise::specialise(&program, &context).map_err(|error| error.to_string())
    }
}

impl Residual {
    /// Specialises it in this process, and prints [`Times`].
    pub fn run(&self) -> Result<(), String> {
        let mut times = Times::default();
        for run in 0..self.runs {
            let start = Instant::now();
            let Specialised { module, report } = self.program.specialise()?;
            let specialised = start.elapsed();
            let text = c::print(&module).map_err(|error| error.to_string())?;
            times.c.push(milliseconds(start.elapsed()));
            write(&self.output, &text)?;
            if run == 0 {
                for (function, why) in &report.kept {
                    eprintln!("{} stays generic: {why}", function);
                }
            }
            let start = Instant::now();
            let mut module = module;
            passes::polish_for_machine(&mut module);
            // A program that leaves calls to generic code, which isn't loaded here, has no such time.
            if native::load(&module, &|_| None).is_ok() {
                times.native.push(milliseconds(specialised + start.elapsed()));
            }
        }
        println!("{}", serde_json::to_string(&times).expect("times are numbers"));
        Ok(())
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
