//! What every worker has for the ground floor: its memory, and records of what has failed and of components that nobody
//! holds.
//!
//! # Why this is sound
//! A worker is touched by its own thread only, but for `attention`, which is atomic.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::BTreeSet;
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
    /// Run-time errors that the scheduler has to see to.
    pub failures: Vec<Failure>,
    /// `HALT`
    pub halted: Option<i64>,
    /// Components that nobody holds: they are deleted when the scheduler gets control.
    pub dropped: Vec<*mut Instance>,
    /// Components of bindings, which nobody holds; the program doesn't end before them.
    pub kept: BTreeSet<*mut Instance>,
    /// Lets others run while a process is in a long call, if the time slice is over. None where there are no others.
    pub let_others_run: Option<unsafe fn(*mut Worker, *mut Process)>,
}

/// What the scheduler has to see to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A run-time error.
    Error,
    /// A component that nobody holds is to be ended by force: see [`crate::failure::abandon`].
    Abandoned,
    /// A service goes on no further: see [`crate::failure::stop`].
    Stopped,
}

/// A process that can't go on.
#[derive(Clone)]
pub struct Failure {
    /// Whose; null if the program's end itself failed.
    pub process: *mut Process,
    /// In which component.
    pub instance: *mut Instance,
    /// Which.
    pub fault: Fault,
    /// Index into the program's locations, or `u32::MAX`.
    pub location: u32,
    /// The interface whose protocol was violated, if it is known; else null.
    pub interface: *const Interface,
    /// The key of the element that is not there; empty if there is none.
    pub key: String,
    /// What was wrong, in a line; empty if that follows from the rest.
    pub reason: String,
    /// What it means.
    pub sort: Sort,
    /// The component that stood for a far side which is lost, and the number of the interface that it served.
    pub lost: Option<(*mut Instance, usize)>,
}

impl Failure {
    /// A process has failed.
    ///
    /// # Safety
    /// The process is alive.
    pub unsafe fn of(process: *mut Process, fault: Fault, location: u32) -> Failure {
        Failure { process, ..Failure::of_end((*process).instance, fault, location) }
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

/// A worker's ground floor.
///
/// # Safety
/// `w` is a worker that runs a program.
#[inline]
pub unsafe fn ground(w: *mut Worker) -> *mut Ground {
    (*w).own.cast()
}

/// The heap of a worker.
///
/// # Safety
/// As for [`ground`]. Only the thread of `w` may use what it points to.
#[inline]
pub unsafe fn heap_of(w: *mut Worker) -> *mut Heap {
    &raw mut (*ground(w)).heap
}

/// Wants the scheduler to get control soon.
///
/// # Safety
/// On the worker's own thread.
pub unsafe fn want_attention(w: *mut Worker) {
    (*w).attention.fetch_or(OTHER, Relaxed);
}

/// Whether the time slice is over: what takes long in the runtime goes on in the next one, as what takes long in
/// generated code does.
///
/// # Safety
/// On the worker's own thread.
#[inline]
pub unsafe fn slice_is_over(w: *mut Worker) -> bool {
    (*w).attention.load(Relaxed) & TICK != 0
}

/// A process is in a long call: others run now if the time slice is over.
///
/// # Safety
/// As for [`crate::long::Caller::new`].
pub unsafe fn let_others_run(w: *mut Worker, p: *mut Process) {
    if slice_is_over(w)
        && let Some(run) = (*ground(w)).let_others_run
    {
        run(w, p);
    }
}
