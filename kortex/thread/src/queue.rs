//! Threads in a row, joined by themselves.

use core::cell::Cell;

use crate::Thread;

/// Whoever has been put in first is taken first.
#[derive(Debug)]
pub struct Queue<L: 'static> {
    first: Cell<Option<&'static Thread<L>>>,
    last: Cell<Option<&'static Thread<L>>>,
}

impl<L: 'static> Queue<L> {
    /// Nobody.
    pub const fn new() -> Queue<L> {
        Queue { first: Cell::new(None), last: Cell::new(None) }
    }

    /// Puts a thread at the end, which stands in no other queue.
    #[inline]
    pub fn put(&self, thread: &'static Thread<L>) {
        thread.next.set(None);
        match self.first.get() {
            None => self.first.set(Some(thread)),
            // SAFETY: where there is a first one there is a last one.
            Some(_) => unsafe { self.last.get().unwrap_unchecked() }.next.set(Some(thread)),
        }
        self.last.set(Some(thread));
    }

    /// Takes the first one.
    #[inline]
    pub fn take(&self) -> Option<&'static Thread<L>> {
        let first = self.first.get()?;
        self.first.set(first.next.get());
        Some(first)
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }
}

impl<L: 'static> Default for Queue<L> {
    fn default() -> Queue<L> {
        Queue::new()
    }
}
