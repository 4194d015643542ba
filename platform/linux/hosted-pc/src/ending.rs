//! How the machine ends.

use std::io::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::ports::Ports;

/// As the status of a program that the system had to end.
const FATAL: i32 = 101;

static PORTS: AtomicPtr<Ports> = AtomicPtr::new(null_mut());

/// From now on what these have not said yet is said before the machine is stopped. They stay.
pub fn flush_at_end(ports: *mut Ports) {
    PORTS.store(ports, Relaxed);
}

/// Ends the machine.
pub fn end(status: i32) -> ! {
    std::process::exit(status)
}

/// Says why it can't go on, and ends it.
pub fn stop(why: &str) -> ! {
    // SAFETY: those of the machine stay for ever, and there is one thread: see the head of the crate.
    if let Some(ports) = unsafe { PORTS.load(Relaxed).as_mut() } {
        ports.flush();
    }
    let _ = writeln!(std::io::stderr(), "error: {why}");
    end(FATAL)
}
