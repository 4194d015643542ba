//! Processes: their blocks, their procedures' frames, how they start.
//!
//! # Why this is sound
//! Blocks are reached through raw pointers only, by the home worker only. A block is live from [`start`] or
//! [`start_service`] until the one place that ends it: the end of its body, the close of its communication, or a
//! fault. A process stands in at most one queue, or is the waiter of at most one communication, so the one link
//! in its block is enough, and whoever takes it out is the only one to have it.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::{self, null_mut};

use drystone_component::{Body, Program};

use crate::failure::ds_fail;
use crate::home::home;
use crate::instance::{body, body_of, rare_of, template_of};
use crate::layout::*;
use crate::queue::ready;
use crate::worker::heap_of;

type Enter = unsafe extern "C" fn(*mut Worker, *mut Process);

/// Runs processes on a worker, beginning with this one.
pub unsafe fn enter(w: *mut Worker, program: &Program, p: *mut Process) {
    (*w).switches += 1;
    let enter: Enter = core::mem::transmute(program.enter);
    enter(w, p);
}

/// Starts BEGIN/ACTIVITY or FINALLY. Null: no memory.
pub unsafe fn start(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Process {
    let body = body(&*template_of(instance), index as usize);
    let p = (*heap_of(w)).allocate_zeroed(body.size as usize) as *mut Process;
    if !p.is_null() {
        (*p).instance = instance;
        (*p).body = index as u16;
        launch(w, p, body);
    }
    p
}

/// Starts a service with its communication. Null: no memory.
#[inline]
pub unsafe fn start_service(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Communication {
    let body = body(&*template_of(instance), index as usize);
    let c = (*heap_of(w)).allocate_zeroed(body.size as usize) as *mut Communication;
    if !c.is_null() {
        let p = c.cast::<Process>();
        (*p).instance = instance;
        (*p).body = index as u16;
        launch(w, p, body);
    }
    c
}

/// Starts an ended service anew, for the next communication of the same client; the buffer stays as it is.
pub unsafe fn restart_service(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let body = clear(p);
    launch(w, p, body);
}

/// The same for a native service that waits to be called, and has been before.
pub unsafe fn restart_parked(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let body = clear(p);
    count(w, p, body);
    (*p).status = PLATFORM;
}

/// The frame of an ended service as it is at the beginning.
unsafe fn clear(p: *mut Process) -> &'static Body {
    let body = body_of(p);
    let frame = PAYLOAD + 8 * (*body.interface).payload_words;
    ptr::write_bytes(p.cast::<u8>().add(frame), 0, body.size as usize - frame);
    (*p).lock = LOCK_NONE;
    (*p).score = 0;
    body
}

/// One more process, which will begin at its beginning.
#[inline]
unsafe fn count(w: *mut Worker, p: *mut Process, body: &'static Body) {
    (*p).resume = if body.native.is_null() { body.entry } else { (*home(w)).program.native_shim };
    (*(*p).instance).live += 1;
    (*home(w)).census.created += 1;
    (*home(w)).census.live += 1;
}

#[inline]
unsafe fn launch(w: *mut Worker, p: *mut Process, body: &'static Body) {
    let instance = (*p).instance;
    count(w, p, body);
    if (*instance).live & BEGUN == 0 && !body.interface.is_null() {
        (*p).status = UNBEGUN;
        (*rare_of(w, instance)).unbegun.push(p);
    } else if (*home(w)).parallel.is_candidate(body) {
        (*home(w)).parallel.keep(p);
    } else {
        ready(w, p);
    }
}

/// [`Process::score`]: how many words the process's procedures have in frames; the parallel module has the rest.
const DEPTH: u32 = (1 << PENALTY_SHIFT) - 1;
/// [`Process::score`]: see the parallel module.
pub const PENALTY_SHIFT: u32 = 24;
/// [`Process::score`]: the same.
pub const PENALTY_BITS: u32 = 0x7F << PENALTY_SHIFT;
/// Most bytes that the procedures of one process may have in frames.
const FRAMES_LIMIT: usize = 64 << 20;

/// Enters a procedure that may wait.
///
/// # Safety
/// `p` runs on `w`; `innermost` is where it keeps its innermost procedure's frame, and `frame` describes one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_frame_new(
    w: *mut Worker,
    p: *mut Process,
    innermost: *mut *mut FrameHead,
    frame: *const drystone_component::Frame,
    location: u32,
) -> *mut FrameHead {
    let size = (*frame).size as usize;
    let depth = ((*p).score & DEPTH) as usize + size.div_ceil(8);
    if depth > FRAMES_LIMIT / 8 {
        return no_frame(w, p, Fault::StackLimit, location);
    }
    let head = (*heap_of(w)).allocate_zeroed(size) as *mut FrameHead;
    if head.is_null() {
        return no_frame(w, p, Fault::OutOfMemory, location);
    }
    (*p).score = (*p).score & !DEPTH | depth as u32;
    (*head).caller = *innermost;
    (*head).frame = frame;
    *innermost = head;
    head
}

#[cold]
#[inline(never)]
unsafe fn no_frame(w: *mut Worker, p: *mut Process, fault: Fault, location: u32) -> *mut FrameHead {
    ds_fail(w, p, fault as u32, location);
    null_mut()
}

/// Leaves it.
///
/// # Safety
/// `p` runs on `w` and is in a procedure with a frame, which owns nothing any more and is not touched again;
/// `innermost` is as for [`ds_frame_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_frame_end(w: *mut Worker, p: *mut Process, innermost: *mut *mut FrameHead) {
    let head = *innermost;
    *innermost = (*head).caller;
    let size = (*(*head).frame).size as usize;
    (*p).score -= size.div_ceil(8) as u32;
    (*heap_of(w)).free(head.cast(), size);
}

/// Where a process keeps its innermost procedure's frame.
pub unsafe fn innermost_frame(p: *mut Process) -> *mut *mut FrameHead {
    p.cast::<u8>().add(body_of(p).frame as usize).cast()
}

/// A process's procedure frames, from the innermost; null if it has none.
pub unsafe fn frames(p: *mut Process) -> *mut FrameHead {
    if body_of(p).frame == 0 { null_mut() } else { *innermost_frame(p) }
}
