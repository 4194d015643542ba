//! What happens at a monitor at which processes are queued, when one of them may enter.
//!
//! # Why this is sound
//! [`Queued::at`] asks for a live component with a rare part. Queues hold live processes of their own
//! instance only, and what is taken out of one stands in none.

use core::mem::replace;
use core::ptr::null_mut;

use crate::instance::awaiting::{Alone, Awaiting, Place, Round, Tested, Turn, Waiter, alone};
use crate::instance::{Rare, rare_there};
use crate::layout::*;
use crate::queue::ready;

/// It isn't known what has been written.
pub const EVERYTHING: u64 = u64::MAX;

/// The monitor of a live component at home that has a rare part. It doesn't say who has the lock.
#[derive(Clone, Copy)]
pub struct Queued {
    w: *mut Worker,
    instance: *mut Instance,
    rare: *mut Rare,
}

impl Queued {
    /// # Safety
    /// As long as this is used, `w` is the home worker, `instance` is live and has a rare part, as it has where a
    /// process is queued, and no other reference leads to what is awaited there.
    #[inline]
    pub unsafe fn at(w: *mut Worker, instance: *mut Instance) -> Queued {
        // SAFETY: `instance` is live, and has a rare part.
        Queued { w, instance, rare: unsafe { rare_there(instance) } }
    }

    /// A process that had the lock alone has given it up.
    #[inline(always)]
    pub fn left_alone(self, written: u64) {
        self.admit_awaiting(written);
        self.finish_release();
    }

    /// The last process that shared the lock has given it up.
    pub fn left_shared(self) {
        // SAFETY: the rare part is there.
        let granted = unsafe { replace(&mut (*self.rare).granted, null_mut()) };
        if granted.is_null() {
            self.admit_next();
        } else {
            // SAFETY: a process to which the lock was granted is live, and stands in no queue.
            unsafe { self.enter_alone(granted) };
        }
        self.settle();
    }

    /// A process that has the lock to test its condition has done so, and gives that lock up.
    ///
    /// # Safety
    /// `p` is live, and is the one that tests here.
    pub unsafe fn end_test(self, p: *mut Process, holds: bool) -> Tested {
        // SAFETY: the component and `p` are live.
        unsafe {
            (*p).lock = LOCK_NONE;
            (*self.instance).lock &= !EXCLUSIVE_BIT;
            (*self.rare).awaiting.end_test(holds)
        }
    }

    /// A process has tested its condition: goes on with what the release of the lock has begun.
    pub fn go_on(self, is_round: bool) {
        if is_round {
            // SAFETY: a process that tests no longer has the lock alone, and nobody has a reference to what is awaited.
            self.admit_several(unsafe { Round::go_on(self.w, self.awaiting()) });
        }
        self.finish_release();
    }

    /// Grants the lock to a process that wants it alone: it enters when the last that shares it has left.
    ///
    /// # Safety
    /// `p` is a live process of the component, and stands in no queue.
    pub unsafe fn grant(self, p: *mut Process) {
        // SAFETY: the rare part is there.
        unsafe { (*self.rare).granted = p };
    }

    /// Whether processes share the lock.
    pub fn is_shared(self) -> bool {
        // SAFETY: the component is live.
        unsafe { (*self.instance).lock & !(EXCLUSIVE_BIT | QUEUED_BIT) != 0 }
    }

    /// Notes if nobody is queued any more.
    pub fn settle(self) {
        // SAFETY: the component is live, and the rare part is there.
        unsafe {
            let Rare { exclusive, shared, awaiting, granted, .. } = &*self.rare;
            if exclusive.is_empty() && shared.is_empty() && awaiting.is_empty() && granted.is_null() {
                (*self.instance).lock &= !QUEUED_BIT;
            }
        }
    }

    fn awaiting(self) -> *mut Awaiting {
        // SAFETY: the rare part is there.
        unsafe { &raw mut (*self.rare).awaiting }
    }

    /// Gives a process the lock alone.
    ///
    /// # Safety
    /// As for [`grant`](Self::grant).
    unsafe fn enter_alone(self, p: *mut Process) {
        // SAFETY: the process is live, and stands in no queue.
        unsafe {
            (*self.instance).lock |= EXCLUSIVE_BIT;
            (*p).lock = LOCK_EXCLUSIVE;
            ready(self.w, p);
        }
    }

    /// Has a process share the lock.
    ///
    /// # Safety
    /// As for [`grant`](Self::grant).
    unsafe fn enter_shared(self, p: *mut Process) {
        // SAFETY: the process is live, and stands in no queue.
        unsafe {
            (*self.instance).lock += 1;
            (*p).lock = LOCK_SHARED;
            ready(self.w, p);
        }
    }

