//! Threads and schedulers (paper 002, section 4.4), built on exceptions alone: a thread is a context, and to switch is
//! to make another one the current one, which goes on when the handler returns.
//!
//! A [`Scheduler`] requires a [`Policy`], which says who is next: [`Cooperative`], [`RoundRobin`] and [`Priority`] are
//! called the same from outside. What else belongs to a thread, its address space for instance, is its local part,
//! which a [`Switch`] looks after; where there is nothing ([`Alone`]), nothing is done. What a component requires is
//! whatever leads to it: a reference, or in a system something that knows its place and takes none itself.
//!
//! # Soundness
//!
//! All of this runs in handlers, or with interrupts off, on one processor. A thread begins with what its handle leads
//! to, and is never anything but what it was made as.

#![no_std]
#![cfg(target_arch = "x86_64")]

mod policy;
mod queue;
mod scheduler;

use core::cell::UnsafeCell;
use core::convert::Infallible;
use core::mem::{MaybeUninit, offset_of};

use kortex_hal::exception::Context;
use kortex_resource::ResourceManager;

pub use policy::{Cooperative, InTurn, Policy, Priority, RoundRobin};
pub use queue::{Handle, Queue};
pub use scheduler::Scheduler;

use queue::Node;

/// Who is told which thread goes on.
pub trait Switch {
    /// What belongs to a thread beside its context.
    type Local: 'static;

    /// The thread of `next` goes on, instead of that of `last`.
    ///
    /// # Safety
    /// Called by a scheduler, in a handler.
    unsafe fn switch(&self, last: &Self::Local, next: &Self::Local);
}

/// Nothing belongs to a thread.
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

/// Where a thread is to be, what it begins with, and what belongs to it beside that.
pub type New<L> = (&'static mut MaybeUninit<Thread<L>>, Context, L);

/// Decides which thread runs: manages them, and the processor, which is bound to a thread with a priority. While it is,
/// it may run.
pub trait Threads:
    ResourceManager<
        Of = New<<Self as Threads>::Local>,
        Resource = &'static Thread<<Self as Threads>::Local>,
        Hint = usize,
        Binding = &'static Thread<<Self as Threads>::Local>,
        Refused = Infallible,
    >
{
    /// What belongs to a thread beside its context.
    type Local: 'static;

    /// What runs now is this thread from now on. It is what runs when no other one can, and is never bound.
    ///
    /// # Safety
    /// Called once.
    unsafe fn take_over(&self, idle: &'static Thread<Self::Local>);

    /// The thread that runs.
    fn running(&self) -> &'static Thread<Self::Local>;

    /// Others have their turn.
    ///
    /// # Safety
    /// Called by a handler, of another thread than the idle one, which returns to another context then.
    unsafe fn give_way(&self);

    /// The running thread's time is over, if that ever is.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way), but of any thread.
    unsafe fn tick(&self);

    /// The running thread waits until it is notified.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way).
    unsafe fn wait(&self, condition: &Condition<Self::Local>);

    /// The first of those that wait may go on; whether there was one.
    fn notify(&self, condition: &Condition<Self::Local>) -> bool;

    /// The running thread ends: the processor is unbound from it.
    ///
    /// # Safety
    /// As for [`give_way`](Threads::give_way).
    unsafe fn end(&self);

    /// Lets users' threads give way by an exception: no more is done than that.
    ///
    /// # Safety
    /// The vector is for that.
    unsafe fn give_way_by(&'static self, vector: usize);
}

/// A thread.
#[repr(C)]
#[derive(Debug)]
pub struct Thread<L: 'static> {
    node: Node,
    /// What belongs to it.
    pub local: L,
    /// What it begins with.
    first: UnsafeCell<Context>,
}

// SAFETY: see the head of this file.
unsafe impl<L: 'static> Sync for Thread<L> {}

impl<L: 'static> Thread<L> {
    /// One that begins there.
    const fn new(context: Context, local: L) -> Thread<L> {
        Thread { node: Node::new(), local, first: UnsafeCell::new(context) }
    }

    /// The one to which that belongs.
    ///
    /// # Safety
    /// It is what a thread has as its own.
    pub unsafe fn of(local: *const L) -> &'static Thread<L> {
        // SAFETY: as the caller promises; threads stay where they are.
        unsafe { &*local.byte_sub(offset_of!(Thread<L>, local)).cast() }
    }

    /// The context that it begins with.
    pub fn first(&self) -> *mut Context {
        self.first.get()
    }

    /// It goes on with what it begins with.
    fn reset(&self) {
        self.node.context.set(self.first());
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
