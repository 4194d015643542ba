//! A process fails: what is known at once is recorded, and the scheduler is called. The fault module, above, decides
//! what follows.
//!
//! # Safety of this module: *its last call*
//! `p` is a live process that runs on `w`, the worker of this thread. It leaves after this call, and is not resumed.

use crate::layout::{FAILED, Fault, Process, Worker};
use crate::worker::{Failure, Sort, ground, want_attention};

impl Fault {
    /// Every fault, by its number.
    const ALL: [Fault; 18] = [
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
        Fault::NoBranch,
    ];

    /// The one with a number.
    pub(crate) fn of_number(number: u32) -> Fault {
        Fault::ALL.get(number as usize).copied().unwrap_or(Fault::AssertionFailed)
    }
}

/// A process has failed.
///
/// # Safety
/// It is *its last call*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_fail(w: *mut Worker, p: *mut Process, fault: u32, location: u32) {
    // SAFETY: this is *its last call*.
    unsafe { fail(w, Failure::of(p, Fault::of_number(fault), location)) };
}

/// A process has failed, in a way that may be described further.
///
/// # Safety
/// It is *its last call*, that of the process of the failure.
pub unsafe fn fail(w: *mut Worker, failure: Failure) {
    // SAFETY: the process is live, and so is its component.
    unsafe {
        (*failure.process).status = FAILED;
        record(w, failure);
    }
}

/// The component of a process is to be ended by force, because nobody holds it. That is no error of the program's, and
/// is not reported.
///
/// # Safety
/// It is *its last call*.
pub unsafe fn abandon(w: *mut Worker, p: *mut Process) {
    // SAFETY: this is *its last call*.
    unsafe {
        fail(w, Failure { sort: Sort::Abandoned, ..Failure::of(p, Fault::ProtocolViolation, u32::MAX) })
    };
}

/// A service whose client is lost ends where it is. That is no error either.
///
/// # Safety
/// It is *its last call*.
pub unsafe fn stop(w: *mut Worker, p: *mut Process) {
    // SAFETY: this is *its last call*.
    unsafe { fail(w, Failure { sort: Sort::Stopped, ..Failure::of(p, Fault::ProtocolViolation, u32::MAX) }) };
}

/// The scheduler shall see to a failure.
///
/// # Safety
/// `w` is the worker of this thread; the process and the instance of the failure are live, or null.
pub unsafe fn record(w: *mut Worker, failure: Failure) {
    // SAFETY: the records of a worker are its thread's.
    unsafe {
        (*ground(w)).failures.push(failure);
        want_attention(w);
    }
}

/// `HALT`
///
/// # Safety
/// It is *its last call*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_halt(w: *mut Worker, p: *mut Process, status: i64) {
    // SAFETY: the process is live, and the records of a worker are its thread's.
    unsafe {
        (*p).status = FAILED;
        halt(w, status);
    }
}

/// The program ends as by `HALT`, though none of its processes says so.
///
/// # Safety
/// `w` is the worker of this thread.
pub unsafe fn halt(w: *mut Worker, status: i64) {
    // SAFETY: the records of a worker are its thread's.
    unsafe {
        (*ground(w)).halted = Some(status);
        want_attention(w);
    }
}
