//! The program behind `drystone specialise`: turns layered C code, as LLVM IR, into code without the layers.
//!
//! Exit status 2: the command line, the context or the program is wrong; 1: a later error.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use clap::{Parser, ValueHint};
use drystone_specialise::evaluate::Report;
use drystone_specialise::ir::Module;
use drystone_specialise::{Context, Specialised, c, explain, link, parse, print, specialise};

/// Collapse the layers of C code for what is known of a call
///
/// The program is given as LLVM IR text: `clang-16 -O1 -g -fno-discard-value-names -emit-llvm -S` of each C file.
/// The context is a TOML file that names the function and says what is known of its arguments and of memory.
#[derive(Parser)]
#[command(version, bin_name = "drystone specialise")]
struct Command {
    /// LLVM IR files; together they are the program
    #[arg(required = true, value_name = "FILE.ll", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// What is known
    #[arg(short, long, value_name = "CONTEXT.toml", value_hint = ValueHint::FilePath)]
    context: PathBuf,
    /// Where to write the residual program: C, or LLVM IR if OUT ends in .ll [default: C, to standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Also write what became of each line of the source (listing.txt) and what was copied where (copies.svg)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    explain: Option<PathBuf>,
    /// How long it may take until the generic function is called instead [default: 10, or what the context says]
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// How much memory what is known may take, such as 500M [default: 2000 MB, or what the context says]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<usize>,
}

/// Evaluated calls nest on the stack; unused stack memory costs nothing.
const STACK: usize = 256 << 20;

/// The exit status after an error, which has been reported.
struct Status(u8);

fn main() -> ExitCode {
    let command = Command::parse();
    let worker = thread::Builder::new().name("specialise".into()).stack_size(STACK);
    match worker.spawn(move || run(&command)).map(|thread| thread.join()) {
        Ok(Ok(done)) => done.map_or_else(|Status(status)| ExitCode::from(status), |()| ExitCode::SUCCESS),
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => ExitCode::from(fail(format_args!("no memory for the stack: {error}")).0),
    }
}

/// Specialises a program and writes the residual program.
fn run(command: &Command) -> Result<(), Status> {
    let context = read(&command.context)?;
    let mut context = Context::read(&context).map_err(|error| wrong(&command.context, error))?;
    context.budget.seconds = command.seconds.unwrap_or(context.budget.seconds);
    context.budget.memory = command.memory.map_or(context.budget.memory, |bytes| bytes as u64);
    let program = program(&command.files, context.budget.memory)?;
    let residual = specialise(&program, &context).map_err(|error| wrong(&command.context, error))?;
    write(command, &residual)?;
    if let Some(folder) = &command.explain {
        explain_in(folder, &program, &residual.report)?;
    }
    summary(&context, &residual.report);
    Ok(())
}

fn program(files: &[PathBuf], memory: u64) -> Result<Module, Status> {
    let mut modules = Vec::new();
    for file in files {
        let text = read(file)?;
        modules.push(parse::read_within(&text, &file.display().to_string(), memory).map_err(refused)?);
    }
    link::link(modules).map_err(refused)
}

fn write(command: &Command, residual: &Specialised) -> Result<(), Status> {
    let as_ir =
        command.output.as_ref().is_some_and(|output| output.extension().is_some_and(|kind| kind == "ll"));
    let text =
        if as_ir { print::print(&residual.module) } else { c::print(&residual.module).map_err(fail)? };
    match &command.output {
        Some(output) => save(output, &text),
        None => {
            // The reader of the output may have gone.
            let _ = io::stdout().write_all(text.as_bytes());
            Ok(())
        }
    }
}

/// Writes the listing and the picture.
fn explain_in(folder: &Path, program: &Module, report: &Report) -> Result<(), Status> {
    fs::create_dir_all(folder).map_err(|error| fail(format_args!("{}: {error}", folder.display())))?;
    let source = |file: &str| fs::read_to_string(file).ok();
    save(&folder.join("listing.txt"), &explain::listing(program, report, &source))?;
    save(&folder.join("copies.svg"), &explain::picture(report))
}

/// Reports on standard error which code was left generic, and how much was gained.
fn summary(context: &Context, report: &Report) {
    say(format_args!(
        "{}: {} instructions evaluated, {} left",
        context.entry, report.evaluated, report.residual
    ));
    for loop_and_reason in &report.spent {
        say(format_args!("  not unrolled: {loop_and_reason}"));
    }
    for (name, reason) in &report.kept {
        say(format_args!("  calls of {name} are left: {reason}"));
    }
}

fn read(file: &Path) -> Result<String, Status> {
    fs::read_to_string(file).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            wrong(file, "this is no text; `clang -O1 -emit-llvm -S` writes LLVM IR as text")
        }
        _ => wrong(file, error),
    })
}

fn save(file: &Path, text: &str) -> Result<(), Status> {
    fs::write(file, text).map_err(|error| fail(format_args!("{}: {error}", file.display())))
}

fn wrong(file: &Path, error: impl std::fmt::Display) -> Status {
    refused(format_args!("{}: {error}", file.display()))
}

fn refused(error: impl std::fmt::Display) -> Status {
    fail(error);
    Status(2)
}

fn fail(message: impl std::fmt::Display) -> Status {
    say(format_args!("error: {message}"));
    Status(1)
}

/// Writes a line to standard error; a failure is ignored.
fn say(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// `512M` as a number of bytes.
fn bytes(text: &str) -> Result<usize, String> {
    let unit = match text.bytes().last().map(|last| last.to_ascii_uppercase()) {
        Some(b'K') => 1 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        _ => 1,
    };
    let digits = if unit == 1 { text } else { &text[..text.len() - 1] };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "a number of bytes, such as 512M or 1G, is needed".to_string())
}
