//! Run-time errors (language reference, section 10): what they are called, where they happened, and what they end.
//!
//! # Why this is sound
//! The `failure` module records errors where they happen. The scheduler handles them here, when no process runs at
//! home. See the process module.
//!
//! # Safety of this module
//! *In control*: `w` is the home worker, whose scheduler has control, so that no process runs at home.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::{null, null_mut};

use drystone_component::{Interface, Program};

use crate::far::standing;
use crate::heap::Memory;
use crate::home::home;
use crate::instance::slots::interfaces_of;
use crate::instance::{body_of, delete_kept, holder_of, template_of};
use crate::layout::*;
use crate::life::{isolation, stopping, survey};
use crate::output;
use crate::parallel;
use crate::worker::{Failure, Sort, ground, heap_of};

impl Fault {
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
            Fault::ConnectionCycle => "connection cycle",
            Fault::BindingRefused => "binding refused",
            Fault::NoBranch => "no branch",
        }
    }
}

/// Handles the errors that were recorded; `false`: the program ends.
///
/// # Safety
/// *In control.*
pub unsafe fn handle(w: *mut Worker) -> bool {
    // SAFETY: *in control*; components and processes of failures are live.
    unsafe {
        if !(*home(w)).lending.lent.is_empty() {
            parallel::recall(w);
            return true;
        }
        while let Some(failure) = (*ground(w)).failures.first().cloned() {
            match failure.sort {
                Sort::Stopped => {
                    (*ground(w)).failures.remove(0);
                    stopping::begin(w, failure.process);
                }
                Sort::Abandoned => {
                    (*ground(w)).failures.remove(0);
                    // Nothing of it is ever away.
                    isolation::end(w, failure.instance, None);
                    delete_kept(w, failure.instance);
                }
                Sort::Error => {
                    let isolated = enclosing_isolated(w, failure.instance);
                    if !isolated.is_null() && (*home(w)).parallel.are_away() {
                        parallel::recall(w);
                        return true;
                    }
                    let account = Account::of(w, &failure);
                    say(w, &format!("error: {}\n", account.text));
                    if isolated.is_null() {
                        return false;
                    }
                    (*ground(w)).failures.remove(0);
                    let fault = [failure.fault.name(), &account.text, &account.place];
                    isolation::end(w, isolated, Some(fault));
                }
            }
        }
        parallel::release(w);
    }
    true
}

/// What went wrong, for people.
struct Account {
    /// Kind, place and component; in a second line what would have been right.
    text: String,
    /// Such as `city.dry:12:3`; empty if it isn't known.
    place: String,
}

impl Account {
    /// # Safety
    /// *In control*; component and process of the failure are live.
    unsafe fn of(w: *mut Worker, failure: &Failure) -> Account {
        // SAFETY: *in control*; component and process of the failure are live.
        unsafe {
            let program = (*home(w)).program;
            let place = match failure.location {
                u32::MAX if !failure.process.is_null() => waiting_place(program, (*failure.process).resume),
                location => place_text(program, location),
            };
            let whose = whose(failure.process, failure.instance, failure.interface);
            let limit = match failure.fault {
                Fault::OutOfMemory => limit_text((*heap_of(w)).memory()),
                _ => String::new(),
            };
            let why = failure.lost.and_then(|(instance, interface)| standing::why_lost(instance, interface));
            let advice = advice(program, failure, why);
            let text = format!("{}{}{whose}{limit}{advice}", failure.fault.name(), at(&place));
            Account { text, place }
        }
    }
}

/// The nearest component around that is isolated; null if that would be the program itself.
///
/// # Safety
/// *In control*; `instance` is live.
unsafe fn enclosing_isolated(w: *mut Worker, mut instance: *mut Instance) -> *mut Instance {
    // SAFETY: *in control*; holders are live.
    unsafe {
        while !instance.is_null() && instance != (*home(w)).roots.entry {
            if (*template_of(instance)).isolated {
                return instance;
            }
            instance = holder_of(instance);
        }
    }
    null_mut()
}

/// # Safety
/// *In control.*
unsafe fn say(w: *mut Worker, message: &str) {
    // SAFETY: *in control*; the platform outlives the program.
    unsafe {
        output::flush(w);
        (*(*home(w)).platform).report(message.as_bytes());
    }
}

/// A location as text, such as `city.dry:12:3`; empty if there is none.
fn place_text(program: &Program, location: u32) -> String {
    match program.locations.get().get(location as usize) {
        Some(location) => {
            let file = program.files.get().get(location.file as usize).map_or("?", |file| file.get());
            format!("{file}:{}:{}", location.line, location.column)
        }
        None => String::new(),
    }
}

/// A place within a sentence.
fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

/// The memory that the program was given, if that is limited, in the unit in which it was probably said.
fn limit_text(memory: &Memory) -> String {
    let limit = memory.limit();
    if limit == usize::MAX {
        return String::new();
    }
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let fitting = units.into_iter().find(|(bits, _)| limit.is_multiple_of(1 << bits));
    let (bits, unit) = fitting.unwrap_or((0, " bytes"));
    format!(", with the memory limit of {}{unit}", limit >> bits)
}

/// The component of an error or a process, and the interface that is given, or else the one that the process serves.
///
/// # Safety
/// The home's scheduler has control; `instance` is live, and `p` too unless it is null.
unsafe fn whose(p: *mut Process, instance: *mut Instance, mut interface: *const Interface) -> String {
    // SAFETY: the home's scheduler has control; `instance` is live, and `p` too unless it is null; interfaces are
    // there as long as the program.
    unsafe {
        let path = survey::path(instance);
        if interface.is_null() && !p.is_null() {
            interface = body_of(p).interface;
        }
        match interface.as_ref() {
            Some(interface) => format!(" in {path}, interface {}", interface.name.get()),
            None => format!(" in {path}"),
        }
    }
}

