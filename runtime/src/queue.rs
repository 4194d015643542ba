//! Queues of processes; the worker's own, of those that are ready, is among them.
//!
//! # Why this is sound
//! A process stands in at most one queue, or is the waiter of at most one communication, so the one link in its block
//! is enough, and whoever takes it out is the only one to have it.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use crate::layout::{Process, READY, Worker};

/// Processes in the order in which they came.
#[derive(Clone, Copy)]
pub struct Queue {
    /// First, or null.
    pub head: *mut Process,
    tail: *mut Process,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::EMPTY
    }
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

    /// Puts a process before the others.
    pub unsafe fn push_first(&mut self, p: *mut Process) {
        (*p).next = self.head;
        if self.head.is_null() {
            self.tail = p;
        }
        self.head = p;
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

/// Keeps those ready processes for whom `keep` holds.
pub unsafe fn retain_ready(w: *mut Worker, keep: impl FnMut(*mut Process) -> bool) {
    let mut queue = Queue::from_ready(w);
    queue.retain(keep);
    queue.into_ready(w);
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
