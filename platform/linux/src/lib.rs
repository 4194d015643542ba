//! A Drystone program as a Linux process. [`run`] runs it. The system's interfaces (language reference, section 8) are
//! files, the console, the clock, a picture, sockets, signals and processes.
//!
//! All waiting is done in one place, the [reactor](drystone_reactor). Each interface is a native component's service in
//! a module of its own. This crate doesn't know how programs are compiled or scheduled.

pub mod bindings;
mod console;
mod control;
mod disk;
mod environment;
mod error_output;
mod file_system;
mod files;
mod folders;
mod guest;
mod host_process;
mod names;
mod network;
mod outlet;
mod own_bindings;
mod picture;
mod platform;
mod procedures;
mod processes;
pub mod processor;
mod questions;
mod quit;
mod signals;
mod standard;
mod start;
mod system;
mod system_time;
mod threads;
mod window;

use std::path::PathBuf;

pub use drystone_component::Program;
pub use drystone_kortex::Addition;
use drystone_kortex::interfaces;
use drystone_kortex::system::lines;
pub use drystone_runtime::{Outcome, native};
pub use host_process::{run, run_quietly};
pub use procedures::carried;
pub use start::start;

/// How a program runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Workers; 0: one for each processor.
    pub cores: usize,
    /// Most bytes for the program's components and processes; 0: no limit.
    pub memory: usize,
    /// For tests: lends components to other workers all the time, whatever that costs. `DRYSTONE_RESTLESS=1` asks for
    /// it.
    pub is_restless: bool,
    /// The seed of `RANDOM`; `None`: a new one in each run.
    pub seed: Option<u64>,
    /// Writes figures about the run to standard error at its end.
    pub stats: bool,
    /// Where the picture is saved as PNG when the program has ended, if it draws one.
    pub graphics: Option<PathBuf>,
    /// A Unix socket for inspecting and changing the running program.
    pub control: Option<PathBuf>,
    /// Width and height of the picture in pixels.
    pub size: (usize, usize),
    /// Extra crates, with what they add.
    pub additions: &'static [&'static Addition],
    /// Directory for files that the current directory doesn't have: the program's source directory.
    pub source_directory: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arguments: Vec::new(),
            cores: 0,
            memory: 0,
            is_restless: std::env::var_os("DRYSTONE_RESTLESS").is_some_and(|value| value == "1"),
            seed: None,
            stats: false,
            graphics: None,
            control: None,
            size: (640, 480),
            additions: &[],
            source_directory: None,
        }
    }
}
