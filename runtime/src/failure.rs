//! A process fails: what is known at once is recorded, and the scheduler is called. What follows from it is decided
//! above, by the fault module.
//!
//! # Why this is sound
//! A record belongs to the worker on which the process runs, and is made by that worker's thread.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::layout::{FAILED, Fault, Process, Worker};
use crate::worker::{Failure, Sort, ground, want_attention};

impl Fault {
    /// Every fault, by its number.
    const ALL: [Fault; 17] = [
        Fault::Overflow,
        Fault::DivisionByZero,
        Fault::IndexOutOfBounds,
        Fault::MissingElement,
        Fault::EmptyContainer,
        Fault::FullContainer,
        Fault::AssertionFailed,
        Fault::ProtocolViolation,
        Fault::OutOfMemory,
        Fault::StackLimit,
        Fault::Deadlock,
        Fault::InvalidConversion,
        Fault::MissingReturn,
        Fault::WrongType,
        Fault::InvalidArgument,
        Fault::ConnectionCycle,
        Fault::BindingRefused,
    ];

    /// The one with a number.
    pub(crate) fn of_number(number: u32) -> Fault {
        Fault::ALL.get(number as usize).copied().unwrap_or(Fault::AssertionFailed)
    }
}

/// A process has failed.
///
/// # Safety
/// `p` runs on `w`, the worker of this thread, and leaves after this call: it is not resumed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_fail(w: *mut Worker, p: *mut Process, fault: u32, location: u32) {
    fail(w, Failure::of(p, Fault::of_number(fault), location));
}

/// A process has failed.
///
/// # Safety
/// As for [`ds_fail`].
pub unsafe fn fail(w: *mut Worker, failure: Failure) {
    (*failure.process).status = FAILED;
    record(w, failure);
}

/// The component of a process, which nobody holds, is to be ended by force: no error of the program's, so that nobody
/// hears of it.
///
/// # Safety
/// As for [`ds_fail`].
pub unsafe fn abandon(w: *mut Worker, p: *mut Process) {
    fail(w, Failure { sort: Sort::Abandoned, ..Failure::of(p, Fault::ProtocolViolation, u32::MAX) });
}

/// A service whose client is lost ends where it is: no error either.
///
/// # Safety
/// As for [`ds_fail`].
pub unsafe fn stop(w: *mut Worker, p: *mut Process) {
    fail(w, Failure { sort: Sort::Stopped, ..Failure::of(p, Fault::ProtocolViolation, u32::MAX) });
}

/// The scheduler shall see to a failure.
///
/// # Safety
/// `w` is the worker of this thread; process and instance are alive, or null.
pub unsafe fn record(w: *mut Worker, failure: Failure) {
    (*ground(w)).failures.push(failure);
    want_attention(w);
}

/// `HALT`
///
/// # Safety
/// As for [`ds_fail`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_halt(w: *mut Worker, p: *mut Process, status: i64) {
    (*p).status = FAILED;
    (*ground(w)).halted = Some(status);
    want_attention(w);
}
