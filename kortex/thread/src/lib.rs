//! Threads and schedulers (*THINK*, section 4.4), built on exceptions alone. A thread is a context. A switch makes
//! another context the current one, and the exception handler returns to it.
//!
//! * A [`Scheduler`] requires a [`Policy`], which chooses the next thread: [`Cooperative`], [`RoundRobin`] or
//!   [`Priority`]. All three have the same interface.
//! * A thread's local part is what belongs to it beside its context, such as its address space. A [`Switch`] exchanges
//!   the local parts; [`Alone`] is for threads without one.
//! * A required component is a type parameter that derefs to it: a reference, or in a system a type without bytes.
//!
//! # Soundness
//!
//! All of this runs on one processor, in handlers or with interrupts off. Threads are never freed, and keep their type.

#![no_std]
#![cfg(target_arch = "x86_64")]

mod policy;
mod queue;
mod scheduler;
mod thread;

use core::convert::Infallible;
use core::mem::MaybeUninit;

use kortex_hal::exception::Context;
use kortex_resource::ResourceManager;

pub use policy::{Cooperative, InTurn, Policy, Priority, RoundRobin};
pub use queue::Queue;
pub use scheduler::Scheduler;
pub use thread::{Handle, Thread};

/// Exchanges the local parts of threads at a switch.
pub trait Switch {
    /// A thread's local part.
    type Local: 'static;

    /// The thread of `next` goes on, instead of that of `last`.
    ///
    /// # Safety
    /// Only a scheduler calls this, in a handler.
    unsafe fn switch(&self, last: &Self::Local, next: &Self::Local);
}

/// A switch for threads without a local part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Alone {
    /// The only one.
    pub const fn new() -> Alone {
        Alone
    }
}

impl Switch for Alone {
    type Local = ();

    #[inline]
    unsafe fn switch(&self, (): &(), (): &()) {}
}

/// A thread to be made: its memory, its first context, and its local part.
pub type New<L> = (&'static mut MaybeUninit<Thread<L>>, Context, L);

/// A resource manager for threads: it creates them, and binds the processor to a thread with a priority. Only bound
/// threads run.
pub trait Threads:
    ResourceManager<
        Of = New<<Self as Threads>::Local>,
        Resource = &'static Thread<<Self as Threads>::Local>,
        Hint = usize,
        Binding = &'static Thread<<Self as Threads>::Local>,
        Refused = Infallible,
    >
{
    /// A thread's local part.
    type Local: 'static;

    /// Makes the running code the idle thread, which runs when no other thread can, and is never bound.
    ///
    /// # Safety
    /// Called once.
    unsafe fn take_over(&self, idle: &'static Thread<Self::Local>);

    /// The running thread.
    fn running(&self) -> &'static Thread<Self::Local>;

    /// Gives the other threads a turn.
    ///
    /// # Safety
    /// Only a handler that interrupted a thread other than the idle one calls this. It returns to the new current
    /// context.
    unsafe fn give_way(&self);

    /// Ends the time slice of the running thread, if the policy has slices.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way), but the interrupted thread may be any.
    unsafe fn tick(&self);

    /// Blocks the running thread until it is notified.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way).
    unsafe fn wait(&self, condition: &Condition<Self::Local>);

    /// Wakes the first waiting thread. Returns whether there was one.
    fn notify(&self, condition: &Condition<Self::Local>) -> bool;

    /// Ends the running thread: unbinds the processor from it.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way).
    unsafe fn end(&self);

    /// Installs an exception by which user threads give way.
    ///
    /// # Safety
    /// The vector has no other use.
    unsafe fn give_way_by(&'static self, vector: usize);
}

/// A condition for which threads wait.
#[derive(Debug)]
pub struct Condition<L: 'static>(Queue<L>);

// SAFETY: conditions are used by one processor, in handlers or with interrupts off (see the head of the crate).
unsafe impl<L: 'static> Sync for Condition<L> {}

impl<L: 'static> Condition<L> {
    /// A condition without waiting threads.
    pub const fn new() -> Condition<L> {
        Condition(Queue::new())
    }
}

impl<L: 'static> Default for Condition<L> {
    fn default() -> Condition<L> {
        Condition::new()
    }
}
