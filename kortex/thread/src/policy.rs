//! Who runs next. Who runs stays among those who may, until it can't.

use core::cell::Cell;

use crate::queue::Ring;
use crate::thread::Handle;

/// Those that may run, in the order in which they will.
pub trait Policy {
    /// Whether somebody has to give way when his time is over.
    const HAS_SLICES: bool;

    /// One more may run.
    fn put(&self, thread: Handle);

    /// Who runs, if it is one of them.
    fn current(&self) -> Option<Handle>;

    /// Nobody ran; who does now.
    fn first(&self) -> Option<Handle>;

    /// Who runs gives way to the next, which may be itself; `None`: nobody can run.
    fn turn(&self) -> Option<Handle>;

    /// Who runs can't any more; who does then.
    fn leave(&self) -> Option<Handle>;

    /// One that may run, and doesn't, can't any more.
    fn remove(&self, thread: Handle);
}

/// One after the other.
#[derive(Debug)]
pub struct InTurn<const HAS_SLICES: bool>(Ring);

/// One after the other, and each until it gives way.
pub type Cooperative = InTurn<false>;

/// One after the other, and none longer than a slice of time.
pub type RoundRobin = InTurn<true>;

/// Lower numbers first, those with the same one after the other, and none longer than a slice of time if there are
/// others.
#[derive(Debug)]
pub struct Priority {
    rings: [Ring; PRIORITIES],
    /// A bit for each ring in which somebody is.
    ready: Cell<u32>,
    /// The ring of the one that runs.
    running: Cell<usize>,
}

/// So many priorities there are; higher numbers are the last one.
const PRIORITIES: usize = 32;

fn ring_of(thread: Handle) -> usize {
    thread.priority().min(PRIORITIES - 1)
}

impl<const HAS_SLICES: bool> InTurn<HAS_SLICES> {
    /// Nobody.
    pub const fn new() -> InTurn<HAS_SLICES> {
        InTurn(Ring::new())
    }
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Priority {}

impl Priority {
    /// Nobody.
    pub const fn new() -> Priority {
        Priority {
            rings: [const { Ring::new() }; PRIORITIES],
            ready: Cell::new(0),
            running: Cell::new(PRIORITIES),
        }
    }

    /// The first ring in which somebody is; that is where who runs is from now on.
    fn first_ring(&self) -> Option<&Ring> {
        let first = self.ready.get().trailing_zeros() as usize;
        self.running.set(first);
        self.rings.get(first)
    }
}

impl<const HAS_SLICES: bool> Policy for InTurn<HAS_SLICES> {
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

impl Policy for Priority {
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
        // Who comes to run before others is the first of its ring.
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
