//! The scheduler: the mechanism that all policies share.

use core::cell::Cell;
use core::convert::Infallible;
use core::ops::Deref;

use kortex_hal::exception::{Context, Trap};
use kortex_resource::ResourceManager;

use crate::{Condition, Handle, New, Policy, Switch, Thread, Threads};

/// Switches threads as its policy decides.
#[derive(Debug)]
pub struct Scheduler<P, T, S> {
    policy: P,
    trap: T,
    switch: S,
    /// The idle thread, which runs when no other thread is ready.
    idle: Cell<Option<Handle>>,
    /// Whether the idle thread runs, which the policy doesn't know.
    is_idle: Cell<bool>,
}

// SAFETY: a scheduler is used by one processor, in handlers or with interrupts off (see the head of the crate).
unsafe impl<P, T, S> Sync for Scheduler<P, T, S> {}

impl<P, T, S> Scheduler<P, T, S> {
    /// A scheduler without threads.
    pub const fn new(policy: P, trap: T, switch: S) -> Scheduler<P, T, S> {
        Scheduler { policy, trap, switch, idle: Cell::new(None), is_idle: Cell::new(true) }
    }
}

impl<P, T, S> Scheduler<P, T, S>
where
    P: Deref<Target: Policy>,
    T: Deref<Target: Trap>,
    S: Deref<Target: Switch>,
{
    /// The idle thread.
    #[cold]
    fn idle(&self) -> Handle {
        self.idle.get().expect("a scheduler begins with a thread")
    }

    #[inline]
    fn current(&self) -> Handle {
        let running = if self.is_idle.get() { None } else { self.policy.current() };
        running.unwrap_or_else(|| self.idle())
    }

    extern "C" fn gave_way(_: &mut Context, of: *const ()) {
        // SAFETY: registered with this argument; in a handler.
        unsafe { (*of.cast::<Self>()).give_way() };
    }

    /// # Safety
    /// In a handler; `last` and `next` are threads of this scheduler.
    #[inline]
    unsafe fn go_on(&self, last: Handle, next: Handle) {
        // SAFETY: the caller promises that this is a handler, in which contexts change, and that both are this
        // scheduler's threads.
        unsafe {
            let (last, next): (&Thread<<Self as Threads>::Local>, &Thread<_>) =
                (last.thread(), next.thread());
            last.node.context.set(self.trap.current());
            self.switch.switch(&last.local, &next.local);
            self.trap.set_current(next.node.context.get());
        }
    }
}

impl<P, T, S> ResourceManager for Scheduler<P, T, S>
where
    P: Deref<Target: Policy>,
    T: Deref<Target: Trap>,
    S: Deref<Target: Switch>,
{
    type Of = New<<Self as Threads>::Local>;
    type Resource = &'static Thread<<Self as Threads>::Local>;
    type Hint = usize;
    type Binding = Self::Resource;
    type Refused = Infallible;

    fn create(&self, (place, context, local): Self::Of) -> Result<Self::Resource, Infallible> {
        Ok(place.write(Thread::new(context, local)))
    }

    unsafe fn bind(&self, &thread: &Self::Resource, priority: usize) -> Result<Self::Binding, Infallible> {
        thread.node.priority.set(priority);
        thread.reset();
        self.policy.put(Handle::of(thread));
        Ok(thread)
    }

    /// Unbinds a ready thread that isn't running.
    unsafe fn unbind(&self, thread: Self::Binding) {
        self.policy.remove(Handle::of(thread));
    }

    unsafe fn release(&self, thread: Self::Resource) {
        // SAFETY: the caller promises that this scheduler made the thread, which isn't used any more.
        unsafe { (&raw const *thread).cast_mut().drop_in_place() };
    }
}

impl<P, T, S> Threads for Scheduler<P, T, S>
where
    P: Deref<Target: Policy>,
    T: Deref<Target: Trap>,
    S: Deref<Target: Switch>,
{
    type Local = <S::Target as Switch>::Local;

    unsafe fn take_over(&self, idle: &'static Thread<Self::Local>) {
        idle.reset();
        self.idle.set(Some(Handle::of(idle)));
        // SAFETY: a thread stays. The caller promises that this is called once.
        unsafe { self.trap.set_current(idle.node.context.get()) };
    }

    #[inline]
    fn running(&self) -> &'static Thread<Self::Local> {
        // SAFETY: all threads of this scheduler have that type.
        unsafe { self.current().thread() }
    }

    #[inline]
    unsafe fn give_way(&self) {
        let last = self.policy.current();
        // SAFETY: the caller promises that a handler interrupted a thread other than the idle one; the policy promises
        // that `current` and `turn` give a thread then.
        unsafe { self.go_on(last.unwrap_unchecked(), self.policy.turn().unwrap_unchecked()) };
    }

    unsafe fn tick(&self) {
        if !self.is_idle.get() {
            if P::Target::HAS_SLICES {
                // SAFETY: the caller promises that this is a handler. The idle thread doesn't run, so it interrupted
                // another one.
                unsafe { self.give_way() };
            }
        } else if let Some(first) = self.policy.first() {
            self.is_idle.set(false);
            // SAFETY: the caller promises that this is a handler; both are this scheduler's threads.
            unsafe { self.go_on(self.idle(), first) };
        }
    }

    unsafe fn wait(&self, condition: &Condition<Self::Local>) {
        let running = self.running();
        // SAFETY: the caller promises that a handler interrupted a thread other than the idle one.
        unsafe { self.end() };
        condition.0.put(running);
    }

    fn notify(&self, condition: &Condition<Self::Local>) -> bool {
        condition.0.take().inspect(|thread| self.policy.put(Handle::of(thread))).is_some()
    }

    unsafe fn end(&self) {
        let last = self.current();
        let next = self.policy.leave();
        self.is_idle.set(next.is_none());
        // SAFETY: the caller promises that this is a handler; both are this scheduler's threads.
        unsafe { self.go_on(last, next.unwrap_or_else(|| self.idle())) };
    }

    unsafe fn give_way_by(&'static self, vector: usize) {
        // SAFETY: the caller promises that the vector has no other use.
        unsafe { self.trap.register(vector, Self::gave_way, (self as *const Self).cast()) };
    }
}
