//! Every figure that Drystone quotes comes out of this command, measured beside its peers in the same run:
//!
//! ```text
//! cargo run --release -p drystone-bench -- processes [--quick] [--json]
//! ```
//!
//! Without options it measures in full and rewrites `docs/figures/processes.md` and its plots. `--quick` measures the
//! headline rows only, within two minutes; `--json` prints a line for each row and nothing else on standard output.
//! What goes on, and what goes wrong, is told on standard error.
//!
//! What must not grow unnoticed is guarded, in instructions:
//!
//! ```text
//! cargo run --release -p drystone-bench -- guard [--bless]
//! ```

mod chart;
mod child;
mod contender;
mod curves;
mod execute;
mod guard;
mod machine;
mod maps;
mod memory;
mod page;
mod peers;
mod places;
mod processes;
mod readme;
mod row;
mod statistics;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Measures Drystone beside its peers.
#[derive(Parser)]
#[command(version)]
struct Command {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// Processes and messages, programs of the paper on structured concurrent programs.
    Processes(Extent),
    /// Counts the instructions of a few kernels, and fails if one takes more than 5 % more than recorded.
    Guard(guard::Guard),
    /// Runs one program again and again in this process; the other subcommands start it.
    #[command(hide = true)]
    Child(child::Child),
    /// Measures one of Rust's maps in this process; `processes` starts it.
    #[command(hide = true)]
    Map(maps::Trial),
    /// Keeps a processor busy.
    #[command(hide = true)]
    Busy,
}

/// How much is measured, and how it is told.
#[derive(Args, Clone, Copy)]
struct Extent {
    /// Only the headline rows, within two minutes.
    #[arg(long)]
    quick: bool,
    /// An object a line for each row on standard output, instead of a page.
    #[arg(long)]
    json: bool,
    /// Only how cost grows, for who works on that.
    #[arg(long, hide = true)]
    growth: bool,
}

fn main() -> ExitCode {
    let done = match Command::parse().subject {
        Subject::Processes(extent) => processes(extent),
        Subject::Guard(guard) => guard.run(),
        Subject::Child(child) => child.run(),
        Subject::Map(trial) => trial.run(),
        Subject::Busy => {
            processes::busy::run();
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn processes(extent: Extent) -> Result<(), String> {
    let effort = if extent.quick { processes::Effort::QUICK } else { processes::Effort::FULL };
    let mut rows = Vec::new();
    let mut output = io::stdout();
    let mut tell = |row: row::Row| {
        eprintln!("{row}");
        if extent.json {
            // Line by line: whoever reads it sees how far it has come.
            writeln!(output, "{}", row.json()).map_err(|error| error.to_string())?;
        }
        rows.push(row);
        Ok(())
    };
    match extent.growth {
        true => processes::growth::measure_alone(&mut tell)?,
        false => processes::measure(effort, &mut tell)?,
    }
    let sections = processes::growth::sections(&rows)?;
    match (extent.json, extent.quick) {
        (true, _) => {}
        (false, _) if extent.growth => {
            page::write_plots(&sections)?;
            print!("{}", page::told(&sections));
        }
        (false, true) => print!("{}", page::table(&rows)),
        (false, false) => {
            page::write("processes", processes::TITLE, &processes::notes(), &rows, &sections)?;
            readme::write(&rows)?;
        }
    }
    let failed: Vec<_> =
        rows.iter().filter(|row| row.drystone.is_none()).map(|row| row.row.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("Drystone failed in {}", failed.join(", "))) }
}
