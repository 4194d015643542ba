//! Processes: their blocks, how they start, and the frames of their procedures.
//!
//! # Why this is sound
//! The home worker alone reaches blocks, and only through raw pointers. A block is live from [`start`] or
//! [`start_service`] until the one place that ends it: the end of its body, the close of its communication, or a
//! fault. A process stands in at most one queue, or is the waiter of at most one communication, so the one link in its
//! block is enough, and a process that was taken out belongs to the caller alone.

use core::ptr::{self, null_mut};

use drystone_component::{Body, Frame, Program};

use crate::failure::ds_fail;
use crate::home::{home, team};
use crate::instance::{body, body_of, rare_of, stays_at_home, template_of};
use crate::layout::*;
use crate::queue::ready;
use crate::worker::heap_of;

type Enter = unsafe extern "C" fn(*mut Worker, *mut Process);

/// Runs processes on a worker, `p` first, until none is ready or the scheduler is wanted.
///
/// # Safety
/// `w` is a worker of `program`, on its thread; `p` is live, belongs to `w` now, and stands in no queue.
pub unsafe fn enter(w: *mut Worker, program: &Program, p: *mut Process) {
    // SAFETY: `Program::enter` is a function of this type, and `p` may run on `w`.
    unsafe {
        (*w).switches += 1;
        let enter: Enter = core::mem::transmute(program.enter);
        enter(w, p);
    }
}

