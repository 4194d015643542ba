//! Processes: their blocks, the queues they stand in, how they start and end.
//!
//! # Why this is sound
//! Blocks are reached through raw pointers only, by the home worker only. A block is live from [`start`] or
//! [`start_service`] until the one place that ends it: the end of its body, the close of its communication, or a
//! fault. A process stands in at most one queue, or is the waiter of at most one communication, so the one link
//! in its block is enough, and whoever takes it out is the only one to have it.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

use core::ptr::{self, null_mut};

use drystone_component::{Body, Template};

use crate::deletion;
use crate::heap::heap_of;
use crate::instance::{self, BEGUN, COUNT, rare_if_any, rare_of, template_of};
use crate::layout::*;
use crate::scheduler::Home;

/// It waits to enter a monitor.
pub const ENTRY: u8 = 3;
/// It awaits a condition, and had the lock shared.
pub const AWAITS_SHARED: u8 = 4;
/// It awaits a condition, and had the lock alone.
pub const AWAITS_EXCLUSIVE: u8 = 5;
/// It sleeps.
pub const SLEEPS: u8 = 6;
/// It has slept, and its `ds_passivate` is about to be called again.
pub const WOKEN: u8 = 7;
/// It waits for a connection.
pub const CONNECTION: u8 = 8;
/// A service that waits for its component's BEGIN.
pub const UNBEGUN: u8 = 9;
/// It waits for the end of a deletion.
pub const DELETION: u8 = 10;
/// A native process that waits for the platform.
pub const PLATFORM: u8 = 11;
/// It has failed; the scheduler will see to it.
pub const FAILED: u8 = 12;
/// It runs on another worker, or is about to.
pub const AWAY: u8 = 13;

/// Processes in the order in which they came.
#[derive(Clone, Copy)]
pub struct Queue {
    /// First, or null.
    pub head: *mut Process,
    tail: *mut Process,
}

impl Queue {
    /// Nobody.
    pub const EMPTY: Queue = Queue { head: null_mut(), tail: null_mut() };

    /// Takes over the ready queue.
    pub unsafe fn from_ready(w: *mut Worker) -> Queue {
        Queue { head: core::mem::replace(&mut (*w).ready_head, null_mut()), tail: (*w).ready_tail }
    }

    /// Becomes the ready queue.
    pub unsafe fn into_ready(self, w: *mut Worker) {
        (*w).ready_head = self.head;
        (*w).ready_tail = self.tail;
    }

    /// Whether nobody stands here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    /// Puts a process behind the others.
    #[inline]
    pub unsafe fn push(&mut self, p: *mut Process) {
        (*p).next = null_mut();
        if self.head.is_null() {
            self.head = p;
        } else {
            (*self.tail).next = p;
        }
        self.tail = p;
    }

    /// Takes the first, or null.
    #[inline]
    pub unsafe fn pop(&mut self) -> *mut Process {
        let p = self.head;
        if !p.is_null() {
            self.head = (*p).next;
        }
        p
    }

    /// Keeps those for whom `keep` holds, in their order. `keep` may give the others to someone else at once.
    pub unsafe fn retain(&mut self, mut keep: impl FnMut(*mut Process) -> bool) {
        let mut p = core::mem::replace(self, Queue::EMPTY).head;
        while !p.is_null() {
            let next = (*p).next;
            if keep(p) {
                self.push(p);
            }
            p = next;
        }
    }
}

/// The home's own data.
///
/// The result must not be kept across calls that may want it themselves.
#[inline]
pub unsafe fn home<'a>(w: *mut Worker) -> &'a mut Home {
    &mut *(*(*w).own).home
}

/// Puts a process at the end of the ready queue.
#[inline]
pub unsafe fn ready(w: *mut Worker, p: *mut Process) {
    (*p).next = null_mut();
    (*p).status = READY;
    if (*w).ready_head.is_null() {
        (*w).ready_head = p;
    } else {
        (*(*w).ready_tail).next = p;
    }
    (*w).ready_tail = p;
}

/// Makes all of a queue ready.
pub unsafe fn ready_all(w: *mut Worker, queue: &mut Queue) {
    loop {
        let p = queue.pop();
        if p.is_null() {
            return;
        }
        ready(w, p);
    }
}

/// What a process runs.
#[inline]
pub unsafe fn body_of(p: *mut Process) -> &'static Body {
    let template: &'static Template = &*template_of((*p).instance);
    body(template, (*p).body as usize)
}

