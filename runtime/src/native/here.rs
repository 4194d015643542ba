//! Which process of a native component runs now. Sessions and ports ask this, so that they can be used in any of the
//! component's own processes, and nowhere else.
//!
//! # Safety
//! The pointers here are those of the process that runs, at home (see [`crate::home`]), for as long as it does; while
//! one of its processes runs, a component is alive.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::Cell;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::ptr::null_mut;
use core::task::{Context, Poll, Waker};

use super::{Waiter, platform, yield_now};
use crate::failure::ds_halt;
use crate::layout::{NEWS, PLATFORM, Process, READY, Worker};
use crate::worker::slice_is_over;

/// What a process does, until it ends.
pub type Activity = Pin<Box<dyn Future<Output = ()>>>;

/// See the head of this file.
pub(super) struct Here {
    now: Cell<Now>,
}

#[derive(Clone, Copy)]
struct Now {
    worker: *mut Worker,
    process: *mut Process,
    /// An entry point has said that it has to wait, and has seen to its being woken.
    waits: bool,
    /// It may be woken by the platform.
    is_for_platform: bool,
}

impl Here {
    pub(super) fn new() -> Rc<Here> {
        let now = Now { worker: null_mut(), process: null_mut(), waits: false, is_for_platform: false };
        Rc::new(Here { now: Cell::new(now) })
    }

    /// Worker and process that run.
    #[inline]
    pub(super) fn running(&self) -> (*mut Worker, *mut Process) {
        let Now { worker, process, .. } = self.now.get();
        assert!(!process.is_null(), "a component's sessions and ports are for its own processes");
        (worker, process)
    }

    /// The process has to wait, and will be woken.
    pub(super) fn must_wait(&self) {
        self.now.set(Now { waits: true, ..self.now.get() });
    }

    /// Whether it has to wait already: a process waits at one communication at a time.
    pub(super) fn waits(&self) -> bool {
        self.now.get().waits
    }

    /// The process, to be woken by the platform.
    pub(super) fn waiter(&self) -> Waiter {
        let (_, process) = self.running();
        self.now.set(Now { is_for_platform: true, ..self.now.get() });
        Waiter { process }
    }

    /// Does something in a process of the component.
    pub(super) fn within<T>(&self, worker: *mut Worker, process: *mut Process, act: impl FnOnce() -> T) -> T {
        let outer = self.now.replace(Now { worker, process, waits: false, is_for_platform: false });
        let result = act();
        self.now.set(outer);
        result
    }

    /// Goes on with what a process does; `true`: it has come to its end. Else the process waits.
    ///
    /// # Safety
    /// `process` runs on `worker`, the home worker, and is one of the component.
    pub(super) unsafe fn poll(
        &self,
        worker: *mut Worker,
        process: *mut Process,
        activity: &mut Activity,
    ) -> bool {
        self.within(worker, process, || {
            let polled = activity.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let Now { waits, is_for_platform, .. } = self.now.get();
            if polled.is_pending() {
                // SAFETY: the process runs.
                unsafe { settle(process, waits, is_for_platform) };
            }
            polled.is_ready()
        })
    }

    /// Asks again whenever the waiter is woken.
    pub(super) fn until<T>(&self, mut attempt: impl FnMut(Waiter) -> Poll<T>) -> impl Future<Output = T> {
        poll_fn(move |_| attempt(self.waiter()))
    }

    /// Gives others a turn, if the time slice is over.
    pub(super) fn give_way(&self) -> impl Future<Output = ()> {
        let mut has_given = false;
        poll_fn(move |_| {
            let (worker, process) = self.running();
            // SAFETY: the process runs, at home.
            if has_given || !unsafe { slice_is_over(worker) } {
                return Poll::Ready(());
            }
            has_given = true;
            // SAFETY: the process runs, and its body returns now.
            unsafe { yield_now(worker, process) };
            self.must_wait();
            Poll::Pending
        })
    }

    /// Reports what the protocol has no message for, and ends the program with status 1.
    pub(super) fn fail(&self, reason: &str) {
        let (worker, process) = self.running();
        // SAFETY: the process runs, at home.
        unsafe { fail(worker, process, reason) };
        self.must_wait();
    }
}

/// Reports something and ends the program with status 1.
///
/// # Safety
/// `process` runs on `worker`, the home worker.
pub(super) unsafe fn fail(worker: *mut Worker, process: *mut Process, reason: &str) {
    // SAFETY: the process runs; the platform is used for one call.
    unsafe {
        (*platform(worker)).report(reason.as_bytes());
        ds_halt(worker, process, 1);
    }
}

/// A process waits: at a communication, for the platform, or for either.
///
/// # Safety
/// The process runs.
unsafe fn settle(process: *mut Process, waits: bool, is_for_platform: bool) {
    // SAFETY: the process runs.
    unsafe {
        let status = (*process).status;
        let is_free = !waits && status == READY;
        if is_free || (is_for_platform && status == NEWS) {
            (*process).status = PLATFORM;
        }
    }
}
