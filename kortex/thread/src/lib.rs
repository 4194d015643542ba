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
use core::ptr::{eq, null_mut};

use kortex_hal::exception::{Context, Trap};

pub use policy::{Cooperative, Policy, Priority, RoundRobin};
pub use queue::Queue;

/// What belongs to a thread beside its context.
pub trait Local {
    /// This one goes on, instead of the one for which that was said last.
    ///
    /// # Safety
    /// Called by a scheduler, for the thread that will be running.
    unsafe fn enter(&self);
}

/// Nothing belongs to it.
impl Local for () {
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
    /// Its neighbours where it stands.
    next: Cell<Option<&'static Thread<L>>>,
    previous: Cell<Option<&'static Thread<L>>>,
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
        idle.reset();
        self.idle.set(Some(idle));
        self.running.set(Some(idle));
        // SAFETY: as the caller promises; a thread stays.
        unsafe { self.trap.set_current(idle.context.get()) };
    }

    /// The thread that runs.
    #[inline]
    pub fn running(&self) -> &'static Thread<L> {
        // SAFETY: a scheduler begins with a thread.
        unsafe { self.running.get().unwrap_unchecked() }
    }

    /// A new thread may run from now on.
    pub fn add(&self, thread: &'static Thread<L>) {
        thread.reset();
        self.policy.put(thread);
    }

    /// Others have their turn.
    ///
    /// # Safety
    /// Called by a handler, which returns to another context then.
    #[inline]
    pub unsafe fn give_way(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.run(self.policy.turn()) };
    }

    /// The running thread's time is over, if that ever is.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way).
    pub unsafe fn tick(&self) {
        let is_idle = self.idle.get().is_some_and(|idle| eq(idle, self.running()));
        let next = match is_idle {
            true => self.policy.first(),
            false if P::HAS_SLICES => self.policy.turn(),
            false => return,
        };
        // SAFETY: as the caller promises.
        unsafe { self.run(next) };
    }

    /// The running thread waits until it is notified.
    ///
    /// # Safety
    /// As for [`give_way`](Scheduler::give_way); it isn't the idle one.
    pub unsafe fn wait(&self, condition: &Condition<L>) {
        let running = self.running();
        let next = self.policy.leave();
        condition.0.put(running);
        // SAFETY: as the caller promises.
        unsafe { self.run(next) };
    }

    /// The first of those that wait may go on; whether there was one.
    pub fn notify(&self, condition: &Condition<L>) -> bool {
        condition.0.take().inspect(|thread| self.policy.put(thread)).is_some()
    }

    /// The running thread ends: nobody knows it any more.
    ///
    /// # Safety
    /// As for [`wait`](Scheduler::wait).
    pub unsafe fn end(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.run(self.policy.leave()) };
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
    unsafe fn run(&self, next: Option<&'static Thread<L>>) {
        let (last, next) = (self.running(), next.or(self.idle.get()));
        // SAFETY: there is the idle thread since the beginning.
        let next = unsafe { next.unwrap_unchecked() };
        self.running.set(Some(next));
        last.context.set(self.trap.current());
        // SAFETY: as the caller promises: a handler, in which contexts change.
        unsafe {
            next.local.enter();
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
