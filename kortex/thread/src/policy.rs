//! Who runs next.

use core::cell::Cell;

use crate::{Queue, Thread};

/// Those that may run, in the order in which they will.
pub trait Policy<L: 'static> {
    /// Whether somebody has to give way when his time is over.
    const HAS_SLICES: bool;

    /// One more may run.
    fn put(&self, thread: &'static Thread<L>);

    /// The next one runs.
    fn take(&self) -> Option<&'static Thread<L>>;
}

/// One after the other, and each until it gives way.
#[derive(Debug)]
pub struct Cooperative<L: 'static>(Queue<L>);

/// One after the other, and none longer than a slice of time.
#[derive(Debug)]
pub struct RoundRobin<L: 'static>(Queue<L>);

/// Lower numbers first, those with the same one after the other, and none longer than a slice of time if there are others.
#[derive(Debug)]
pub struct Priority<L: 'static> {
    queues: [Queue<L>; PRIORITIES],
    /// A bit for each queue in which somebody is.
    ready: Cell<u32>,
}

/// So many priorities there are; higher numbers are the last one.
const PRIORITIES: usize = 32;

impl<L: 'static> Cooperative<L> {
    /// Nobody.
    pub const fn new() -> Cooperative<L> {
        Cooperative(Queue::new())
    }
}

impl<L: 'static> RoundRobin<L> {
    /// Nobody.
    pub const fn new() -> RoundRobin<L> {
        RoundRobin(Queue::new())
    }
}

impl<L: 'static> Priority<L> {
    /// Nobody.
    pub const fn new() -> Priority<L> {
        Priority { queues: [const { Queue::new() }; PRIORITIES], ready: Cell::new(0) }
    }
}

impl<L: 'static> Policy<L> for Cooperative<L> {
    const HAS_SLICES: bool = false;

    #[inline]
    fn put(&self, thread: &'static Thread<L>) {
        self.0.put(thread);
    }

    #[inline]
    fn take(&self) -> Option<&'static Thread<L>> {
        self.0.take()
    }
}

impl<L: 'static> Policy<L> for RoundRobin<L> {
    const HAS_SLICES: bool = true;

    #[inline]
    fn put(&self, thread: &'static Thread<L>) {
        self.0.put(thread);
    }

    #[inline]
    fn take(&self) -> Option<&'static Thread<L>> {
        self.0.take()
    }
}

impl<L: 'static> Policy<L> for Priority<L> {
    const HAS_SLICES: bool = true;

    #[inline]
    fn put(&self, thread: &'static Thread<L>) {
        let priority = thread.priority().min(PRIORITIES - 1);
        self.queues[priority].put(thread);
        self.ready.set(self.ready.get() | 1 << priority);
    }

    #[inline]
    fn take(&self) -> Option<&'static Thread<L>> {
        let ready = self.ready.get();
        let queue = self.queues.get(ready.trailing_zeros() as usize)?;
        let thread = queue.take();
        if queue.is_empty() {
            self.ready.set(ready & (ready - 1));
        }
        thread
    }
}

impl<L: 'static> Default for Cooperative<L> {
    fn default() -> Cooperative<L> {
        Cooperative::new()
    }
}

impl<L: 'static> Default for RoundRobin<L> {
    fn default() -> RoundRobin<L> {
        RoundRobin::new()
    }
}

impl<L: 'static> Default for Priority<L> {
    fn default() -> Priority<L> {
        Priority::new()
    }
}