#[inline]
unsafe fn body(template: &'static Template, index: usize) -> &'static Body {
    &*template.bodies.first.add(index)
}

/// Whether a process is a service: its block then is a [`Communication`].
#[inline]
pub unsafe fn is_service(p: *mut Process) -> bool {
    !body_of(p).interface.is_null()
}

/// Starts BEGIN/ACTIVITY or FINALLY. Null: no memory.
pub unsafe fn start(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Process {
    let body = body(&*template_of(instance), index as usize);
    let p = heap_of(w).allocate_zeroed(body.size as usize) as *mut Process;
    if !p.is_null() {
        (*p).instance = instance;
        (*p).body = index as u16;
        launch(w, p, body);
    }
    p
}

/// Runs the FINALLY of a native component, which ends at once.
pub unsafe fn run_finally(w: *mut Worker, instance: *mut Instance, body: &Body) {
    let p = heap_of(w).allocate_zeroed(body.size as usize) as *mut Process;
    if p.is_null() {
        return;
    }
    (*p).instance = instance;
    (*p).body = (*template_of(instance)).finally as u16;
    (*instance).live += 1;
    home(w).live += 1;
    let run: crate::platform::NativeBody = core::mem::transmute(body.native);
    run(w, p);
}

/// Starts a service with its communication. Null: no memory.
#[inline]
pub unsafe fn start_service(w: *mut Worker, instance: *mut Instance, index: u32) -> *mut Communication {
    let body = body(&*template_of(instance), index as usize);
    let c = heap_of(w).allocate_zeroed(body.size as usize) as *mut Communication;
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
    let body = body_of(p);
    let frame = PAYLOAD + 8 * (*body.interface).payload_words;
    ptr::write_bytes(p.cast::<u8>().add(frame), 0, body.size as usize - frame);
    (*p).lock = LOCK_NONE;
    (*p).score = 0;
    launch(w, p, body);
}

#[inline]
unsafe fn launch(w: *mut Worker, p: *mut Process, body: &'static Body) {
    let instance = (*p).instance;
    (*p).resume = if body.native.is_null() { body.entry } else { home(w).program.native_shim };
    (*instance).live += 1;
    home(w).created += 1;
    home(w).live += 1;
    if (*instance).live & BEGUN == 0 && !body.interface.is_null() {
        (*p).status = UNBEGUN;
        (*rare_of(instance)).unbegun.push(p);
    } else if home(w).parallel.is_candidate(body) {
        home(w).parallel.keep(p);
    } else {
        ready(w, p);
    }
}

/// BEGIN has ended: the services that wait for it start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_begun(w: *mut Worker, p: *mut Process) {
    begun(w, (*p).instance);
}

unsafe fn begun(w: *mut Worker, instance: *mut Instance) {
    (*instance).live |= BEGUN;
    if !rare_if_any(instance).is_null() {
        ready_all(w, &mut (*rare_if_any(instance)).unbegun);
    }
}

/// The body of a process has run to its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_finish(w: *mut Worker, p: *mut Process, place: u32) {
    let body = body_of(p);
    if body.interface.is_null() {
        let instance = (*p).instance;
        let main = instance::main_process(instance);
        if !main.is_null() && *main == p {
            *main = null_mut();
            if (*instance).live & BEGUN == 0 {
                begun(w, instance);
            }
        }
        heap_of(w).free(p.cast(), body.size as usize);
        ended(w, instance);
    } else {
        crate::communication::finish(w, p.cast(), &*body.interface, place);
    }
}

/// One process of an instance less.
#[inline]
pub unsafe fn ended(w: *mut Worker, instance: *mut Instance) {
    home(w).live -= 1;
    (*instance).live -= 1;
    deletion::go_on(w, instance);
}

/// How many processes of an instance are alive.
#[inline]
pub unsafe fn live(instance: *mut Instance) -> u32 {
    (*instance).live & COUNT
}

/// [`Process::score`]: how many words the process's procedures have in frames; the parallel module has the rest.
const DEPTH: u32 = (1 << PENALTY_SHIFT) - 1;
/// [`Process::score`]: see the parallel module.
pub const PENALTY_SHIFT: u32 = 24;
/// Most bytes that the procedures of one process may have in frames.
const FRAMES_LIMIT: usize = 64 << 20;

/// Enters a procedure that may wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_frame_new(
    w: *mut Worker,
    p: *mut Process,
    frame: *const drystone_component::Frame,
    place: u32,
) -> *mut FrameHead {
    let size = (*frame).size as usize;
    let innermost = innermost_frame(p);
    let depth = ((*p).score & DEPTH) as usize + size.div_ceil(8);
    if depth > FRAMES_LIMIT / 8 {
        crate::fault::ds_fail(w, p, Fault::StackLimit as u32, place);
        return null_mut();
    }
    let head = heap_of(w).allocate_zeroed(size) as *mut FrameHead;
    if head.is_null() {
        crate::fault::ds_fail(w, p, Fault::OutOfMemory as u32, place);
        return null_mut();
    }
    (*p).score = (*p).score & !DEPTH | depth as u32;
    (*head).caller = *innermost;
    (*head).frame = frame;
    *innermost = head;
    head
}

/// Leaves it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_frame_end(w: *mut Worker, p: *mut Process) {
    let innermost = innermost_frame(p);
    let head = *innermost;
    *innermost = (*head).caller;
    let size = (*(*head).frame).size as usize;
    (*p).score -= size.div_ceil(8) as u32;
    heap_of(w).free(head.cast(), size);
}

/// Where a process keeps its innermost procedure's frame.
unsafe fn innermost_frame(p: *mut Process) -> *mut *mut FrameHead {
    p.cast::<u8>().add(body_of(p).frame as usize).cast()
}

/// A process's procedure frames, from the innermost; null if it has none.
pub unsafe fn frames(p: *mut Process) -> *mut FrameHead {
    if body_of(p).frame == 0 { null_mut() } else { *innermost_frame(p) }
}
