//! Standard output: what processes write, in the order in which they do.
//!
//! Each worker collects what its processes write. What is written away from home is sent there together with the
//! process (see the parallel module), so that it comes before whatever the process does afterwards. Home hands the
//! output to the platform, and queues what the platform doesn't take at once. A process that writes while much is
//! queued is suspended until there is less: see [`must_wait`].
//!
//! # Safety of this module: *at home*, *on its thread*
//! *On its thread*: `w` is the worker of this thread, whose own data are touched by no other thread. *At home*: it is
//! also the home worker, to which [`home`](crate::home::home) leads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::take;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::home::exchange::Post;
use crate::home::outgoing::{PART, Piece};
use crate::home::{home, is_home, own, shared};
use crate::layout::*;
use crate::queue::ready_all;
use crate::text;
use crate::worker::{heap_of, slice_is_over, want_attention};
use drystone_component::number;

/// Bytes that are collected before the platform gets them.
const BUFFER: usize = 16 << 10;
/// A text with more bytes isn't copied, but held until it has been written.
const LONG: usize = 64 << 10;

/// Writes all of some bytes.
///
/// # Safety
/// *On its thread*; `p` runs there.
unsafe fn write(w: *mut Worker, p: *mut Process, bytes: &[u8]) {
    // SAFETY: *on its thread*.
    unsafe {
        let output = &mut (*own(w)).output;
        output.extend_from_slice(bytes);
        if output.len() >= BUFFER {
            if is_home(w) {
                flush(w);
                hold_up(w, p);
            } else {
                post(w);
            }
        }
    }
}

/// If much is queued, the process that has written is to be suspended at its next preemption check.
///
/// # Safety
/// *At home*.
unsafe fn hold_up(w: *mut Worker, p: *mut Process) {
    // SAFETY: *at home*.
    unsafe {
        if (*home(w)).outgoing.is_much() {
            (*home(w)).outgoing.writer = p;
            want_attention(w);
        }
    }
}

/// Whether a process that could be preempted has to wait until less is queued.
///
/// # Safety
/// *At home*.
pub unsafe fn must_wait(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: *at home*.
    let outgoing = unsafe { &(*home(w)).outgoing };
    outgoing.writer == p && outgoing.is_much()
}

/// Suspends a process until less is queued.
///
/// # Safety
/// *At home*; the process ran there, and stands nowhere.
pub unsafe fn wait(w: *mut Worker, p: *mut Process) {
    // SAFETY: *at home*; from now on it stands among the writers.
    unsafe {
        (*p).status = WRITES;
        (*home(w)).outgoing.writer = null_mut();
        (*home(w)).outgoing.writers.push(p);
    }
}

/// Sends home what the process that is away has written so far.
///
/// # Safety
/// *On its thread*.
pub unsafe fn post(w: *mut Worker) {
    // SAFETY: *on its thread*.
    unsafe {
        let output = take(&mut (*own(w)).output);
        shared(w).exchange.post(Box::new(Post { output, ..Post::default() }));
        shared(w).call_home();
        if shared(w).exchange.is_full.load(Relaxed) {
            // At home it waits.
            (*own(w)).writes = true;
            want_attention(w);
        }
    }
}

/// What has been written away has come home.
///
/// # Safety
/// *At home*.
pub unsafe fn receive(w: *mut Worker, bytes: Vec<u8>) {
    // SAFETY: *at home*.
    unsafe {
        let output = &mut (*own(w)).output;
        if output.len() + bytes.len() < BUFFER {
            return output.extend_from_slice(&bytes);
        }
        collect(w);
        (*home(w)).outgoing.add(Piece::Bytes(bytes, 0));
        send(w);
    }
}

/// Gives the platform what the home worker has collected.
///
/// # Safety
/// *At home*.
pub unsafe fn flush(w: *mut Worker) {
    // SAFETY: *at home*; the platform lives as long as the home.
    unsafe {
        let output = &mut (*own(w)).output;
        if (*home(w)).outgoing.is_empty() && output.len() <= PART {
            if output.is_empty() {
                return;
            }
            let taken = (*(*home(w)).platform).write(output);
            if taken == output.len() {
                return output.clear();
            }
            let rest = Piece::Bytes(take(output), taken);
            (*home(w)).outgoing.add(rest);
            return fill(w, true);
        }
        collect(w);
        send(w);
    }
}