/// Starts BEGIN and ACTIVITY, or FINALLY. Null: no memory.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and its template has a body `index`, which is no service.
pub unsafe fn start(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Process {
    // SAFETY: `w` is the home worker; `instance` is live, and has this body.
    unsafe { start_body(w, instance, index) }
}

/// Starts a service with its communication. Null: no memory.
///
/// # Safety
/// As for [`start`], but the body is a service.
#[inline]
pub unsafe fn start_service(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Communication {
    // SAFETY: `w` is the home worker; `instance` is live, and has this body; a service's block is a communication.
    unsafe { start_body(w, instance, index).cast() }
}

/// # Safety
/// As for [`start`], with any body.
#[inline(always)]
unsafe fn start_body(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Process {
    // SAFETY: the new block is as large as its body says.
    unsafe {
        let body = body(&*template_of(instance), index as usize);
        let p =
            (*heap_of(w)).allocate_zeroed_for(body.size as usize, family((*instance).holder)) as *mut Process;
        if !p.is_null() {
            (*p).instance = instance;
            (*p).body = index as u16;
            launch(w, p, body);
        }
        p
    }
}

/// The family of what has this holder, as [`Instance::holder`] says it.
#[inline]
pub fn family(holder: usize) -> usize {
    holder & !(1 | LEAVING | LENT)
}

/// Starts an ended service anew, for the next communication of the same client; the buffer stays as it is.
///
/// # Safety
/// `w` is the home worker; `c` is live, and its service has ended.
pub unsafe fn restart_service(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    // SAFETY: the block of an ended service is that of a process that can start.
    unsafe {
        let body = clear(p);
        launch(w, p, body);
    }
}

/// Starts a native service anew that waits to be called, and has been called before.
///
/// # Safety
/// As for [`restart_service`].
pub unsafe fn restart_parked(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    // SAFETY: the block of a parked service is that of a process that can start.
    unsafe {
        let body = clear(p);
        count(w, p, body);
        (*p).status = PLATFORM;
    }
}

/// Makes the frame of an ended service what it is at the beginning.
///
/// # Safety
/// `p` is the block of a service that has ended.
unsafe fn clear(p: *mut Process) -> &'static Body {
    // SAFETY: the frame lies behind the buffer, whose length the interface says, up to the block's end.
    unsafe {
        let body = body_of(p);
        let frame = PAYLOAD + 8 * (*body.interface).buffer();
        ptr::write_bytes(p.cast::<u8>().add(frame), 0, body.size as usize - frame);
        (*p).lock = LOCK_NONE;
        (*p).score = 0;
        body
    }
}

/// Counts one more process, which goes on at the beginning of its body.
///
/// # Safety
/// `w` is the home worker; `p` is a block whose instance is live and whose body is `body`.
#[inline]
unsafe fn count(w: *mut Worker, p: *mut Process, body: &'static Body) {
    // SAFETY: the home's data belong to its worker.
    unsafe {
        (*p).resume = body.entry;
        if !body.native.is_null() {
            (*p).resume = (*home(w)).program.native_shim;
            stays_at_home((*p).instance);
        }
        (*(*p).instance).live += 1;
        (*team(w)).census.created += 1;
        (*team(w)).census.live += 1;
    }
}

/// Counts a process, and puts it where it waits for its first turn.
///
/// # Safety
/// As for [`count`].
#[inline]
unsafe fn launch(w: *mut Worker, p: *mut Process, body: &'static Body) {
    // SAFETY: `p` is new or has ended, so it stands in no queue.
    unsafe {
        let instance = (*p).instance;
        count(w, p, body);
        if (*instance).live & BEGUN == 0 && !body.interface.is_null() {
            (*p).status = UNBEGUN;
            (*rare_of(w, instance)).unbegun.push(p);
        } else if (*team(w)).is_candidate(body) {
            (*home(w)).parallel.keep(p);
        } else {
            ready(w, p);
        }
    }
}

/// [`Process::score`]: how many words the frames of its procedures take; the parallel module has the other bits.
const DEPTH: u32 = (1 << PENALTY_SHIFT) - 1;
/// [`Process::score`]: see the parallel module.
pub const PENALTY_SHIFT: u32 = 24;
/// [`Process::score`]: see the parallel module.
pub const PENALTY_BITS: u32 = 0x7F << PENALTY_SHIFT;
/// Most bytes that the frames of one process's procedures may take.
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
    frame: *const Frame,
    location: u32,
) -> *mut FrameHead {
    // SAFETY: `p` runs on `w`, and a frame that `frame` describes begins with its head.
    unsafe {
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
}

/// # Safety
/// As for [`ds_fail`].
#[cold]
#[inline(never)]
unsafe fn no_frame(w: *mut Worker, p: *mut Process, fault: Fault, location: u32) -> *mut FrameHead {
    // SAFETY: `p` runs on `w`, and leaves next.
    unsafe { ds_fail(w, p, fault as u32, location) };
    null_mut()
}

/// Leaves a procedure that may wait.
///
/// # Safety
/// `p` runs on `w` and is in a procedure with a frame, which owns nothing any more and is not touched again;
/// `innermost` is as for [`ds_frame_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_frame_end(w: *mut Worker, p: *mut Process, innermost: *mut *mut FrameHead) {
    // SAFETY: the innermost frame was made by `ds_frame_new` with this size, and nobody uses it any more.
    unsafe {
        let head = *innermost;
        *innermost = (*head).caller;
        let size = (*(*head).frame).size as usize;
        (*p).score -= size.div_ceil(8) as u32;
        (*heap_of(w)).free(head.cast(), size);
    }
}

/// Where a process keeps its innermost procedure's frame.
///
/// # Safety
/// `p` is live, and its body has procedures with frames.
pub unsafe fn innermost_frame(p: *mut Process) -> *mut *mut FrameHead {
    // SAFETY: the process's body says at which place of the block that is.
    unsafe { p.cast::<u8>().add(body_of(p).frame as usize).cast() }
}

/// The frames of a process's procedures, from the innermost; null if it has none.
///
/// # Safety
/// `p` is live.
pub unsafe fn frames(p: *mut Process) -> *mut FrameHead {
    // SAFETY: `p` is live.
    unsafe { if body_of(p).frame == 0 { null_mut() } else { *innermost_frame(p) } }
}
