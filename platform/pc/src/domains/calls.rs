//! The calls that a domain may make to the kernel. All come by an exception, which saves all registers: the kernel's
//! code uses vector registers, and users must not see their contents.

use drystone_calls::{Ask, DONE, MOST_PAGES, NEVER, SOON, Stream};
use kortex_binding::domain::Method;
use kortex_binding::{Call, REFUSED, signal};
use kortex_hal::exception::Processor;

use super::user_process::{End, Process, tell_home};
use crate::{clock, threads};

/// Binds all the calls for a process.
///
/// # Safety
/// The process stays as long as its thread runs.
pub(super) unsafe fn bind(process: &'static Process) {
    let this = (&raw const *process).cast();
    let calls: [(Ask, Method); 6] = [
        (Ask::End, end),
        (Ask::GoOn, go_on),
        (Ask::Write, write),
        (Ask::Grow, grow),
        (Ask::Rest, rest),
        (Ask::Ring, ring),
    ];
    for (number, method) in calls {
        // SAFETY: these methods accept any arguments.
        unsafe { process.domain.bind_wait(number as usize, Call { method, this }) };
    }
}

/// # Safety
/// Called by the methods below, with the `this` that they are bound to.
unsafe fn of(this: *const ()) -> &'static Process {
    // SAFETY: the caller promises that `this` is what the methods are bound to, which is a process.
    unsafe { &*this.cast() }
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn end(this: *const (), status: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound with this argument; in a handler, of the running thread.
    unsafe { of(this).end(End::Status(status as i64)) };
    DONE
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn go_on(_: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: in a plain call of the thread that runs.
    if unsafe { signal::go_on(&Processor, threads::running(), 0) } { DONE } else { REFUSED }
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn write(this: *const (), stream: u64, from: u64, count: u64, _: u64) -> i64 {
    let stream = if stream == Stream::Errors as u64 { Stream::Errors } else { Stream::Output };
    // SAFETY: bound so, in a handler, in which nothing may fault.
    let answer = unsafe {
        let process = of(this);
        process.message.take(stream, count as usize, |bytes| process.read(from as usize, bytes))
    };
    tell_home();
    answer
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn grow(this: *const (), pages: u64, _: u64, _: u64, _: u64) -> i64 {
    if pages > MOST_PAGES as u64 {
        return REFUSED;
    }
    // SAFETY: the method is bound with this argument, a process.
    match unsafe { of(this) }.grow(pages as usize) {
        Some(true) => DONE,
        Some(false) => REFUSED,
        None => SOON,
    }
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn rest(this: *const (), nanoseconds: u64, _: u64, _: u64, _: u64) -> i64 {
    let until = if nanoseconds == NEVER { NEVER } else { clock::now().saturating_add(nanoseconds) };
    // SAFETY: bound with this argument; in a handler, of the running thread.
    unsafe {
        match nanoseconds {
            0 => threads::give_way(),
            _ => of(this).rest(until),
        }
    }
    DONE
}

/// # Safety
/// Called as a [`Method`], with the `this` that it was bound with.
unsafe extern "C" fn ring(_: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    tell_home();
    DONE
}
