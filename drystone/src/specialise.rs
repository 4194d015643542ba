//! `drystone specialise`: layered C code, as LLVM IR, to code without the layers.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use drystone_specialise::evaluate::Report;
use drystone_specialise::ir::Module;
use drystone_specialise::{Context, Specialised, c, explain, link, parse, print, specialise};

use super::arguments::Specialise;
use super::{Status, WRONG, fail, say, tell};

/// Specialises a program and writes what is left of it.
pub fn run(command: &Specialise) -> Result<(), Status> {
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

fn write(command: &Specialise, residual: &Specialised) -> Result<(), Status> {
    let as_ir =
        command.output.as_ref().is_some_and(|output| output.extension().is_some_and(|kind| kind == "ll"));
    let text =
        if as_ir { print::print(&residual.module) } else { c::print(&residual.module).map_err(fail)? };
    match &command.output {
        Some(output) => save(output, &text),
        None => {
            tell(text.trim_end());
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

/// Says on standard error what was left generic, and how much was gained.
fn summary(context: &Context, report: &Report) {
    say(format_args!(
        "{}: {} instructions evaluated, {} left\n",
        context.entry, report.evaluated, report.residual
    ));
    for loop_and_reason in &report.spent {
        say(format_args!("  not unrolled: {loop_and_reason}\n"));
    }
    for (name, reason) in &report.kept {
        say(format_args!("  calls of {name} are left: {reason}\n"));
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
    WRONG
}
