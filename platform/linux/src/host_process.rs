//! The life of the Linux process: its setup before a program runs, and its clean-up afterwards.
//!
//! # Soundness
//!
//! The system calls get constants and a valid structure. The runtime asks for the system on its home worker's thread,
//! with that worker.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::time::Instant;

use drystone_component::Program;
use drystone_runtime::Outcome;
use drystone_runtime::platform::Platform;

use crate::platform::{Linux, Output};
use crate::signals::{Signals, end_by};
use crate::{Options, bindings, guest, procedures, standard, system};

/// Runs a program to its end. Returns the process's exit status: that of the program, or 2 if the system can't offer
/// what it requires.
///
/// From then on SIGPIPE is ignored, and the limit on open files is raised as far as allowed. Everything that the
/// program has written is on standard output when it waits, and when this returns. A signal that ends the program ends
/// the process, too, after that. SIGQUIT shows what its processes wait for.
pub fn run(program: &'static Program, options: Options) -> i32 {
    let start = Instant::now();
    let failed = |message| {
        let _ = writeln!(io::stderr(), "error: {message}");
    };
    match try_run(program, &options, start, Output::Standard) {
        Ok(run) => {
            if options.stats {
                report(&run.outcome, start);
            }
            let status = match run.remains {
                Ok(()) => run.outcome.status as i32,
                Err(message) => {
                    failed(message);
                    1
                }
            };
            if let Some(signal) = run.ended_by {
                end_by(signal);
            }
            status
        }
        Err(message) => {
            failed(message);
            2
        }
    }
}

/// Runs a program as [`run`] does, but keeps its standard output. Returns the run's figures and that output. It may be
/// called again and again. An error says why the program couldn't start, or what failed at its end.
pub fn run_quietly(program: &'static Program, options: &Options) -> Result<(Outcome, Vec<u8>), String> {
    let run = try_run(program, options, Instant::now(), Output::Kept(Vec::new()))?;
    run.remains?;
    match run.output {
        Output::Kept(output) => Ok((run.outcome, output)),
        Output::Standard => unreachable!("the output stays what it is"),
    }
}

/// The results of a run.
struct Run {
    outcome: Outcome,
    output: Output,
    /// Failures at the end.
    remains: Result<(), String>,
    /// The signal that has ended the program.
    ended_by: Option<i32>,
}

fn try_run(
    program: &'static Program,
    options: &Options,
    start: Instant,
    output: Output,
) -> Result<Run, String> {
    settle();
    procedures::bind(program, options.additions)?;
    let signals: fn(&_) -> _ = match output {
        Output::Standard => Signals::expect,
        Output::Kept(_) => Signals::none,
    };
    let bindings = |reactor: &_| bindings::all(program, options, reactor, guest::run);
    let mut platform = Linux::new(start, output, options, signals, bindings)?;
    let (reactor, signals) = (platform.reactor.clone(), platform.signals().clone());
    let (kind, system, remains) = system::make(program, options, &platform, start)?;
    let cores = if options.cores == 0 { platform.threads().processors() } else { options.cores };
    let memory_limit = if options.memory == 0 { usize::MAX } else { options.memory };
    let seed = options.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    // The runtime asks for each interface until it has a component that offers it.
    let mut system = Some(system);
    let mut find = |worker, _: &str| {
        // SAFETY: see the head of this file.
        system.take().map(|system| unsafe { kind.instance(worker, Box::new(system)) })
    };
    let runtime_options = drystone_runtime::Options {
        cores,
        memory_limit,
        seed,
        is_restless: options.is_restless,
        system: &mut find,
    };
    let outcome = drystone_runtime::run(program, &mut platform, runtime_options);
    signals.over();
    let remains = remains.finish(options);
    reactor.finish();
    reactor.abandon();
    Ok(Run { outcome, output: platform.end(), remains, ended_by: signals.ended_by() })
}

/// Prints figures about a run.
fn report(outcome: &Outcome, start: Instant) {
    let Outcome { processes, live_processes, messages, switches, away, lent, peak_bytes, live_bytes, .. } =
        outcome;
    let _ = writeln!(
        io::stderr(),
        "time {:.3} ms, processes {processes} ({live_processes} at the end), messages {messages}, \
         switches {switches}, runs elsewhere {away}, components elsewhere {lent}, \
         memory {peak_bytes} bytes ({live_bytes} at the end)",
        start.elapsed().as_secs_f64() * 1000.0
    );
}

/// Freed bytes that the allocator keeps.
#[cfg(target_env = "gnu")]
const KEPT: i32 = 4 << 20;

/// Prepares the process for programs with very many connections.
fn settle() {
    standard::fill();
    // SAFETY: see the head of this file.
    unsafe {
        // A peer that has gone is an error of the write, and doesn't end the process.
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        let mut files = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut files) == 0 {
            files.rlim_cur = files.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &files);
        }
        // Long texts that come and go stay with the allocator: getting memory from the kernel each time costs more than
        // copying them.
        #[cfg(target_env = "gnu")]
        for threshold in [libc::M_TRIM_THRESHOLD, libc::M_MMAP_THRESHOLD] {
            libc::mallopt(threshold, KEPT);
        }
    }
}
