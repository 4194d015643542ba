//! The kernel calls of processes. Their arguments aren't trusted.

use drystone_machine::Console;
use kortex_binding::{Call, Domain, Method, REFUSED, memory, upcall};
use kortex_hal::mmu::{Access, PAGE};
use kortex_hal::time;
use kortex_memory::Space;

use crate::process::{Owner, Process, Services};

/// Binds all calls for a process.
///
/// # Safety
/// The process is never freed.
pub unsafe fn bind<K: Owner>(process: &'static Process<K>) {
    let this = process as *const Process<K> as *const ();
    let calls: [(usize, Method); 8] = [
        (1, write),
        (2, nothing),
        (3, offer::<K>),
        (4, signals::<K>),
        (6, map::<K>),
        (7, unmap::<K>),
        (8, thread::<K>),
        (10, told::<K>),
    ];
    // SAFETY: they are fit for whatever a user says.
    unsafe {
        calls.into_iter().for_each(|(number, method)| process.domain.bind(number, Call { method, this }));
        process.domain.bind_wait(1, Call { method: go_on::<K>, this });
        K::Services::bind(process);
    }
}

/// # Safety
/// `this` is the component that the method is bound with, a process.
pub unsafe fn of<K: Owner>(this: *const ()) -> &'static Process<K> {
    // SAFETY: as the caller promises.
    unsafe { &*this.cast::<Process<K>>() }
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn write(_: *const (), from: u64, count: u64, _: u64, _: u64) -> i64 {
    if count > LONGEST {
        return REFUSED;
    }
    let mut text = [0; 128];
    let (mut at, mut left) = (from, count);
    while left > 0 {
        let some = &mut text[..left.min(128) as usize];
        if memory::read(at, some).is_err() {
            return REFUSED;
        }
        Console.write_bytes(some);
        (at, left) = (at + some.len() as u64, left - some.len() as u64);
    }
    0
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn nothing(_: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    42
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn offer<K: Owner>(this: *const (), entry: u64, stack: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so. Wherever the entry is, users' code runs there with users' rights.
    unsafe { set::<K>(this, entry, stack, Domain::set_entry) }
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn signals<K: Owner>(this: *const (), entry: u64, stack: u64, _: u64, _: u64) -> i64 {
    // SAFETY: likewise.
    unsafe { set::<K>(this, entry, stack, Domain::set_signals) }
}

/// # Safety
/// `this` is a process.
unsafe fn set<K: Owner>(this: *const (), entry: u64, stack: u64, set: fn(&Domain, usize, usize)) -> i64 {
    if !memory::is_users(entry) || !memory::is_users(stack) {
        return REFUSED;
    }
    // SAFETY: `this` is the process that the call is bound with.
    set(unsafe { &of::<K>(this).domain }, entry as usize, stack as usize);
    0
}

/// The most pages of one call: the kernel isn't interrupted meanwhile.
const MOST: u64 = 1024;
/// The most bytes of text, likewise.
const LONGEST: u64 = 4096;

/// Whether these pages may be mapped.
fn is_for_memory<K: Owner>(at: u64, pages: u64) -> bool {
    pages <= MOST
        && memory::is_users(at)
        && memory::is_users(at + pages * PAGE as u64)
        && !K::Services::keeps(at, pages)
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn map<K: Owner>(this: *const (), at: u64, pages: u64, _: u64, _: u64) -> i64 {
    if !is_for_memory::<K>(at, pages) {
        return REFUSED;
    }
    // SAFETY: `this` is the process that the call is bound with.
    let space = unsafe { of::<K>(this) }.space.borrow();
    let mapped = space.as_ref().map(|space| space.map(at as usize, pages as usize, Access::WRITE));
    if mapped == Some(Ok(())) { 0 } else { REFUSED }
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn unmap<K: Owner>(this: *const (), at: u64, pages: u64, _: u64, _: u64) -> i64 {
    if !is_for_memory::<K>(at, pages) {
        return REFUSED;
    }
    // SAFETY: bound so; if its users still use it that is their fault.
    if let Some(space) = unsafe { of::<K>(this) }.space.borrow().as_ref() {
        // SAFETY: as above.
        unsafe { space.unmap(at as usize, pages as usize) };
    }
    0
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn thread<K: Owner>(this: *const (), entry: u64, stack: u64, _: u64, _: u64) -> i64 {
    if !memory::is_users(entry) || !memory::is_users(stack) {
        return REFUSED;
    }
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    if process.kernel.start_thread(process, entry, stack) { 0 } else { REFUSED }
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn told<K: Owner>(this: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    unsafe { of::<K>(this) }.kernel.told() as i64
}

/// The call that measures an upcall of the server.
pub fn upcall<K: Owner>(server: &'static Process<K>) -> Call {
    Call { method: measure_upcall::<K>, this: server as *const Process<K> as *const () }
}

/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn measure_upcall<K: Owner>(this: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    let start = time::counter();
    // SAFETY: bound so; on a thread's kernel stack.
    let answer = unsafe { upcall::call(&of::<K>(this).domain, u64::MAX, 0, [0; 3]) };
    let end = time::counter();
    if answer.is_ok() { (end - start) as i64 } else { REFUSED }
}

/// Resumes what a signal has interrupted, at an address or, with 0, where it was.
///
/// # Safety
/// Bound with a process.
pub unsafe extern "C" fn go_on<K: Owner>(this: *const (), at: u64, _: u64, _: u64, _: u64) -> i64 {
    if at != 0 && !memory::is_users(at) {
        return REFUSED;
    }
    // SAFETY: likewise, of the thread that runs.
    if unsafe { of::<K>(this).kernel.go_on(at) } { 0 } else { REFUSED }
}
