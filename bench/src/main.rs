//! Every figure that Drystone quotes comes out of this command, measured beside its peers in the same run:
//!
//! ```text
//! cargo run --release -p drystone-bench -- SUBJECT [--quick] [--json]
//! ```
//!
//! The subjects are `processes`, `bindings`, `composite`, `handlers`, `kernel`, `specialise` and `services`.
//! Without options it measures in full and rewrites `docs/figures/SUBJECT.md` and its plots. `--quick` measures the
//! headline rows only, within two minutes; `--json` prints a line for each row and nothing else on standard output.
//! What goes on, and what goes wrong, is told on standard error. `all` measures all subjects in full, and `ages` has
//! each page say whether what it measures has changed since.
//!
//! What must not grow unnoticed is guarded, in instructions:
//!
//! ```text
//! cargo run --release -p drystone-bench -- guard [--bless]
//! ```

mod age;
mod bindings;
mod chart;
mod child;
mod composite;
mod contender;
mod curves;
mod execute;
mod guard;
mod handlers;
mod kernel;
mod load;
mod machine;
mod maps;
mod memory;
mod native;
mod object;
mod packages;
mod page;
mod peers;
mod places;
mod plot;
mod processes;
mod readme;
mod row;
mod server;
mod services;
mod specialise;
mod statistics;
mod turns;
mod valgrind;
mod words;

use std::io::{self, Write};
use std::process::{self, ExitCode};

use clap::{Args, Parser, Subcommand};
use page::Page;
use row::Row;

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
    Processes(Processes),
    /// What a message costs over each binding, paper on THINK.
    Bindings(Extent),
    /// Programs that somebody sent: making them ready, and running them; paper on composite calls.
    Composite(Composite),
    /// Code that runs where messages arrive, paper on ASHs.
    Handlers(Extent),
    /// What a kernel's primitives cost, in instructions, paper on THINK.
    Kernel(Extent),
    /// The specialiser on real layered C, paper on copy elimination by program specialisation.
    Specialise(Extent),
    /// Web services with a database.
    Services(Extent),
    /// All of these, one after the other, for pages of one day and one commit.
    All,
    /// Has each page say whether it is older than what it measures.
    Ages(age::Ages),
    /// Counts the instructions of a few kernels, and fails if one takes more than 5 % more than recorded.
    Guard(guard::Guard),
    /// Calls between components in Rust over a local binding, beside Rust's own.
    Native(native::Calls),
    /// Runs one program again and again in this process; the other subcommands start it.
    #[command(hide = true)]
    Child(child::Child),
    /// Runs a server until it is ended; `processes` starts it.
    #[command(hide = true)]
    Serve(child::Serve),
    /// Measures one of Rust's maps in this process; `processes` starts it.
    #[command(hide = true)]
    Map(maps::Trial),
    /// Specialises a program again and again in this process; `specialise` starts it.
    #[command(hide = true)]
    Residual(specialise::Residual),
    /// Measures machine code of this process beside others; `specialise` starts it.
    #[command(hide = true)]
    Inside(specialise::Inside),
    /// Runs a program in one of Drystone's engines; `composite` starts it.
    #[command(hide = true)]
    Engine(composite::Engine),
    /// A client of Drystone's servers; `composite` starts it.
    #[command(hide = true)]
    Ship(composite::Ship),
    /// A network with delay; `composite` starts it.
    #[command(hide = true)]
    Relay(composite::Relay),
    /// Runs a composite call in one of its forms; `composite` starts it.
    #[command(hide = true)]
    Form(composite::Form),
    /// Two processes talk by what Linux offers them; `bindings` starts it.
    #[command(hide = true)]
    Crossing(bindings::Crossing),
    /// A client in a network namespace of its own; `handlers` starts it.
    #[command(hide = true)]
    Near(handlers::Near),
    /// Its server, in another one.
    #[command(hide = true)]
    Far(handlers::Far),
    /// A server that adds; `handlers` starts it.
    #[command(hide = true)]
    Increment(handlers::Increment),
    /// What Linux's primitives cost, in instructions.
    #[command(hide = true)]
    Linux,
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
}

#[derive(Args, Clone, Copy)]
struct Processes {
    #[command(flatten)]
    extent: Extent,
    /// Only these rows, for who works on them.
    #[arg(long, hide = true)]
    only: Option<processes::Group>,
}

#[derive(Args, Clone, Copy)]
struct Composite {
    #[command(flatten)]
    extent: Extent,
    /// Only these rows, for who works on them.
    #[arg(long, hide = true)]
    only: Option<composite::Group>,
}

