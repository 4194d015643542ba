//! Threads and schedulers (paper 002, section 4.4), built on exceptions alone: a thread is a context, and to switch is to make another
//! one the current one, which goes on when the handler returns.
//!
//! A [`Scheduler`] is made of a [`Policy`], which says who is next: [`Cooperative`], [`RoundRobin`] and [`Priority`] are called
//! the same from outside. What else belongs to a thread, its address space for instance, is its [`Local`] part; where there is nothing, nothing is
//! done.
//!
//! # Soundness
//!
//! All of this runs in handlers, or with interrupts off, on one processor.

#![no_std]
#![cfg(target_arch = "x86_64")]

mod policy;
mod queue;

use core::cell::{Cell, UnsafeCell};
use core::ptr::null_mut;

use kortex_hal::exception::{Context, Trap};

pub use policy::{Cooperative, Policy, Priority, RoundRobin};
pub use queue::Queue;

/// What belongs to a thread beside its context.
pub trait Local {
    /// Another thread goes on: keeps what is the processor's now.
    ///
    /// # Safety
    /// Called by a scheduler, for the thread that was running.
    unsafe fn leave(&self);

    /// This one goes on.
    ///
    /// # Safety
    /// Called by a scheduler, for the thread that will be running.
    unsafe fn enter(&self);
}

/// Nothing belongs to it.
impl Local for () {
    #[inline]
    unsafe fn leave(&self) {}

    #[inline]
    unsafe fn enter(&self) {}
}

/// A thread.
#[repr(C)]
#[derive(Debug)]
pub struct Thread<L: 'static> {
    /// What it begins with.
    first: UnsafeCell<Context>,
    /// Where it goes on when it isn't running: it may have got other contexts meanwhile.
    context: Cell<*mut Context>,
    /// The next one in the queue in which it stands.
    next: Cell<Option<&'static Thread<L>>>,
    /// The lower, the sooner it runs, where that counts.
    priority: Cell<usize>,
    /// What belongs to it.
    pub local: L,
}

// SAFETY: see the head of this file.
unsafe impl<L: 'static> Sync for Thread<L> {}

impl<L: 'static> Thread<L> {
    /// One that begins there.
    pub const fn new(context: Context, priority: usize, local: L) -> Thread<L> {
        let (next, priority) = (Cell::new(None), Cell::new(priority));
        Thread { first: UnsafeCell::new(context), context: Cell::new(null_mut()), next, priority, local }
    }

    /// Where it goes on.
    #[inline]
    fn context(&self) -> *mut Context {
        match self.context.get() {
            context if context.is_null() => self.first.get(),
            context => context,
        }
    }

    /// Its priority.
    pub fn priority(&self) -> usize {
        self.priority.get()
    }

    /// Gives it another priority, which counts when it is put into a queue next.
    pub fn set_priority(&self, priority: usize) {
        self.priority.set(priority);
    }
}

/// Decides which thread runs.
#[derive(Debug)]
pub struct Scheduler<P, T, L: 'static> {
    policy: P,
    trap: T,
    running: Cell<Option<&'static Thread<L>>>,
    /// Runs when no other one can.
    idle: Cell<Option<&'static Thread<L>>>,
}

// SAFETY: see the head of this file.
unsafe impl<P, T, L: 'static> Sync for Scheduler<P, T, L> {}

impl<P: Policy<L>, T: Trap, L: Local> Scheduler<P, T, L> {
    /// One that has no threads yet.
    pub const fn new(policy: P, trap: T) -> Scheduler<P, T, L> {
        Scheduler { policy, trap, running: Cell::new(None), idle: Cell::new(None) }
    }

    /// What runs now is this thread from now on. It is what runs when no other one can.
    ///
    /// # Safety
    /// Called once.
    pub unsafe fn begin(&self, idle: &'static Thread<L>) {
        self.idle.set(Some(idle));
        self.running.set(Some(idle));
        // SAFETY: as the caller promises; a thread stays.
        unsafe { self.trap.set_current(idle.context()) };
    }

    /// The thread that runs.
    #[inline]
    pub fn running(&self) -> &'static Thread<L> {
        self.running.get().expect("a scheduler begins with a thread")
    }

    /// A thread may run from now on.
    pub fn add(&self, thread: &'static Thread<L>) {
        self.policy.put(thread);
    }

    /// Others have their turn.
    ///
    /// # Safety
    /// Called by a handler, which returns to another context then.
    #[inline]
    pub unsafe fn give_way(&self) {
        let running = self.running();
        if !self.is_idle(running) {
            self.policy.put(running);
        }
        // SAFETY: as the caller promises.
        unsafe { self.go_on() };
    }

    /// The running thread's time is over, if that ever is.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn tick(&self) {
        if P::HAS_SLICES || self.is_idle(self.running()) {
            // SAFETY: as the caller promises.
            unsafe { self.give_way() };
        }
    }

    /// The running thread waits until it is notified.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn wait(&self, condition: &Condition<L>) {
        condition.0.put(self.running());
        // SAFETY: as the caller promises.
        unsafe { self.go_on() };
    }

    /// The first of those that wait may go on; whether there was one.
    pub fn notify(&self, condition: &Condition<L>) -> bool {
        let first = condition.0.take();
        first.inspect(|thread| self.policy.put(thread)).is_some()
    }

    /// The running thread ends: nobody knows it any more.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn end(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.go_on() };
    }

    fn is_idle(&self, thread: &'static Thread<L>) -> bool {
        self.idle.get().is_some_and(|idle| core::ptr::eq(idle, thread))
    }

    /// The next one goes on.
    #[inline]
    unsafe fn go_on(&self) {
        let (last, next) = (self.running.get(), self.policy.take().or(self.idle.get()));
        // SAFETY: there is the idle thread since the beginning.
        let (last, next) = unsafe { (last.unwrap_unchecked(), next.unwrap_unchecked()) };
        if core::ptr::eq(last, next) {
            return;
        }
        self.running.set(Some(next));
        // SAFETY: as the caller promises: a handler, in which contexts change.
        unsafe {
            last.context.set(self.trap.current());
            last.local.leave();
            next.local.enter();
            self.trap.set_current(next.context());
        }
    }
}

/// Something for which threads wait.
#[derive(Debug)]
pub struct Condition<L: 'static>(Queue<L>);

// SAFETY: see the head of this file.
unsafe impl<L: 'static> Sync for Condition<L> {}

impl<L: 'static> Condition<L> {
    /// One for which nobody waits.
    pub const fn new() -> Condition<L> {
        Condition(Queue::new())
    }
}

impl<L: 'static> Default for Condition<L> {
    fn default() -> Condition<L> {
        Condition::new()
    }
}
