//! The `drystone` command.

mod sources;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Programs put together from components.
#[derive(Parser)]
#[command(version)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Compile a program and run it.
    Run(Run),
    /// Say what is wrong with a program, without running it.
    Check(Check),
}

#[derive(Args)]
struct Check {
    /// Source files; several are one program.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The component that starts.
    #[arg(long)]
    entry: Option<String>,
}

#[derive(Args)]
struct Run {
    /// Source files (.dry; several are one program), then the program's arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    files: Vec<String>,
    /// The component that starts.
    #[arg(long)]
    entry: Option<String>,
    /// Processors to use; 0: all.
    #[arg(long, default_value_t = 0)]
    cores: usize,
    /// Print figures about the run.
    #[arg(long)]
    stats: bool,
}

fn main() -> ExitCode {
    let command = Command::parse();
    let status = match command.action {
        Action::Run(run) => run.start(),
        Action::Check(check) => sources::load(&check.files, check.entry.as_deref()).map_or_else(|status| status, |_| 0),
    };
    ExitCode::from(status as u8)
}

impl Run {
    fn start(self) -> i32 {
        let sources = self.files.iter().take_while(|file| file.ends_with(".dry")).count().max(1);
        let paths: Vec<PathBuf> = self.files[..sources].iter().map(PathBuf::from).collect();
        let (program, files) = match sources::load(&paths, self.entry.as_deref()) {
            Ok(loaded) => loaded,
            Err(status) => return status,
        };
        let compiled = drystone_compiler::compile(&program, &files);
        let options = drystone_linux::Options {
            arguments: self.files[sources..].iter().map(|argument| argument.clone().into_bytes()).collect(),
            cores: self.cores,
            stats: self.stats,
            source_directory: paths[0].parent().map(PathBuf::from),
            ..drystone_linux::Options::default()
        };
        drystone_linux::run(compiled, options)
    }
}
