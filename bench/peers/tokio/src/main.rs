//! Tokio peers of Drystone's programs, in two manners: `mirror` has the same structure, a task for each component's
//! activity and for each service, a channel for each direction of a communication and locks with conditions for
//! monitors; `best` gets the same results in the quickest way.
//!
//! ```text
//! peers PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]
//! ```
//!
//! Every measured run (after one to warm up, or as many as -warm says) prints a line of JSON: the results, the number
//! of messages and the time of the work itself. A wrong result ends the command with status 1. Where a Drystone
//! protocol ends with a message of its own, the mirrors may drop the sender instead, and count that as the message it
//! stands for.

mod arguments;
mod best;
mod json;
mod mirror;
mod monitor;
mod processes;
mod program;
mod sql;

use std::process::exit;
use std::time::{Duration, Instant};

use mimalloc::MiMalloc;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::arguments::Arguments;
use crate::program::Program;

// Quicker than the system's, and smaller.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const PROGRAMS: [Program; 13] = [
    mirror::producer_consumer::PROGRAM,
    mirror::eratosthenes::PROGRAM,
    mirror::token_ring::PROGRAM,
    mirror::city::PROGRAM,
    mirror::news::PROGRAM,
    mirror::library::PROGRAM,
    mirror::mandelbrot::PROGRAM,
    processes::CREATION,
    sql::INSERT,
    sql::SELECT,
    sql::ROWS,
    json::PARSE,
    json::WRITE,
];

/// What measures something else than the time of a run.
type Measure = fn(&Runtime, &Arguments) -> Result<Value, String>;
const COMMANDS: [(&str, Measure); 1] = [("bytes", processes::bytes_per_process)];

fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let program = PROGRAMS.iter().find(|program| program.name == name);
    let command = COMMANDS.iter().find(|(command, _)| *command == name);
    if program.is_none() && command.is_none() {
        usage("which program?");
    }
    let arguments = Arguments::parse(words).unwrap_or_else(|problem| usage(&problem));
    let runtime = runtime(arguments.cores());
    let done = match (program, command) {
        (Some(program), _) => measure(program, &runtime, &arguments),
        (_, Some((_, command))) => {
            command(&runtime, &arguments).map(|figures| println!("{}", with_name(&name, &arguments, figures)))
        }
        _ => unreachable!("one of them was found"),
    };
    if let Err(problem) = done {
        eprintln!("{name}: {problem}");
        exit(1);
    }
    exit(0) // and not by the end of every live task
}

fn usage(problem: &str) -> ! {
    let programs = PROGRAMS.iter().map(|program| program.name);
    let names: Vec<_> = programs.chain(COMMANDS.iter().map(|(command, _)| *command)).collect();
    eprintln!(
        "{problem}\nusage: peers PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]; programs: {}",
        names.join(" ")
    );
    exit(2)
}

/// One processor needs no workers that steal from each other.
fn runtime(cores: usize) -> Runtime {
    let mut builder = match cores {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(cores).build().expect("threads can be started")
}

fn measure(program: &Program, runtime: &Runtime, arguments: &Arguments) -> Result<(), String> {
    let sizes = arguments.sizes(program.sizes)?;
    let work = match best::of(program.name) {
        Some(best) if arguments.best => best,
        _ => program.mirror,
    };
    for run in 1..=arguments.warm + arguments.runs {
        let (outcome, time) = timed(runtime, work(&sizes));
        let outcome = outcome?;
        if run > arguments.warm {
            let line = json!({
                "run": run - arguments.warm, "ms": milliseconds(time),
                "messages": outcome.messages, "result": outcome.result,
            });
            println!("{}", with_name(program.name, arguments, line));
        }
    }
    Ok(())
}

/// The work's result and its time; what it left, as tasks that have yet to notice that they are alone, is not timed.
fn timed<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
) -> (T, Duration) {
    runtime.block_on(async {
        let start = Instant::now();
        // A task of its own, as the runtime's own thread would have to be woken for each message.
        let result = tokio::spawn(work).await.expect("the work doesn't panic");
        let time = start.elapsed();
        while runtime.metrics().num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
        (result, time)
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn with_name(name: &str, arguments: &Arguments, mut line: Value) -> Value {
    line["program"] = json!(name);
    line["cores"] = json!(arguments.cores());
    line
}
