//! A program that keeps a processor busy beside a measurement.

use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::places;

/// Runs until it is dropped.
pub struct Busy(Child);

impl Busy {
    /// Starts it.
    pub fn start() -> Result<Busy, String> {
        let child = Command::new(places::executable()).arg("busy").stdin(Stdio::null()).spawn();
        child.map(Busy).map_err(|error| format!("the busy program: {error}"))
    }

    /// Starts several.
    pub fn several(number: usize) -> Result<Vec<Busy>, String> {
        (0..number).map(|_| Busy::start()).collect()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Computes for some minutes at most, in case it is never ended.
pub fn run() {
    // Its parent may be killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let start = std::time::Instant::now();
    while start.elapsed().as_secs() < 600 {
        for _ in 0..1_000_000 {
            std::hint::spin_loop();
        }
    }
}
