//! The `drystone` command: dispatches each subcommand to its module.
//!
//! Exit statuses: 2 for errors in the command line or a program's text, 1 for later errors, otherwise the program's
//! own.

mod add;
mod arguments;
mod cargo;
mod carried;
mod check;
mod control;
mod describe;
mod emulator;
mod executable;
mod fmt;
mod graph;
mod handler;
mod hosted;
mod image;
mod library;
mod linker;
mod lock;
mod new;
mod origin;
mod output;
mod own;
mod packages;
mod project;
mod run;
mod sizes;
mod sources;
mod system;
mod test;
mod tool;
mod with;

use std::process::ExitCode;
use std::thread;

use clap::Parser;

use arguments::{Action, Command};
use output::{Status, fail};

/// Checker and compiler recurse into nested constructs; unused stack costs nothing.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let action = Command::parse().action;
    let worker = thread::Builder::new().name("drystone".into()).stack_size(STACK);
    let status = match worker.spawn(|| act(action)).map(|thread| thread.join()) {
        Ok(Ok(status)) => status,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => fail(format_args!("no memory for the compiler's stack: {error}")).0,
    };
    ExitCode::from(status as u8)
}

fn act(action: Action) -> i32 {
    let done = match action {
        Action::Run(command) => return run::run(command).unwrap_or_else(|Status(status)| status),
        Action::Check(command) => check::check(command.source),
        Action::Build(command) => executable::build(command),
        Action::Fmt(command) => fmt::fmt(&command),
        Action::Graph(command) => graph::graph(command),
        Action::Describe(command) => describe::describe(&command),
        Action::Inspect(command) => control::inspect(&command),
        Action::Rebind(command) => control::rebind(&command),
        Action::New(command) => new::make(&command),
        Action::Test(command) => test::test(&command),
        Action::Add(command) => add::add(&command),
        Action::Remove(command) => add::remove(&command),
        Action::Specialise { arguments } => Err(tool::specialise(&arguments)),
        Action::Libraries { folder } => own::libraries(&folder),
        Action::Handler(command) => handler::handler(command.action),
    };
    done.map_or_else(|Status(status)| status, |()| 0)
}
