//! The reference interpreter: the meaning of a program, written for clarity only.
//!
//! Every process is an asynchronous walk over the checked tree (`statements`, `expressions`), so that the code reads
//! like an ordinary evaluator. At each `await` the process may wait or be preempted. `scheduler` runs one randomly
//! chosen ready process at a time. The state that processes share is plain data in `world`. Every change wakes the
//! waiting processes that it may concern, and they test again. Time is virtual.
//!
//! `outcome`, `identity` and `value` use no other module. `links`, `communication`, `monitor`, `names` and `scope`
//! define the records that `world` holds; `connections`, `communications`, `naming` and `locking` define the operations
//! on them.

use drystone_language::program::Program;

mod arithmetic;
mod carried;
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
mod select;
mod statements;
mod system;
mod value;
mod world;

pub use outcome::{End, Failure, Kind, Options, Outcome};

/// Runs a program from its entry to its end.
pub fn run(program: &Program, options: &Options) -> Outcome {
    // While they are resumed, procedures that call themselves nest on this thread's stack, for one process at a time.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(2 << 30)
            .spawn_scoped(scope, || scheduler::run(&world::World::new(program, options)))
            .expect("a thread for the interpreter")
            .join()
            .expect("the interpreter does not panic")
    })
}
