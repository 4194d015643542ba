//! Run-time errors (language reference, section 10): what they are called, where they happened, and what they end.
//!
//! # Why this is sound
//! Errors are recorded by the failing process and seen to by the scheduler, when no process runs at home. See the
//! process module.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

use alloc::format;
use alloc::string::String;
use core::ptr::null_mut;

use crate::layout::*;
use crate::output;
use crate::process::*;
use crate::scheduler::want_attention;

/// A run-time error.
#[derive(Clone, Copy)]
pub struct Failure {
    /// Whose; null if the program's end itself failed.
    pub process: *mut Process,
    /// In which component.
    pub instance: *mut Instance,
    /// Which.
    pub fault: Fault,
    /// Index into the program's places, or `u32::MAX`.
    pub place: u32,
}

impl Fault {
    /// Every fault, by its number.
    const ALL: [Fault; 15] = [
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
    ];

    /// As messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Overflow => "overflow",
            Fault::DivisionByZero => "division by zero",
            Fault::IndexOutOfBounds => "index out of bounds",
            Fault::MissingElement => "missing element",
            Fault::EmptyContainer => "empty container",
            Fault::FullContainer => "full container",
            Fault::AssertionFailed => "assertion failed",
            Fault::ProtocolViolation => "protocol violation",
            Fault::OutOfMemory => "out of memory",
            Fault::StackLimit => "stack limit",
            Fault::Deadlock => "deadlock",
            Fault::InvalidConversion => "invalid conversion",
            Fault::MissingReturn => "missing return",
            Fault::WrongType => "wrong type",
            Fault::InvalidArgument => "invalid argument",
        }
    }
}

/// A process has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_fail(w: *mut Worker, p: *mut Process, fault: u32, place: u32) {
    let fault = Fault::ALL.get(fault as usize).copied().unwrap_or(Fault::AssertionFailed);
    let failure = Failure { process: p, instance: (*p).instance, fault, place };
    if (*w).away != 0 {
        crate::parallel::fail_away(w, failure);
    } else {
        (*p).status = FAILED;
        crate::process::home(w).failures.push(failure);
    }
    want_attention(w);
}

/// `HALT`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_halt(w: *mut Worker, p: *mut Process, status: i64) {
    if (*w).away != 0 {
        crate::parallel::halt_away(w, p, status);
    } else {
        (*p).status = FAILED;
        home(w).halted = Some(status);
    }
    want_attention(w);
}

/// The scheduler sees to the errors that were recorded; `false`: the program ends.
pub unsafe fn handle(w: *mut Worker) -> bool {
    let failure = home(w).failures[0];
    report(w, &failure);
    false
}

unsafe fn report(w: *mut Worker, failure: &Failure) {
    let place = place_text(w, failure.place);
    let message = format!("error: {}{place}{}\n", failure.fault.name(), whose(failure.process, failure.instance));
    say(w, &message);
}

unsafe fn say(w: *mut Worker, message: &str) {
    output::flush(w);
    (*home(w).platform).report(message.as_bytes());
}

unsafe fn place_text(w: *mut Worker, place: u32) -> String {
    let program = home(w).program;
    match program.places.get().get(place as usize) {
        Some(place) => {
            let file = program.files.get().get(place.file as usize).map_or("?", |file| file.get());
            format!(" at {file}:{}:{}", place.line, place.column)
        }
        None => String::new(),
    }
}

unsafe fn whose(p: *mut Process, instance: *mut Instance) -> String {
    let mut text = format!(" in {}", (*(*instance).template).name.get());
    if !p.is_null() && is_service(p) {
        text += &format!(", interface {}", (*body_of(p).interface).name.get());
    }
    text
}

/// No process can ever run.
pub unsafe fn report_deadlock(w: *mut Worker) -> i64 {
    let entry = home(w).entry;
    let failure =
        Failure { process: null_mut(), instance: entry, fault: Fault::Deadlock, place: u32::MAX };
    report(w, &failure);
    1
}

/// The program cannot start; answers `false`.
pub unsafe fn report_start(w: *mut Worker, reason: &str) -> bool {
    say(w, &format!("error: {reason}\n"));
    false
}
