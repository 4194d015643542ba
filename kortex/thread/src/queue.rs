//! Threads joined by themselves: in a row, or around a ring. Whatever belongs to a thread, here it is a [`Handle`].

use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{NonNull, null_mut};

use kortex_hal::exception::Context;

use crate::Thread;

/// What each thread begins with, where those who only decide who runs find it.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it goes on when it isn't running: it may have got other contexts meanwhile.
    pub(crate) context: Cell<*mut Context>,
    /// Its neighbours where it stands.
    next: Cell<Option<Handle>>,
    previous: Cell<Option<Handle>>,
    /// The lower, the sooner it runs, where that counts.
    pub(crate) priority: Cell<usize>,
}

impl Node {
    pub(crate) const fn new() -> Node {
        Node {
            context: Cell::new(null_mut()),
            next: Cell::new(None),
            previous: Cell::new(None),
            priority: Cell::new(0),
        }
    }
}

/// Any thread. It leads to what is behind the node: a switch needs that most, and finds it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(NonNull<Node>);

impl Handle {
    #[inline]
    pub(crate) fn of<L: 'static>(thread: &'static Thread<L>) -> Handle {
        // SAFETY: a thread begins with a node, behind which something comes.
        Handle(unsafe { NonNull::from(thread).cast().add(1) })
    }

    /// The thread.
    ///
    /// # Safety
    /// Such a thing belongs to it.
    #[inline]
    pub(crate) unsafe fn thread<L: 'static>(self) -> &'static Thread<L> {
        // SAFETY: as the caller promises: it was made of one, which stays.
        unsafe { self.0.sub(1).cast().as_ref() }
    }

    #[inline]
    fn node(self) -> &'static Node {
        // SAFETY: a thread stays, and begins with it.
        unsafe { self.0.sub(1).as_ref() }
    }

    /// Its priority.
    pub fn priority(self) -> usize {
        self.node().priority.get()
    }

    fn join(self, next: Handle) {
        self.node().next.set(Some(next));
        next.node().previous.set(Some(self));
    }

    fn before(self) -> Handle {
        self.node().previous.get().expect("around a ring everybody has a neighbour")
    }
}

/// Whoever has been put in first is taken first.
#[derive(Debug)]
pub struct Queue<L: 'static> {
    first: Cell<Option<Handle>>,
    last: Cell<Option<Handle>>,
    threads: PhantomData<&'static Thread<L>>,
}

impl<L: 'static> Queue<L> {
    /// Nobody.
    pub const fn new() -> Queue<L> {
        Queue { first: Cell::new(None), last: Cell::new(None), threads: PhantomData }
    }

    /// Puts a thread at the end, which stands nowhere else.
    pub fn put(&self, thread: &'static Thread<L>) {
        let thread = Handle::of(thread);
        thread.node().next.set(None);
        match self.last.replace(Some(thread)) {
            Some(last) if self.first.get().is_some() => last.node().next.set(Some(thread)),
            _ => self.first.set(Some(thread)),
        }
    }

    /// Takes the first one.
    pub fn take(&self) -> Option<&'static Thread<L>> {
        let first = self.first.get()?;
        self.first.set(first.node().next.get());
        // SAFETY: such threads only are put here.
        Some(unsafe { first.thread() })
    }
}

impl<L: 'static> Default for Queue<L> {
    fn default() -> Queue<L> {
        Queue::new()
    }
}

/// Around which everybody has a turn. Whose it is stays in it.
#[derive(Debug)]
pub(crate) struct Ring {
    current: Cell<Option<Handle>>,
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Ring {}

impl Ring {
    /// Nobody.
    pub(crate) const fn new() -> Ring {
        Ring { current: Cell::new(None) }
    }

    /// Whose turn it is.
    #[inline]
    pub(crate) fn current(&self) -> Option<Handle> {
        self.current.get()
    }

    /// One more, whose turn comes last, and who stands nowhere else.
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

    /// It is the next one's turn.
    #[inline]
    pub(crate) fn turn(&self) -> Option<Handle> {
        let next = self.current.get()?.node().next.get();
        self.current.set(next);
        next
    }

    /// Whose turn it was goes away.
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

    /// One that is in it goes away.
    pub(crate) fn remove(&self, thread: Handle) {
        if self.current.get() == Some(thread) {
            self.leave();
        } else if let Some(next) = thread.node().next.get() {
            thread.before().join(next);
        }
    }
}
