//! SIGQUIT (Ctrl-\ in a terminal) shows on standard error what each process of the program waits for, and the program
//! goes on. It asks the same questions as inspection does, so it works without a control socket, and while all
//! processes compute.
//!
//! # Soundness
//!
//! The signal handler sets a flag and ends the home worker's wait by a system call; both are async-signal-safe. A waker
//! isn't freed while a handler may use it: its owner first removes it from the static, then waits for running handlers.
//! The runtime calls questions with its home worker, on whose thread this runs, while the scheduler has control.

use std::fmt::Write;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::{hint, mem};

use drystone_runtime::inspect::{Activity, Component, inspect};
use drystone_runtime::layout::Worker;
use drystone_runtime::native::platform;
use drystone_runtime::platform::Question;

/// Most components that are shown.
const MOST: usize = 10_000;

/// The signal has come.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Ends the home worker's wait; null: no program runs.
static WAKER: AtomicPtr<mio::Waker> = AtomicPtr::new(null_mut());

/// The number of running handlers.
static HANDLERS: AtomicUsize = AtomicUsize::new(0);

/// Answers the signal until it is dropped.
pub(crate) struct Quit {
    waker: Arc<mio::Waker>,
}

impl Quit {
    /// Handles the signal from now on, unless it was ignored.
    pub(crate) fn expect(waker: Arc<mio::Waker>) -> Quit {
        WAKER.store(Arc::as_ptr(&waker).cast_mut(), Ordering::SeqCst);
        // SAFETY: a valid structure, and an async-signal-safe handler.
        unsafe {
            let mut known: libc::sigaction = mem::zeroed();
            libc::sigaction(libc::SIGQUIT, null_mut(), &mut known);
            if known.sa_sigaction != libc::SIG_IGN {
                let mut wanted: libc::sigaction = mem::zeroed();
                wanted.sa_sigaction = come as *const () as libc::sighandler_t;
                wanted.sa_flags = libc::SA_RESTART;
                libc::sigaction(libc::SIGQUIT, &wanted, null_mut());
            }
        }
        Quit { waker }
    }

    /// Whether the signal has come and was not answered yet.
    pub(crate) fn is_asked(&self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }

    /// The question for the signal, if it has come.
    pub(crate) fn asked(&self) -> Option<Question> {
        if !self.is_asked() || !ASKED.swap(false, Ordering::Acquire) {
            return None;
        }
        // SAFETY: see the head of this file.
        Some(Box::new(|worker| unsafe { (*platform(worker)).report(processes(worker).as_bytes()) }))
    }
}

impl Drop for Quit {
    fn drop(&mut self) {
        // Another program may have set its own waker meanwhile.
        let own = Arc::as_ptr(&self.waker).cast_mut();
        let _ = WAKER.compare_exchange(own, null_mut(), Ordering::SeqCst, Ordering::SeqCst);
        while HANDLERS.load(Ordering::SeqCst) != 0 {
            hint::spin_loop();
        }
    }
}

/// The signal's handler.
extern "C" fn come(_: libc::c_int) {
    ASKED.store(true, Ordering::Release);
    // SAFETY: see the head of this file. What the thread was doing doesn't see another error number.
    unsafe {
        let error = libc::__errno_location();
        let kept = *error;
        HANDLERS.fetch_add(1, Ordering::SeqCst);
        if let Some(waker) = WAKER.load(Ordering::SeqCst).as_ref() {
            let _ = waker.wake();
        }
        HANDLERS.fetch_sub(1, Ordering::SeqCst);
        *error = kept;
    }
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
