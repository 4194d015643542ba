//! A thread, and the handle by which queues and policies know it. They don't know what else belongs to it.

use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};

use kortex_hal::exception::Context;

/// A thread. Its first field is the node, so that a [`Handle`] needs no type.
#[repr(C)]
#[derive(Debug)]
pub struct Thread<L: 'static> {
    pub(crate) node: Node,
    /// What belongs to the thread beside its context, such as its address space.
    pub local: L,
    /// The context with which it starts.
    first: UnsafeCell<Context>,
}

// SAFETY: threads are used by one processor, in handlers or with interrupts off (see the head of the crate).
unsafe impl<L: 'static> Sync for Thread<L> {}

impl<L: 'static> Thread<L> {
    /// A thread that starts with a context.
    pub(crate) const fn new(context: Context, local: L) -> Thread<L> {
        Thread { node: Node::new(), local, first: UnsafeCell::new(context) }
    }

    /// The thread with this local part.
    ///
    /// # Safety
    /// `local` points to the field `local` of a thread.
    pub unsafe fn of(local: *const L) -> &'static Thread<L> {
        // SAFETY: the caller promises that `local` is that field of a thread; threads are never moved or freed.
        unsafe { &*local.byte_sub(offset_of!(Thread<L>, local)).cast() }
    }

    /// The context with which it starts.
    pub fn first(&self) -> *mut Context {
        self.first.get()
    }

    /// Resumes it with its first context from now on.
    pub(crate) fn reset(&self) {
        self.node.context.set(self.first());
    }
}

/// The beginning of each thread: all that a policy needs to know of it.
#[derive(Debug)]
pub(crate) struct Node {
    /// The context to resume when the thread isn't running. It may differ from the thread's first one.
    pub(crate) context: Cell<*mut Context>,
    /// Its neighbours in the queue or ring in which it stands.
    pub(crate) next: Cell<Option<Handle>>,
    previous: Cell<Option<Handle>>,
    /// Lower ones run first, if the policy has priorities.
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

/// A thread of any type. It points behind the node, at the thread's local part, which a switch needs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(NonNull<Node>);

impl Handle {
    #[inline]
    pub(crate) fn of<L: 'static>(thread: &'static Thread<L>) -> Handle {
        // SAFETY: a thread is `repr(C)`, and begins with a node, which is followed by more of the thread.
        Handle(unsafe { NonNull::from(thread).cast().add(1) })
    }

    /// The thread.
    ///
    /// # Safety
    /// The thread's local part has type `L`.
    #[inline]
    pub(crate) unsafe fn thread<L: 'static>(self) -> &'static Thread<L> {
        // SAFETY: a handle is made of a thread, which is never freed. The caller promises that its local part has type
        // `L`.
        unsafe { self.0.sub(1).cast().as_ref() }
    }

    #[inline]
    pub(crate) fn node(self) -> &'static Node {
        // SAFETY: a handle points behind the node of a thread, which is never freed.
        unsafe { self.0.sub(1).as_ref() }
    }

    /// Its priority.
    pub fn priority(self) -> usize {
        self.node().priority.get()
    }

    pub(crate) fn join(self, next: Handle) {
        self.node().next.set(Some(next));
        next.node().previous.set(Some(self));
    }

    pub(crate) fn before(self) -> Handle {
        self.node().previous.get().expect("around a ring everybody has a neighbour")
    }
}
