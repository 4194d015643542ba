//! `interpret [--seed N] [--capacity N] [--steps N] FILE.dry.. [-- ARGUMENT..]`: runs a program with the reference
//! interpreter. The exit status is as for the compiled program: 1 after a run-time error, 2 after compile errors,
//! otherwise the program's own status.

use std::io::{Read, Write};
use std::process::ExitCode;

use drystone_language::source::SourceFile;
use drystone_language::{check, imports};
use drystone_tests::reference::{self, End, Options};

fn main() -> ExitCode {
    let mut options = Options { max_steps: u64::MAX, ..Options::default() };
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
        let known = match argument.as_str() {
            "--seed" => number().map(|n| options.seed = n),
            "--capacity" => number().map(|n| options.capacity = (n as usize).max(1)),
            "--steps" => number().map(|n| options.max_steps = n),
            "--" => {
                options.arguments = arguments.collect();
                break;
            }
            path => std::fs::read_to_string(path)
                .ok()
                .map(|text| files.push(SourceFile { path: path.into(), text })),
        };
        if known.is_none() {
            eprintln!("{argument}: not a number or not a file");
            return ExitCode::from(2);
        }
    }
    if files.is_empty() {
        eprintln!("interpret [--seed N] [--capacity N] [--steps N] FILE.dry.. [-- ARGUMENT..]");
        return ExitCode::from(2);
    }
    let files = imports::load(files, |path| std::fs::read_to_string(path).ok());
    let program = match check::check(&files, check::Options::default()) {
        Ok(program) => program,
        Err(errors) => {
            for error in errors {
                let file = &files[error.span.file as usize];
                let (line, column) = file.line_column(error.span.start);
                eprintln!(
                    "{}:{line}:{column}: {} [{}] {}",
                    file.path, error.message, error.code, error.label
                );
            }
            return ExitCode::from(2);
        }
    };
    if program.components.iter().any(|one| {
        one.requires.iter().any(|facet| program.interfaces[facet.interface.index()].name == "Console")
    }) {
        let _ = std::io::stdin().read_to_end(&mut options.input);
    }
    let outcome = reference::run(&program, &options);
    let _ = std::io::stdout().write_all(&outcome.output);
    for failure in &outcome.contained {
        eprintln!("{}", failure.describe(&files));
    }
    match outcome.end {
        End::Finished => ExitCode::SUCCESS,
        End::Halted(status) => ExitCode::from(status as u8),
        End::Failed(failure) => {
            eprintln!("{}", failure.describe(&files));
            ExitCode::from(1)
        }
        End::OutOfSteps => {
            eprintln!("out of steps");
            ExitCode::from(1)
        }
    }
}
