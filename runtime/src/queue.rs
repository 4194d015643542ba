//! Queues of processes, linked through the processes' own blocks. The worker's ready queue is one of them.
//!
//! A process stands in at most one queue, or is the waiter of at most one communication, so the one link in its block
//! is enough.
//!
//! # Safety of this module: *a process that stands nowhere*
//! `p` is a live process that is in no queue and waits at no communication. Once it is in a queue, that has its link:
//! until it is taken out, or the queue forgotten, it stays live and nobody else changes the link.

use core::ptr::null_mut;

use crate::layout::{Process, READY, Worker};

/// Processes in the order in which they came: live ones, whose links are the queue's.
pub struct Queue {
    /// Null if there are none.
    head: *mut Process,
    /// Meaningless if there are none.
    tail: *mut Process,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::EMPTY
    }
}

impl Queue {
    /// No processes.
    pub const EMPTY: Queue = Queue { head: null_mut(), tail: null_mut() };

    /// Takes over the ready queue, which is empty then.
    ///
    /// # Safety
    /// `w` is the worker of this thread.
    pub unsafe fn from_ready(w: *mut Worker) -> Queue {
        // SAFETY: only the thread of a worker uses its ready queue.
        unsafe { Queue { head: core::mem::replace(&mut (*w).ready_head, null_mut()), tail: (*w).ready_tail } }
    }

    /// Becomes the ready queue.
    ///
    /// # Safety
    /// `w` is the worker of this thread, the processes are its own, and none has become ready since
    /// [`Queue::from_ready`]: it would be lost.
    pub unsafe fn into_ready(self, w: *mut Worker) {
        // SAFETY: only the thread of a worker uses its ready queue.
        unsafe {
            (*w).ready_head = self.head;
            (*w).ready_tail = self.tail;
        }
    }

    /// The first, or null.
    #[inline]
    pub fn head(&self) -> *mut Process {
        self.head
    }

    /// Whether no process stands here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    /// Puts a process at the end.
    ///
    /// # Safety
    /// It is *a process that stands nowhere*.
    #[inline]
    pub unsafe fn push(&mut self, p: *mut Process) {
        // SAFETY: the links of `p`, and of processes in the queue, belong to the queue.
        unsafe {
            (*p).next = null_mut();
            if self.head.is_null() {
                self.head = p;
            } else {
                (*self.tail).next = p;
            }
        }
        self.tail = p;
    }

    /// Puts a process at the front.
    ///
    /// # Safety
    /// It is *a process that stands nowhere*.
    pub unsafe fn push_first(&mut self, p: *mut Process) {
        // SAFETY: the link of `p` belongs to this queue now.
        unsafe { (*p).next = self.head };
        if self.head.is_null() {
            self.tail = p;
        }
        self.head = p;
    }

    /// Takes the first, or null.
    #[inline]
    pub fn pop(&mut self) -> *mut Process {
        let p = self.head;
        if !p.is_null() {
            // SAFETY: a process that stands here is live.
            self.head = unsafe { (*p).next };
        }
        p
    }

    /// Puts all processes of another queue behind these.
    pub fn append(&mut self, other: &mut Queue) {
        let other = core::mem::take(other);
        match () {
            () if other.head.is_null() => {}
            () if self.head.is_null() => *self = other,
            () => {
                // SAFETY: the last process is live, and its link is this queue's.
                unsafe { (*self.tail).next = other.head };
                self.tail = other.tail;
            }
        }
    }

    /// Keeps the processes for which `keep` holds, in their order. `keep` may put each of the rest into another queue.
    pub fn retain(&mut self, mut keep: impl FnMut(*mut Process) -> bool) {
        let mut p = core::mem::replace(self, Queue::EMPTY).head;
        while !p.is_null() {
            // SAFETY: until `keep` has seen it, it stands in the queue as it was.
            let next = unsafe { (*p).next };
            if keep(p) {
                // SAFETY: the process stands in no other queue.
                unsafe { self.push(p) };
            }
            p = next;
        }
    }
}

/// Keeps those ready processes for which `keep` holds.
///
/// # Safety
/// `w` is the worker of this thread, and `keep` makes no process ready.
pub unsafe fn retain_ready(w: *mut Worker, keep: impl FnMut(*mut Process) -> bool) {
    // SAFETY: the queue is this thread's.
    unsafe {
        let mut queue = Queue::from_ready(w);
        queue.retain(keep);
        queue.into_ready(w);
    }
}

/// Puts a process at the end of the ready queue.
///
/// # Safety
/// `w` is the worker of this thread, and `p` *a process that stands nowhere*.
#[inline]
pub unsafe fn ready(w: *mut Worker, p: *mut Process) {
    // SAFETY: the links of `p`, and of ready processes, belong to the ready queue.
    unsafe {
        (*p).next = null_mut();
        (*p).status = READY;
        if (*w).ready_head.is_null() {
            (*w).ready_head = p;
        } else {
            (*(*w).ready_tail).next = p;
        }
        (*w).ready_tail = p;
    }
}

/// Puts a process at the front of the ready queue.
///
/// # Safety
/// `w` is the worker of this thread, and `p` *a process that stands nowhere*.
pub unsafe fn ready_first(w: *mut Worker, p: *mut Process) {
    // SAFETY: the queue is this thread's, and nothing becomes ready meanwhile.
    unsafe {
        let mut queue = Queue::from_ready(w);
        (*p).status = READY;
        queue.push_first(p);
        queue.into_ready(w);
    }
}

/// Makes all processes of a queue ready.
///
/// # Safety
/// `w` is the worker of this thread, and the processes are its own.
pub unsafe fn ready_all(w: *mut Worker, queue: &mut Queue) {
    loop {
        let p = queue.pop();
        if p.is_null() {
            return;
        }
        // SAFETY: the process stands in no queue any more.
        unsafe { ready(w, p) };
    }
}