fn main() -> ExitCode {
    let done = match Command::parse().subject {
        Subject::Processes(what) => processes(what),
        Subject::Bindings(extent) => {
            let effort = if extent.quick { bindings::Effort::QUICK } else { bindings::Effort::FULL };
            plain(extent, &mut |tell| bindings::measure(effort, tell), bindings::page)
        }
        Subject::Composite(what) => composite(what),
        Subject::Engine(engine) => engine.run(),
        Subject::Ship(ship) => ship.run(),
        Subject::Relay(relay) => relay.run(),
        Subject::Form(form) => form.run(),
        Subject::Crossing(crossing) => crossing.run(),
        Subject::Handlers(extent) => {
            let effort = if extent.quick { handlers::Effort::QUICK } else { handlers::Effort::FULL };
            plain(extent, &mut |tell| handlers::measure(effort, tell), handlers::page)
        }
        Subject::Kernel(extent) => {
            plain(extent, &mut |tell| kernel::measure(!extent.quick, tell), kernel::page)
        }
        Subject::Near(near) => near.run(),
        Subject::Far(far) => far.run(),
        Subject::Increment(increment) => increment.run(),
        Subject::Specialise(extent) => specialise(extent),
        Subject::Services(extent) => {
            let effort = if extent.quick { services::Effort::QUICK } else { services::Effort::FULL };
            plain(extent, &mut |tell| services::measure(effort, tell), services::page)
        }
        Subject::All => all(),
        Subject::Ages(ages) => ages.run(),
        Subject::Guard(guard) => guard.run(),
        Subject::Native(calls) => calls.run(),
        Subject::Child(child) => child.run(),
        Subject::Serve(serve) => serve.run(),
        Subject::Map(trial) => trial.run(),
        Subject::Residual(residual) => residual.run(),
        Subject::Inside(inside) => inside.run(),
        Subject::Linux => kernel::linux::print(),
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

/// Each subject in a process of its own, as it is measured alone. What fails keeps no other from being measured.
fn all() -> Result<(), String> {
    let mut failed = Vec::new();
    for (subject, _) in age::SUBJECTS {
        eprintln!("== {subject}");
        let status = process::Command::new(places::executable()).arg(subject).status();
        if !status.is_ok_and(|status| status.success()) {
            failed.push(subject);
        }
    }
    age::mark()?;
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn processes(Processes { extent, only }: Processes) -> Result<(), String> {
    let effort = if extent.quick { processes::Effort::QUICK } else { processes::Effort::FULL };
    let rows = extent.rows(&mut |tell| processes::measure(effort, only, tell))?;
    let sections = processes::sections(&rows)?;
    if only.is_some() && !extent.json {
        print!("{}{}", page::table(&rows), page::told(&sections));
    } else if extent.is_for_page() {
        page::write(&processes::page(&rows, &sections), &rows)?;
        readme::write(&rows)?;
    }
    extent.end(&rows)
}

fn composite(Composite { extent, only }: Composite) -> Result<(), String> {
    let effort = if extent.quick { composite::Effort::QUICK } else { composite::Effort::FULL };
    let rows = extent.rows(&mut |tell| composite::measure(effort, only, tell))?;
    let sections = composite::sections(&rows)?;
    if only.is_some() && !extent.json {
        print!("{}", page::told(&sections));
    } else if extent.is_for_page() {
        page::write(&composite::page(&rows, &sections), &rows)?;
    }
    extent.end(&rows)
}

fn specialise(extent: Extent) -> Result<(), String> {
    let effort = if extent.quick { specialise::Effort::QUICK } else { specialise::Effort::FULL };
    let rows = extent.rows(&mut |tell| specialise::measure(effort, tell))?;
    let sections = specialise::sections(&rows)?;
    if extent.is_for_page() {
        page::write(&specialise::page(&rows, &sections), &rows)?;
    }
    extent.end(&rows)
}

/// A subject whose rows are measured alike whatever is asked for, and whose page needs nothing else.
fn plain(extent: Extent, measure: Measure, page: fn(&[Row]) -> Page<'_>) -> Result<(), String> {
    let rows = extent.rows(measure)?;
    if extent.is_for_page() {
        page::write(&page(&rows), &rows)?;
    }
    extent.end(&rows)
}

/// Measures, and tells each row that it is given.
type Measure<'a> = &'a mut dyn FnMut(&mut dyn FnMut(Row) -> Result<(), String>) -> Result<(), String>;

impl Extent {
    /// All rows, each told as soon as it is there.
    fn rows(self, measure: Measure) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        let mut output = io::stdout();
        measure(&mut |row| {
            eprintln!("{row}");
            if self.json {
                // Line by line: whoever reads it sees how far it has come.
                writeln!(output, "{}", row.json()).map_err(|error| error.to_string())?;
            }
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn is_for_page(self) -> bool {
        !self.json && !self.quick
    }

    /// Prints the table if that is all that is asked for; failure if Drystone failed in some row.
    fn end(self, rows: &[Row]) -> Result<(), String> {
        if self.quick && !self.json {
            print!("{}", page::table(rows));
        }
        let failed: Vec<_> =
            rows.iter().filter(|row| row.drystone.is_none()).map(|row| row.row.as_str()).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("Drystone failed in {}", failed.join(", "))) }
    }
}