    /// Processes that wait to enter come last, if no waiter has the lock alone, or will.
    #[inline(always)]
    fn finish_release(self) {
        // SAFETY: the component is live, and the rare part is there.
        if unsafe { (*self.instance).lock & EXCLUSIVE_BIT == 0 && (*self.rare).granted.is_null() } {
            self.admit_next();
        }
        self.settle();
    }

    /// Lets processes in that wait to enter, or, if conditions have changed without a release, first those that await
    /// these. Nobody has the lock alone.
    #[inline(always)]
    fn admit_next(self) {
        // SAFETY: the rare part is there.
        if unsafe { (*self.rare).changed } {
            self.test_changed();
        } else {
            self.admit();
        }
    }

    #[cold]
    #[inline(never)]
    fn test_changed(self) {
        if self.is_shared() {
            return self.admit();
        }
        // SAFETY: the rare part is there.
        unsafe { (*self.rare).changed = false };
        self.left_alone(EVERYTHING);
    }

    /// Waiters whose conditions hold enter in order, as far as they may. Nobody has the lock alone.
    #[inline(always)]
    fn admit_awaiting(self, written: u64) {
        // SAFETY: nobody has a reference to what is awaited.
        match unsafe { alone(self.w, self.awaiting(), written) } {
            // SAFETY: the waiter awaits its condition no longer, and stands in no queue.
            Alone::Enters(waiter) if waiter.shares() => unsafe { self.enter_shared(waiter.process()) },
            // SAFETY: the waiter awaits its condition no longer, and stands in no queue.
            Alone::Enters(waiter) => unsafe { self.enter_alone(waiter.process()) },
            Alone::Stays | Alone::Nobody => {}
            Alone::Tests(waiter) => self.begin_test(waiter, Place::Alone),
            // SAFETY: nobody has a reference to what is awaited.
            Alone::Several => self.admit_several(unsafe { Round::begin(self.w, self.awaiting(), written) }),
        }
    }

    /// Waiters that come next in a round enter, as far as they may. Nobody has the lock alone.
    #[inline(always)]
    fn admit_several(self, round: Round) {
        let Queued { w, instance, rare } = self;
        // SAFETY: the pointers are those of this `Queued`.
        unsafe { admit_several(w, instance, rare, round) };
    }

    /// A process tests its condition next. It has the lock alone, except for processes that have just begun to share
    /// it.
    fn begin_test(self, waiter: Waiter, place: Place) {
        let p = waiter.process();
        // SAFETY: the component is live, and so is the waiter, which stands in no queue once it is taken from its
        // place; it runs when its test ends.
        unsafe {
            (*self.rare).awaiting.begin_test(waiter, place);
            (*self.instance).lock |= EXCLUSIVE_BIT;
            (*p).lock = LOCK_EXCLUSIVE | LOCK_TESTS;
            ready(self.w, p);
        }
    }

    /// Lets processes in that wait to enter. Nobody has the lock alone.
    #[inline(always)]
    fn admit(self) {
        let Queued { w, instance, rare } = self;
        // SAFETY: the pointers are those of this `Queued`.
        unsafe { admit(w, instance, rare) };
    }
}

// Out of line, but with three pointers in registers: a structure of three would be passed in memory.

/// See [`Queued::admit_several`].
///
/// # Safety
/// The pointers are those of a [`Queued`].
#[inline(never)]
unsafe fn admit_several(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, mut round: Round) {
    let this = Queued { w, instance, rare };
    loop {
        match round.next() {
            // SAFETY: the waiter awaits its condition no longer, and stands in no queue.
            Turn::Enters(waiter) if waiter.shares() => unsafe { this.enter_shared(waiter.process()) },
            // SAFETY: the waiter awaits its condition no longer, and stands in no queue.
            Turn::Enters(waiter) if this.is_shared() => return unsafe { this.grant(waiter.process()) },
            // SAFETY: the waiter awaits its condition no longer, and stands in no queue.
            Turn::Enters(waiter) => return unsafe { this.enter_alone(waiter.process()) },
            Turn::Tests(waiter, place) => return this.begin_test(waiter, place),
            Turn::Nobody => return,
        }
    }
}

/// See [`Queued::admit`].
///
/// # Safety
/// The pointers are those of a [`Queued`].
#[inline(never)]
unsafe fn admit(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    let this = Queued { w, instance, rare };
    // SAFETY: the rare part is there, and processes in its queues are live.
    unsafe {
        if (*this.rare).exclusive.is_empty() {
            loop {
                let p = (*this.rare).shared.pop();
                if p.is_null() {
                    return;
                }
                this.enter_shared(p);
            }
        } else if (*this.instance).lock & !QUEUED_BIT == 0 {
            this.enter_alone((*this.rare).exclusive.pop());
        }
    }
}