/// Queues what has been collected.
///
/// # Safety
/// *At home*.
unsafe fn collect(w: *mut Worker) {
    // SAFETY: *at home*.
    unsafe {
        let output = &mut (*own(w)).output;
        if !output.is_empty() {
            (*home(w)).outgoing.add(Piece::Bytes(take(output), 0));
        }
    }
}

/// The platform takes no more for now, or may take more.
///
/// # Safety
/// *At home*.
unsafe fn fill(w: *mut Worker, is_full: bool) {
    // SAFETY: *at home*.
    unsafe {
        (*home(w)).outgoing.is_full = is_full;
        shared(w).exchange.is_full.store((*home(w)).outgoing.is_much(), Relaxed);
    }
}

/// Whether output is queued, and the platform may take some.
///
/// # Safety
/// *At home*.
#[inline]
pub unsafe fn has_more(w: *mut Worker) -> bool {
    // SAFETY: *at home*.
    let outgoing = unsafe { &(*home(w)).outgoing };
    !outgoing.is_empty() && !outgoing.is_full
}

/// Gives the platform what is queued, until it takes no more or the time slice is over.
///
/// # Safety
/// *At home*.
pub unsafe fn send(w: *mut Worker) {
    // SAFETY: *at home*; a text stays until the piece is dropped, and a process that waits to write stands in no other
    // queue.
    unsafe {
        let mut is_full = false;
        while let Some(piece) = (*home(w)).outgoing.first() {
            let (part, is_last) = piece.next();
            let taken = if part.is_empty() { 0 } else { (*(*home(w)).platform).write(part) };
            is_full = taken < part.len();
            (*home(w)).outgoing.skip(taken);
            if is_last && !is_full {
                (*home(w)).outgoing.drop_first(&mut *heap_of(w));
            }
            if is_full || slice_is_over(w) {
                break;
            }
        }
        fill(w, is_full);
        if (*home(w)).outgoing.is_little() && !(*home(w)).outgoing.writers.is_empty() {
            ready_all(w, &mut take(&mut (*home(w)).outgoing.writers));
        }
    }
}

/// The program is over: gives the platform everything, and waits until it is written.
///
/// # Safety
/// *At home*.
pub unsafe fn finish(w: *mut Worker) {
    // SAFETY: *at home*; the platform lives as long as the home.
    unsafe {
        flush(w);
        while !(*home(w)).outgoing.is_empty() {
            if (*home(w)).outgoing.is_full {
                (*(*home(w)).platform).wait_for_output();
            }
            (*w).attention.store(0, SeqCst);
            send(w);
        }
    }
}

/// `WRITE`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_integer(w: *mut Worker, p: *mut Process, x: i64) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, number::integer(x).as_bytes()) };
}

/// `WRITE`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_real(w: *mut Worker, p: *mut Process, x: f64) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, number::real(x).as_bytes()) };
}

/// `WRITE`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_boolean(w: *mut Worker, p: *mut Process, x: u32) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, number::boolean(x != 0)) };
}

/// `WRITE`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_character(w: *mut Worker, p: *mut Process, x: u32) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, &[x as u8]) };
}

/// `WRITE`: up to a 0X.
///
/// # Safety
/// *On its thread*; `p` runs there, and `x` is null or a live text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_text(w: *mut Worker, p: *mut Process, x: *const TextHead) {
    // SAFETY: *on its thread*; a worker that isn't away is at home. The text is live.
    unsafe {
        let bytes = text::bytes(x);
        if bytes.len() > LONG && is_home(w) {
            collect(w);
            (*home(w)).outgoing.add(Piece::Text(text::copy(&*heap_of(w), x.cast_mut()), 0));
            send(w);
            return hold_up(w, p);
        }
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        write(w, p, &bytes[..end]);
    }
}

/// `WRITEHEX`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_hex(w: *mut Worker, p: *mut Process, x: i64) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, number::hexadecimal(x).as_bytes()) };
}

/// `WRITELINE`
///
/// # Safety
/// *On its thread*; `p` runs there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_line(w: *mut Worker, p: *mut Process) {
    // SAFETY: *on its thread*.
    unsafe { write(w, p, b"\n") };
}
