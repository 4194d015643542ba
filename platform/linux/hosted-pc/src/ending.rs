//! How the machine ends, and what is written then.

use std::io::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::ports::Ports;

/// The status of a program that the system had to end.
const FATAL: i32 = 101;

static PORTS: AtomicPtr<Ports> = AtomicPtr::new(null_mut());

/// From now on, output that these ports still hold is written before the machine stops. The ports stay.
pub fn flush_at_end(ports: *mut Ports) {
    PORTS.store(ports, Relaxed);
}

/// Ends the machine with a status.
pub fn end(status: i32) -> ! {
    std::process::exit(status)
}

/// Stops the machine, with the reason.
pub fn stop(why: &str) -> ! {
    // SAFETY: the machine's ports stay for ever, and there is one thread: see the head of the crate.
    if let Some(ports) = unsafe { PORTS.load(Relaxed).as_mut() } {
        ports.flush();
    }
    let _ = writeln!(std::io::stderr(), "error: {why}");
    end(FATAL)
}
