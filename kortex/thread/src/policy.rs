//! Scheduling policies: which thread runs next. The running thread stays among the ready ones until it blocks or ends.

use core::cell::Cell;

use crate::queue::Ring;
use crate::thread::Handle;

/// The ready threads, in the order in which they will run.
///
/// # Safety
/// [`current`](Self::current), [`first`](Self::first), [`turn`](Self::turn) and [`leave`](Self::leave) give only
/// threads that were [put](Self::put) and have neither left nor been removed since: schedulers switch to them. After
/// `first`, `turn` or `leave` has given a thread, `current` and `turn` give one, too, until `leave` gives none:
/// schedulers don't test it.
pub unsafe trait Policy {
    /// Whether a thread gives way when its time slice is over.
    const HAS_SLICES: bool;

    /// Adds a ready thread.
    fn put(&self, thread: Handle);

    /// The running thread, if it is one of these.
    fn current(&self) -> Option<Handle>;

    /// Chooses a thread after the idle thread ran.
    fn first(&self) -> Option<Handle>;

    /// The running thread gives way to the next, which may be itself. `None`: no thread is ready.
    fn turn(&self) -> Option<Handle>;

    /// Removes the running thread, and chooses the next.
    fn leave(&self) -> Option<Handle>;

    /// Removes a ready thread that isn't running.
    fn remove(&self, thread: Handle);
}

/// A ring of threads, which run one after the other.
#[derive(Debug)]
pub struct InTurn<const HAS_SLICES: bool>(Ring);

/// One after the other, each until it gives way.
pub type Cooperative = InTurn<false>;

/// One after the other, each for at most a time slice.
pub type RoundRobin = InTurn<true>;

/// Lower priority numbers first. Threads with the same number run one after the other, each for at most a time slice.
#[derive(Debug)]
pub struct Priority {
    rings: [Ring; PRIORITIES],
    /// A bit for each ring that isn't empty.
    ready: Cell<u32>,
    /// The ring of the running thread.
    running: Cell<usize>,
}

/// The number of priorities. Higher numbers count as the last one.
const PRIORITIES: usize = 32;

fn ring_of(thread: Handle) -> usize {
    thread.priority().min(PRIORITIES - 1)
}

impl<const HAS_SLICES: bool> InTurn<HAS_SLICES> {
    /// A policy without threads.
    pub const fn new() -> InTurn<HAS_SLICES> {
        InTurn(Ring::new())
    }
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Priority {}

impl Priority {
    /// A policy without threads.
    pub const fn new() -> Priority {
        Priority {
            rings: [const { Ring::new() }; PRIORITIES],
            ready: Cell::new(0),
            running: Cell::new(PRIORITIES),
        }
    }

    /// The first ring that isn't empty. It becomes the running thread's ring.
    fn first_ring(&self) -> Option<&Ring> {
        let first = self.ready.get().trailing_zeros() as usize;
        self.running.set(first);
        self.rings.get(first)
    }
}

// SAFETY: a ring gives the threads that are in it, and has a current one as long as it has any.
unsafe impl<const HAS_SLICES: bool> Policy for InTurn<HAS_SLICES> {
    const HAS_SLICES: bool = HAS_SLICES;

    fn put(&self, thread: Handle) {
        self.0.put(thread);
    }

    #[inline]
    fn current(&self) -> Option<Handle> {
        self.0.current()
    }

    fn first(&self) -> Option<Handle> {
        self.0.current()
    }

    #[inline]
    fn turn(&self) -> Option<Handle> {
        self.0.turn()
    }

    fn leave(&self) -> Option<Handle> {
        self.0.leave();
        self.0.current()
    }

    fn remove(&self, thread: Handle) {
        self.0.remove(thread);
    }
}

// SAFETY: as above, for each ring; a bit of `ready` is set exactly while its ring has a thread, and a thread stays in
// the ring of its priority.
unsafe impl Policy for Priority {
    const HAS_SLICES: bool = true;

    fn put(&self, thread: Handle) {
        let number = ring_of(thread);
        self.rings[number].put(thread);
        self.ready.set(self.ready.get() | 1 << number);
    }

    fn current(&self) -> Option<Handle> {
        self.rings.get(self.running.get())?.current()
    }

    fn first(&self) -> Option<Handle> {
        self.first_ring()?.current()
    }

    fn turn(&self) -> Option<Handle> {
        let last = self.running.get();
        let ring = self.first_ring()?;
        // A thread that preempts another ring is the first of its own.
        if self.running.get() == last { ring.turn() } else { ring.current() }
    }

    fn leave(&self) -> Option<Handle> {
        let last = self.running.get();
        if let Some(ring) = self.rings.get(last) {
            ring.leave();
            if ring.current().is_none() {
                self.ready.set(self.ready.get() & !(1 << last));
            }
        }
        self.first()
    }

    fn remove(&self, thread: Handle) {
        let number = ring_of(thread);
        self.rings[number].remove(thread);
        if self.rings[number].current().is_none() {
            self.ready.set(self.ready.get() & !(1 << number));
        }
    }
}

impl<const HAS_SLICES: bool> Default for InTurn<HAS_SLICES> {
    fn default() -> InTurn<HAS_SLICES> {
        InTurn::new()
    }
}

impl Default for Priority {
    fn default() -> Priority {
        Priority::new()
    }
}
