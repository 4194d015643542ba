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
    /// This one goes on, instead of the last one.
    ///
    /// # Safety
    /// Called by a scheduler, for the thread that will be running.
    unsafe fn enter(&self, last: &Self);
}

/// Nothing belongs to it.
impl Local for () {
    #[inline]
    unsafe fn enter(&self, _: &()) {}
}

/// A thread.
#[repr(C)]
#[derive(Debug)]
pub struct Thread<L: 'static> {
    /// What belongs to it. It comes first, so that it is where the thread is.
    pub local: L,
    /// What it begins with.
    first: UnsafeCell<Context>,
    /// Where it goes on when it isn't running: it may have got other contexts meanwhile.
    context: Cell<*mut Context>,
    /// Its neighbours where it stands.
    next: Cell<Option<&'static Thread<L>>>,
    previous: Cell<Option<&'static Thread<L>>>,
    /// The lower, the sooner it runs, where that counts.
    priority: Cell<usize>,
}

// SAFETY: see the head of this file.
unsafe impl<L: 'static> Sync for Thread<L> {}

impl<L: 'static> Thread<L> {
    /// One that begins there.
    pub const fn new(context: Context, priority: usize, local: L) -> Thread<L> {
        Thread {
            first: UnsafeCell::new(context),
            context: Cell::new(null_mut()),
            next: Cell::new(None),
            previous: Cell::new(None),
            priority: Cell::new(priority),
            local,
        }
    }

    /// It goes on with what it begins with.
    fn reset(&self) {
        self.context.set(self.first.get());
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
    /// Runs when no other one can.
    idle: Cell<Option<&'static Thread<L>>>,
    /// That one runs: of the others, the policy knows which.
    is_idle: Cell<bool>,
}

// SAFETY: see the head of this file.
unsafe impl<P, T, L: 'static> Sync for Scheduler<P, T, L> {}

impl<P: Policy<L>, T: Trap, L: Local> Scheduler<P, T, L> {
    /// One that has no threads yet.
    pub const fn new(policy: P, trap: T) -> Scheduler<P, T, L> {
        Scheduler { policy, trap, idle: Cell::new(None), is_idle: Cell::new(true) }
    }

    /// What runs now is this thread from now on. It is what runs when no other one can.
    ///
    /// # Safety
    /// Called once.
    pub unsafe fn begin(&self, idle: &'static Thread<L>) {
        idle.reset();
        self.idle.set(Some(idle));
        // SAFETY: as the caller promises; a thread stays.
        unsafe { self.trap.set_current(idle.context.get()) };
    }

    /// The thread that runs.
    #[inline]
    pub fn running(&self) -> &'static Thread<L> {
        let running = if self.is_idle.get() { None } else { self.policy.current() };
        running.unwrap_or_else(|| self.idle())
    }

    #[cold]
    fn idle(&self) -> &'static Thread<L> {
        self.idle.get().expect("a scheduler begins with a thread")
    }

    /// A new thread may run from now on.
    pub fn add(&self, thread: &'static Thread<L>) {
        thread.reset();
        self.policy.put(thread);
    }

    /// Others have their turn.
    ///
    /// # Safety
    /// Called by a handler, of another thread than the idle one, which returns to another context then.
    #[inline]
    pub unsafe fn give_way(&self) {
        let last = self.policy.current();
        // SAFETY: as the caller promises: one runs that the policy knows.
        unsafe { self.go_on(last.unwrap_unchecked(), self.policy.turn().unwrap_unchecked()) };
    }

    /// The running thread's time is over, if that ever is.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way), but of any thread.
    pub unsafe fn tick(&self) {
        if !self.is_idle.get() {
            if P::HAS_SLICES {
                // SAFETY: as the caller promises.
                unsafe { self.give_way() };
            }
        } else if let Some(first) = self.policy.first() {
            self.is_idle.set(false);
            // SAFETY: as the caller promises.
            unsafe { self.go_on(self.idle(), first) };
        }
    }

    /// The running thread waits until it is notified.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn wait(&self, condition: &Condition<L>) {
        let running = self.running();
        // SAFETY: as the caller promises.
        unsafe { self.end() };
        condition.0.put(running);
    }

    /// The first of those that wait may go on; whether there was one.
    pub fn notify(&self, condition: &Condition<L>) -> bool {
        condition.0.take().inspect(|thread| self.policy.put(thread)).is_some()
    }

    /// The running thread ends: nobody knows it any more.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn end(&self) {
        let last = self.running();
        let next = self.policy.leave();
        self.is_idle.set(next.is_none());
        // SAFETY: as the caller promises.
        unsafe { self.go_on(last, next.unwrap_or_else(|| self.idle())) };
    }

    /// Lets users' threads give way by an exception: no more is done than that.
    ///
    /// # Safety
    /// The scheduler is there for ever, and the vector is for that.
    pub unsafe fn give_way_by(&'static self, vector: usize) {
        // SAFETY: as the caller promises.
        unsafe { self.trap.register(vector, Self::gave_way, (self as *const Self).cast()) };
    }

    extern "C" fn gave_way(_: &mut Context, of: *const ()) {
        // SAFETY: registered so, in a handler.
        unsafe { (*of.cast::<Self>()).give_way() };
    }

    #[inline]
    unsafe fn go_on(&self, last: &'static Thread<L>, next: &'static Thread<L>) {
        last.context.set(self.trap.current());
        // SAFETY: as the caller promises: a handler, in which contexts change.
        unsafe {
            next.local.enter(&last.local);
            self.trap.set_current(next.context.get());
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
