//! Threads joined by themselves: in a row, or around a ring.

use core::cell::Cell;
use core::ptr::eq;

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

    /// Puts a thread at the end, which stands nowhere else.
    pub fn put(&self, thread: &'static Thread<L>) {
        thread.next.set(None);
        match self.last.replace(Some(thread)) {
            Some(last) if self.first.get().is_some() => last.next.set(Some(thread)),
            _ => self.first.set(Some(thread)),
        }
    }

    /// Takes the first one.
    pub fn take(&self) -> Option<&'static Thread<L>> {
        let first = self.first.get()?;
        self.first.set(first.next.get());
        Some(first)
    }
}

impl<L: 'static> Default for Queue<L> {
    fn default() -> Queue<L> {
        Queue::new()
    }
}

/// Around which everybody has a turn. Whose it is stays in it.
#[derive(Debug)]
pub(crate) struct Ring<L: 'static> {
    current: Cell<Option<&'static Thread<L>>>,
}

impl<L: 'static> Ring<L> {
    /// Nobody.
    pub(crate) const fn new() -> Ring<L> {
        Ring { current: Cell::new(None) }
    }

    /// Whose turn it is.
    #[inline]
    pub(crate) fn current(&self) -> Option<&'static Thread<L>> {
        self.current.get()
    }

    /// One more, whose turn comes last, and who stands nowhere else.
    pub(crate) fn put(&self, thread: &'static Thread<L>) {
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

    /// It is the next one's turn.
    #[inline]
    pub(crate) fn turn(&self) -> Option<&'static Thread<L>> {
        let next = self.current.get()?.next.get();
        self.current.set(next);
        next
    }

    /// Whose turn it was goes away.
    pub(crate) fn leave(&self) {
        let Some(current) = self.current.get() else { return };
        match current.next.get() {
            Some(next) if !eq(next, current) => {
                current.before().join(next);
                self.current.set(Some(next));
            }
            _ => self.current.set(None),
        }
    }
}

impl<L: 'static> Thread<L> {
    fn join(&'static self, next: &'static Thread<L>) {
        self.next.set(Some(next));
        next.previous.set(Some(self));
    }

    fn before(&self) -> &'static Thread<L> {
        self.previous.get().expect("around a ring everybody has a neighbour")
    }
}
