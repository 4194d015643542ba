//! The part of a worker's data that the lower floors know: its heap, the run-time errors that it has recorded, and
//! components without a holder. [`Worker::own`] leads to it; the `home` module adds the rest.
//!
//! # Why this is sound
//! Only a worker's own thread touches it, except for `attention`, which is atomic.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::{null, null_mut};
use core::sync::atomic::Ordering::Relaxed;

use drystone_component::Interface;

use crate::heap::Heap;
use crate::layout::{Fault, Instance, OTHER, Process, TICK, Worker};

/// What [`Worker::own`] begins with.
pub struct Ground {
    /// Its memory.
    pub heap: Heap,
    /// Run-time errors that the scheduler has to handle.
    pub failures: Vec<Failure>,
    /// `HALT`
    pub halted: Option<i64>,
    /// Components without a holder that the scheduler deletes next.
    pub dropped: VecDeque<*mut Instance>,
    /// Components of bindings, which have no holder; the program doesn't end before they do.
    pub kept: BTreeSet<*mut Instance>,
    /// Runs other processes while one is in a long call. None where there are none.
    pub let_others_run: Option<unsafe fn(*mut Worker, *mut Process)>,
}

/// What a [`Failure`] asks of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A run-time error.
    Error,
    /// A component without a holder is to be ended by force: see [`crate::failure::abandon`].
    Abandoned,
    /// A service goes on no further: see [`crate::failure::stop`].
    Stopped,
}

/// A process that can't go on.
#[derive(Clone)]
pub struct Failure {
    /// The process; null if the end of a component failed.
    pub process: *mut Process,
    /// Its component.
    pub instance: *mut Instance,
    /// The error.
    pub fault: Fault,
    /// Index into the program's locations, or `u32::MAX`.
    pub location: u32,
    /// The interface whose protocol was violated, if it is known; else null.
    pub interface: *const Interface,
    /// The key of the element that is not there; empty if there is none.
    pub key: String,
    /// What was wrong, in a line; empty if that follows from the rest.
    pub reason: String,
    /// What the scheduler shall do.
    pub sort: Sort,
    /// The component that stood for a far side which is lost, and the number of the interface that it served.
    pub lost: Option<(*mut Instance, usize)>,
}

impl Failure {
    /// A process has failed.
    ///
    /// # Safety
    /// `process` is live.
    pub unsafe fn of(process: *mut Process, fault: Fault, location: u32) -> Failure {
        // SAFETY: `process` is live.
        let instance = unsafe { (*process).instance };
        Failure { process, ..Failure::of_end(instance, fault, location) }
    }

    /// The end of a component has failed.
    pub fn of_end(instance: *mut Instance, fault: Fault, location: u32) -> Failure {
        let (process, interface) = (null_mut(), null());
        Failure {
            process,
            instance,
            fault,
            location,
            interface,
            key: String::new(),
            reason: String::new(),
            sort: Sort::Error,
            lost: None,
        }
    }
}

impl Ground {
    /// Nothing has failed yet.
    pub fn new(heap: Heap) -> Ground {
        let (dropped, kept) = Default::default();
        Ground { heap, failures: Vec::new(), halted: None, dropped, kept, let_others_run: None }
    }
}

/// What the lower floors know of a worker.
///
/// # Safety
/// `w` is a worker of a program that runs.
#[inline]
pub unsafe fn ground(w: *mut Worker) -> *mut Ground {
    // SAFETY: `w` is a worker.
    unsafe { (*w).own.cast() }
}

/// The heap of a worker. Only the thread of `w` may use what this points to.
///
/// # Safety
/// As for [`ground`].
#[inline]
pub unsafe fn heap_of(w: *mut Worker) -> *mut Heap {
    // SAFETY: while the program runs, `own` leads to a structure that begins with a `Ground`.
    unsafe { &raw mut (*ground(w)).heap }
}

/// Makes the scheduler get control soon.
///
/// # Safety
/// `w` is a worker.
pub unsafe fn want_attention(w: *mut Worker) {
    // SAFETY: `w` is a worker.
    let attention = unsafe { &(*w).attention };
    attention.fetch_or(OTHER, Relaxed);
}

/// Whether the time slice is over. What takes long in the runtime then pauses until the next one, as generated code
/// does.
///
/// # Safety
/// `w` is a worker.
#[inline]
pub unsafe fn slice_is_over(w: *mut Worker) -> bool {
    // SAFETY: `w` is a worker.
    let attention = unsafe { &(*w).attention };
    attention.load(Relaxed) & TICK != 0
}

/// Runs other processes within a long call of `p`, if the time slice is over.
///
/// # Safety
/// As for [`crate::long::Caller::new`].
pub unsafe fn let_others_run(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` is in a call that holds no reference to what other processes may change.
    unsafe {
        if slice_is_over(w)
            && let Some(run) = (*ground(w)).let_others_run
        {
            run(w, p);
        }
    }
}
