//! The reference interpreter: what a program means, written for clarity only.
//!
//! Every process is an asynchronous walk over the checked tree (`statements`, `expressions`), so the code reads like an
//! ordinary evaluator; at each `await` the process may wait or be preempted. `scheduler` runs one randomly chosen ready
//! process at a time. What processes share is plain data in `world`; a process that waits is woken by every change that
//! may concern it, and looks again. Time is virtual.
//!
//! `outcome`, `identity` and `value` know nothing else; `links`, `communication`, `monitor`, `names` and `scope` are
//! the records that `world` holds; `connections`, `communications`, `naming` and `locking` are what is done to them.

use drystone_language::program::Program;

mod arithmetic;
mod communication;
mod communications;
mod connecting;
mod connections;
mod containers;
mod expressions;
mod identity;
mod lifetime;
mod links;
mod locking;
mod messages;
mod monitor;
mod names;
mod naming;
mod outcome;
mod process;
mod scheduler;
mod scope;
mod statements;
mod system;
mod value;
mod world;

pub use outcome::{End, Failure, Kind, Options, Outcome};

/// Runs a program from its entry to its end.
pub fn run(program: &Program, options: &Options) -> Outcome {
    // Procedures that call themselves nest on this thread's stack while they are resumed. One process at a time.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(2 << 30)
            .spawn_scoped(scope, || scheduler::run(&world::World::new(program, options)))
            .expect("a thread for the interpreter")
            .join()
            .expect("the interpreter does not panic")
    })
}
