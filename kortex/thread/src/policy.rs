//! Who runs next. Who runs stays among those who may, until it can't.

use core::cell::Cell;

use crate::Thread;
use crate::queue::Ring;

/// Those that may run, in the order in which they will.
pub trait Policy<L: 'static> {
    /// Whether somebody has to give way when his time is over.
    const HAS_SLICES: bool;

    /// One more may run.
    fn put(&self, thread: &'static Thread<L>);

    /// Who runs, if it is one of them.
    fn current(&self) -> Option<&'static Thread<L>>;

    /// Nobody ran; who does now.
    fn first(&self) -> Option<&'static Thread<L>>;

    /// Who runs gives way to the next, which may be itself; `None`: nobody can run.
    fn turn(&self) -> Option<&'static Thread<L>>;

    /// Who runs can't any more; who does then.
    fn leave(&self) -> Option<&'static Thread<L>>;
}

/// One after the other, and each until it gives way.
#[derive(Debug)]
pub struct Cooperative<L: 'static>(Ring<L>);

/// One after the other, and none longer than a slice of time.
#[derive(Debug)]
pub struct RoundRobin<L: 'static>(Ring<L>);

/// Lower numbers first, those with the same one after the other, and none longer than a slice of time if there are others.
#[derive(Debug)]
pub struct Priority<L: 'static> {
    rings: [Ring<L>; PRIORITIES],
    /// A bit for each ring in which somebody is.
    ready: Cell<u32>,
    /// The ring of the one that runs.
    running: Cell<usize>,
}

/// So many priorities there are; higher numbers are the last one.
const PRIORITIES: usize = 32;

impl<L: 'static> Cooperative<L> {
    /// Nobody.
    pub const fn new() -> Cooperative<L> {
        Cooperative(Ring::new())
    }
}

impl<L: 'static> RoundRobin<L> {
    /// Nobody.
    pub const fn new() -> RoundRobin<L> {
        RoundRobin(Ring::new())
    }
}

impl<L: 'static> Priority<L> {
    /// Nobody.
    pub const fn new() -> Priority<L> {
        Priority {
            rings: [const { Ring::new() }; PRIORITIES],
            ready: Cell::new(0),
            running: Cell::new(PRIORITIES),
        }
    }

    /// The first ring in which somebody is; that is where who runs is from now on.
    fn first_ring(&self) -> Option<&Ring<L>> {
        let first = self.ready.get().trailing_zeros() as usize;
        self.running.set(first);
        self.rings.get(first)
    }
}

impl<L: 'static> Policy<L> for Cooperative<L> {
    const HAS_SLICES: bool = false;

    fn put(&self, thread: &'static Thread<L>) {
        self.0.put(thread);
    }

    #[inline]
    fn current(&self) -> Option<&'static Thread<L>> {
        self.0.current()
    }

    fn first(&self) -> Option<&'static Thread<L>> {
        self.0.current()
    }

    #[inline]
    fn turn(&self) -> Option<&'static Thread<L>> {
        self.0.turn()
    }

    fn leave(&self) -> Option<&'static Thread<L>> {
        self.0.leave();
        self.0.current()
    }
}

impl<L: 'static> Policy<L> for RoundRobin<L> {
    const HAS_SLICES: bool = true;

    fn put(&self, thread: &'static Thread<L>) {
        self.0.put(thread);
    }

    #[inline]
    fn current(&self) -> Option<&'static Thread<L>> {
        self.0.current()
    }

    fn first(&self) -> Option<&'static Thread<L>> {
        self.0.current()
    }

    #[inline]
    fn turn(&self) -> Option<&'static Thread<L>> {
        self.0.turn()
    }

    fn leave(&self) -> Option<&'static Thread<L>> {
        self.0.leave();
        self.0.current()
    }
}

impl<L: 'static> Policy<L> for Priority<L> {
    const HAS_SLICES: bool = true;

    fn put(&self, thread: &'static Thread<L>) {
        let priority = thread.priority().min(PRIORITIES - 1);
        self.rings[priority].put(thread);
        self.ready.set(self.ready.get() | 1 << priority);
    }

    fn current(&self) -> Option<&'static Thread<L>> {
        self.rings.get(self.running.get())?.current()
    }

    fn first(&self) -> Option<&'static Thread<L>> {
        self.first_ring()?.current()
    }

    fn turn(&self) -> Option<&'static Thread<L>> {
        let last = self.running.get();
        let ring = self.first_ring()?;
        // Who comes to run before others is the first of its ring.
        if self.running.get() == last { ring.turn() } else { ring.current() }
    }

    fn leave(&self) -> Option<&'static Thread<L>> {
        let last = self.running.get();
        if let Some(ring) = self.rings.get(last) {
            ring.leave();
            if ring.current().is_none() {
                self.ready.set(self.ready.get() & !(1 << last));
            }
        }
        self.first()
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