/// A second line that names what is missing or in the way, where the compiler has told what stands at the location;
/// `why` a far side was lost, if that is what was in the way.
fn advice(program: &Program, failure: &Failure, why: Option<String>) -> String {
    if !failure.reason.is_empty() {
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        return format!("\n  {}{why}", failure.reason);
    }
    let location = program.locations.get().get(failure.location as usize);
    let name = location
        .and_then(|location| program.names.get().get(location.name as usize))
        .map_or("", |name| name.get());
    if name.is_empty() {
        return String::new();
    }
    let what = if failure.key.is_empty() { String::from(name) } else { format!("{name}[{}]", failure.key) };
    match failure.fault {
        Fault::MissingElement => format!("\n  {what} was never given a value, or has been deleted"),
        Fault::IndexOutOfBounds if !failure.key.is_empty() => {
            format!("\n  there is no {what}: NEW({name}, n) makes the elements 0 to n - 1")
        }
        Fault::EmptyContainer => {
            format!("\n  {what} holds no component: no NEW has made one, or it was moved, sent or deleted")
        }
        Fault::FullContainer => format!("\n  {what} is there already: DELETE or MOVE it first"),
        _ => String::new(),
    }
}

/// Most processes that a message about a deadlock names.
const NAMED: usize = 6;

/// Says that no process can ever run; the program's status.
///
/// # Safety
/// *In control.*
pub unsafe fn report_deadlock(w: *mut Worker) -> i64 {
    // SAFETY: *in control*; processes that are found are live.
    unsafe {
        if (*home(w)).roots.entry.is_null() {
            // The program has ended; what is left are services of the system.
            return 0;
        }
        let blocked = some_processes(w);
        let mut message = String::from("error: deadlock");
        for (index, &p) in blocked.iter().enumerate() {
            if index > 0 {
                message += "also waiting:";
            }
            message += &waiting_location((*home(w)).program, (*p).resume);
            message += &whose(p, (*p).instance, null());
            message += waits_for((*p).status);
            if (*p).status == CONNECTION {
                message += &awaited_names(w, (*p).instance);
            }
            message += "\n";
        }
        if blocked.is_empty() {
            message += "\n";
        }
        say(w, &message);
    }
    1
}

/// Some processes that are alive: those of outer components first.
///
/// # Safety
/// *In control*; the program's entry is live.
unsafe fn some_processes(w: *mut Worker) -> Vec<*mut Process> {
    let mut found = Vec::new();
    // SAFETY: *in control*, so all stands still.
    unsafe {
        let mut instances = Vec::from([(*home(w)).roots.entry]);
        let mut index = 0;
        while let Some(&instance) = instances.get(index) {
            index += 1;
            let first = found.len();
            survey::processes_of(instance, |p| found.push(p));
            if found.len() >= NAMED {
                found.truncate(NAMED);
                break;
            }
            survey::children_of(instance, |container| instances.push(container.get()));
            for &p in &found[first..] {
                survey::children_of_process(p, |container| instances.push(container.get()));
            }
        }
    }
    found
}

/// What a process of this status waits for; empty if it can go on.
pub fn waits_for(status: u8) -> &'static str {
    match status {
        ROOM => ", which waits for its message to be received",
        NEWS => ", which waits for a message",
        SELECTS => ", which waits for the first of several things",
        ENTRY => ", which waits for the component's lock",
        AWAITS_SHARED | AWAITS_EXCLUSIVE => ", which waits for its condition",
        CONNECTION => ", which waits for a connection",
        UNBEGUN => ", which waits for the component's BEGIN",
        DELETION => ", which waits for the end of a deletion",
        SLEEPS => ", which waits for its time",
        PLATFORM => ", which waits for something from outside",
        WRITES => ", which waits for standard output to be read",
        _ => "",
    }
}

/// The names for which a component's interfaces wait.
///
/// # Safety
/// *In control*; `instance` is live.
unsafe fn awaited_names(w: *mut Worker, instance: *mut Instance) -> String {
    let mut names = String::new();
    // SAFETY: *in control*; `instance` is live.
    unsafe {
        interfaces_of(instance, |slot, _| {
            if let Some(name) = (*home(w)).names.awaited(slot) {
                names += if names.is_empty() { ": nothing to be had by the name " } else { ", " };
                names += &String::from_utf8_lossy(name);
            }
        });
    }
    names
}

/// Where a process waits that goes on with this function, as ` at city.dry:12:3`; empty if that isn't known.
pub fn waiting_location(program: &Program, resume: Resume) -> String {
    at(&waiting_place(program, resume))
}

/// The same, as [`place_text`].
fn waiting_place(program: &Program, resume: Resume) -> String {
    let points = program.suspension_points.get();
    let point = points.iter().find(|point| point.function == resume);
    point.map_or(String::new(), |point| place_text(program, point.location))
}

/// Says that there is not enough memory for the program to start; answers `false`.
///
/// # Safety
/// *In control.*
pub unsafe fn report_no_memory(w: *mut Worker) -> bool {
    // SAFETY: *in control*.
    unsafe {
        let limit = limit_text((*heap_of(w)).memory());
        report_start(w, &format!("out of memory at the start{limit}"))
    }
}

/// Says why the program cannot start; answers `false`.
///
/// # Safety
/// *In control.*
pub unsafe fn report_start(w: *mut Worker, reason: &str) -> bool {
    // SAFETY: *in control*.
    unsafe { say(w, &format!("error: {reason}\n")) };
    false
}
