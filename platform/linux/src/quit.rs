//! SIGQUIT (Ctrl-\ in a terminal) shows on standard error what each process of the program waits for, and the program
//! goes on. It asks the same questions as inspection does, so it works without a control socket, and while all
//! processes compute.
//!
//! # Soundness
//!
//! The runtime calls questions with its home worker, on whose thread this runs, while the scheduler has control.

use std::fmt::Write;

use drystone_runtime::inspect::{Activity, Component, inspect};
use drystone_runtime::layout::Worker;
use drystone_runtime::native::platform;

/// Most components that are shown.
const MOST: usize = 10_000;

/// Shows the program's processes.
pub(crate) fn show(worker: *mut Worker) {
    let processes = processes(worker);
    // SAFETY: see the head of this file.
    unsafe { (*platform(worker)).report(processes.as_bytes()) };
}

/// A line for each process of the program.
fn processes(worker: *mut Worker) -> String {
    // SAFETY: see the head of this file.
    let snapshot = unsafe { inspect(worker, MOST) };
    let count: usize = snapshot.components.iter().map(|component| component.processes.len()).sum();
    let mut text = format!("{count} processes in {} components:\n", snapshot.components.len());
    for component in &snapshot.components {
        for process in &component.processes {
            let _ = writeln!(text, "  {}", line(component, process));
        }
    }
    if snapshot.more > 0 {
        let _ = writeln!(text, "and those of {} components more", snapshot.more);
    }
    text
}

/// Such as `at city.dry:12:3 in City.post, interface Letters, which waits for a message from City.house[17]`.
fn line(component: &Component, process: &Activity) -> String {
    let at = process.at.trim_start();
    let place = if at.is_empty() { String::from("in ") } else { format!("{at} in ") };
    let runs = match process.what {
        "BEGIN" | "FINALLY" => format!(", {}", process.what),
        interface => format!(", interface {interface}"),
    };
    let waits = if process.waits_for.is_empty() { ", which can run" } else { process.waits_for };
    let whom = match process.whom.as_str() {
        "" => String::new(),
        whom if waits.ends_with("a message") => format!(" from {whom}"),
        whom => format!(" by {whom}"),
    };
    format!("{place}{}{runs}{waits}{whom}", component.path)
}
