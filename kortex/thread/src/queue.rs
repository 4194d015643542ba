//! Intrusive lists of threads: a queue and a ring. The links are in the threads' nodes.

use core::cell::Cell;
use core::marker::PhantomData;

use crate::thread::{Handle, Thread};

/// First in, first out.
#[derive(Debug)]
pub struct Queue<L: 'static> {
    first: Cell<Option<Handle>>,
    last: Cell<Option<Handle>>,
    threads: PhantomData<&'static Thread<L>>,
}

impl<L: 'static> Queue<L> {
    /// The empty queue.
    pub const fn new() -> Queue<L> {
        Queue { first: Cell::new(None), last: Cell::new(None), threads: PhantomData }
    }

    /// Appends a thread, which stands in no other list.
    pub fn put(&self, thread: &'static Thread<L>) {
        let thread = Handle::of(thread);
        thread.node().next.set(None);
        match self.last.replace(Some(thread)) {
            Some(last) if self.first.get().is_some() => last.node().next.set(Some(thread)),
            _ => self.first.set(Some(thread)),
        }
    }

    /// Removes the first thread.
    pub fn take(&self) -> Option<&'static Thread<L>> {
        let first = self.first.get()?;
        self.first.set(first.node().next.get());
        // SAFETY: `put` takes threads of this type only.
        Some(unsafe { first.thread() })
    }
}

impl<L: 'static> Default for Queue<L> {
    fn default() -> Queue<L> {
        Queue::new()
    }
}

/// Threads that take turns, the current one included.
#[derive(Debug)]
pub(crate) struct Ring {
    current: Cell<Option<Handle>>,
}

// SAFETY: rings are used by one processor, in handlers or with interrupts off (see the head of the crate).
unsafe impl Sync for Ring {}

impl Ring {
    /// The empty ring.
    pub(crate) const fn new() -> Ring {
        Ring { current: Cell::new(None) }
    }

    /// The thread whose turn it is.
    #[inline]
    pub(crate) fn current(&self) -> Option<Handle> {
        self.current.get()
    }

    /// Adds a thread, which stands in no other list. Its turn comes last.
    pub(crate) fn put(&self, thread: Handle) {
        match self.current.get() {
            None => {
                thread.join(thread);
                self.current.set(Some(thread));
            }
            Some(current) => {
                current.before().join(thread);
                thread.join(current);
            }
        }
    }

    /// Moves on to the next thread.
    #[inline]
    pub(crate) fn turn(&self) -> Option<Handle> {
        let next = self.current.get()?.node().next.get();
        self.current.set(next);
        next
    }

    /// Removes the current thread. It is the next one's turn.
    pub(crate) fn leave(&self) {
        let Some(current) = self.current.get() else { return };
        match current.node().next.get() {
            Some(next) if next != current => {
                current.before().join(next);
                self.current.set(Some(next));
            }
            _ => self.current.set(None),
        }
    }

    /// Removes a thread of the ring.
    pub(crate) fn remove(&self, thread: Handle) {
        if self.current.get() == Some(thread) {
            self.leave();
        } else if let Some(next) = thread.node().next.get() {
            thread.before().join(next);
        }
    }
}
