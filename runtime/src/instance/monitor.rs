//! Monitors: a component's lock, and the conditions that its processes await (language reference, section 6).
//!
//! When a process gives up the lock that it had alone, the conditions of those who await are tested once, in order. All
//! that hold and share enter, up to the first that holds and wants the lock alone; then a process that waits to enter
//! alone; then all that wait to share. Locks are handed over: a process that is woken has it. The `awaiting` module knows
//! which conditions have to be tested. A process that has to test its condition itself has the lock alone meanwhile;
//! then the round goes on.
//!
//! # Why this is sound
//! Queues hold live processes of their own instance only; see the process module.
//!
//! # Safety of this module
//! *In its monitor*: `w` is the home worker, `instance` is live, and `rare` is its rare part. Somebody is queued, so it
//! has one.

use core::mem::replace;
use core::ptr::null_mut;

use super::awaiting::{Alone, Awaiting, Place, Round, Turn, Waiter, alone};
use super::{Rare, rare_if_any, rare_of};
use crate::layout::*;
use crate::queue::ready;

/// Takes the component's lock; after a wait it has been handed over already.
///
/// # Safety
/// `p` runs on `w`, the home worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_lock(w: *mut Worker, p: *mut Process, exclusive: u32) -> Status {
    // SAFETY: `p` runs, so it stands in no queue, and its instance is live.
    unsafe {
        if (*p).lock != LOCK_NONE {
            return Status::Done;
        }
        let instance = (*p).instance;
        let lock = (*instance).lock;
        if exclusive != 0 {
            if lock & !QUEUED_BIT == 0 {
                (*instance).lock = lock | EXCLUSIVE_BIT;
                (*p).lock = LOCK_EXCLUSIVE;
                return Status::Done;
            }
            (*rare_of(w, instance)).exclusive.push(p);
        } else {
            if lock & (EXCLUSIVE_BIT | QUEUED_BIT) == 0
                || lock & EXCLUSIVE_BIT == 0 && (*rare_of(w, instance)).may_share()
            {
                (*instance).lock = lock + 1;
                (*p).lock = LOCK_SHARED;
                return Status::Done;
            }
            (*rare_of(w, instance)).shared.push(p);
        }
        (*p).status = ENTRY;
        (*instance).lock |= QUEUED_BIT;
    }
    Status::Leave
}

impl Rare {
    /// No process that wants the lock alone waits before a newcomer that shares.
    fn may_share(&self) -> bool {
        self.exclusive.is_empty() && self.granted.is_null()
    }

    /// Whether no process waits for the lock or awaits a condition.
    fn is_settled(&self) -> bool {
        let Rare { exclusive, shared, awaiting, granted, .. } = self;
        exclusive.is_empty() && shared.is_empty() && awaiting.is_empty() && granted.is_null()
    }
}

/// It isn't known what has been written.
const EVERYTHING: u64 = u64::MAX;

/// Gives the component's lock up; `written` has a bit in common with the conditions that depend on what has been
/// written.
///
/// # Safety
/// `p` runs on `w`, the home worker, and has the lock of its component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_unlock(w: *mut Worker, p: *mut Process, written: u64) {
    // SAFETY: the instance of `p` is live; where `QUEUED_BIT` is set, somebody is queued.
    unsafe {
        let instance = (*p).instance;
        let mode = replace(&mut (*p).lock, LOCK_NONE);
        if mode & LOCK_EXCLUSIVE != 0 {
            (*instance).lock &= !EXCLUSIVE_BIT;
            if (*instance).lock & QUEUED_BIT != 0 {
                left_alone(w, instance, if mode & LOCK_WROTE == 0 { written } else { EVERYTHING });
            }
        } else {
            (*instance).lock -= 1;
            if (*instance).lock == QUEUED_BIT {
                left_shared(w, instance);
            }
        }
    }
}

/// Gives the lock up until the condition at `Body::condition` holds, which was false just now.
///
/// # Safety
/// `p` runs on `w`, the home worker, has the lock of its component, and has written where its condition is described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_await(w: *mut Worker, p: *mut Process, written: u64) -> Status {
    // SAFETY: `p` runs, so it stands in no queue, and its instance is live; it awaits something from now on.
    unsafe {
        if (*p).lock & LOCK_TESTS != 0 {
            return stays(w, p);
        }
        let instance = (*p).instance;
        let status = if (*p).lock & LOCK_EXCLUSIVE != 0 { AWAITS_EXCLUSIVE } else { AWAITS_SHARED };
        if (*instance).lock == EXCLUSIVE_BIT {
            // Nobody else is queued.
            (*instance).lock = 0;
            (*p).lock = LOCK_NONE;
        } else {
            ds_unlock(w, p, written);
        }
        (*p).status = status;
        Awaiting::add(&raw mut (*rare_of(w, instance)).awaiting, w, Waiter::new(p));
        (*instance).lock |= QUEUED_BIT;
    }
    Status::Leave
}

/// A process that awaits a condition has found that it holds, where it has the lock to test it itself: has its own lock
/// then.
///
/// # Safety
/// `p` runs on `w`, the home worker; `LOCK_TESTS` is set in its lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_holds(w: *mut Worker, p: *mut Process) -> Status {
    // SAFETY: `p` runs, and a process that tests is queued at its monitor.
    unsafe {
        let instance = (*p).instance;
        let rare = rare_if_any(instance);
        let tested = (*rare).awaiting.end_test(true);
        (*p).lock = LOCK_NONE;
        (*instance).lock &= !EXCLUSIVE_BIT;
        let status = if tested.shares {
            (*instance).lock += 1;
            (*p).lock = LOCK_SHARED;
            Status::Done
        } else if (*instance).is_shared() {
            // Those who share it leave first.
            (*rare).granted = p;
            (*p).status = AWAITS_EXCLUSIVE;
            Status::Leave
        } else {
            (*instance).lock |= EXCLUSIVE_BIT;
            (*p).lock = LOCK_EXCLUSIVE;
            Status::Done
        };
        go_on(w, instance, rare, tested.is_round && tested.shares);
        status
    }
}

/// A process that has the lock to test its condition has found it false.
///
/// # Safety
/// As for [`ds_holds`].
unsafe fn stays(w: *mut Worker, p: *mut Process) -> Status {
    // SAFETY: as in `ds_holds`.
    unsafe {
        let instance = (*p).instance;
        let rare = rare_if_any(instance);
        let tested = (*rare).awaiting.end_test(false);
        (*p).lock = LOCK_NONE;
        (*p).status = if tested.shares { AWAITS_SHARED } else { AWAITS_EXCLUSIVE };
        (*instance).lock &= !EXCLUSIVE_BIT;
        go_on(w, instance, rare, tested.is_round);
    }
    Status::Leave
}

/// A process has tested its condition: goes on with what the release of the lock has begun.
///
/// # Safety
/// *In its monitor.*
unsafe fn go_on(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, is_round: bool) {
    // SAFETY: *in its monitor*; a process that tests no longer has the lock alone.
    unsafe {
        if is_round {
            admit_several(w, instance, rare, Round::go_on(w, &raw mut (*rare).awaiting));
        }
        finish_release(w, instance, rare);
    }
}

impl Instance {
    /// Whether processes share its lock.
    fn is_shared(&self) -> bool {
        self.lock & !(EXCLUSIVE_BIT | QUEUED_BIT) != 0
    }
}

/// The time of a process that awaits a condition is up: it takes its lock again as if it came now, and finds out.
///
/// # Safety
/// `p` is live, and `w` is the home worker.
pub unsafe fn overdue(w: *mut Worker, p: *mut Process) {
    // SAFETY: a process of this status awaits a condition, and stands in no queue when it is removed there.
    unsafe {
        let instance = (*p).instance;
        let exclusive = (*p).status == AWAITS_EXCLUSIVE;
        if !exclusive && (*p).status != AWAITS_SHARED || (*rare_of(w, instance)).granted == p {
            // The lock is its own by now, or will be.
            return;
        }
        (*rare_of(w, instance)).awaiting.remove(Waiter::new(p));
        if ds_lock(w, p, u32::from(exclusive)) == Status::Done {
            ready(w, p);
        }
        settle(instance, rare_of(w, instance));
    }
}

/// Gives a process the lock alone.
///
/// # Safety
/// `w` is the home worker; `p` is a process of `instance`, both are live, and `p` stands in no queue.
unsafe fn enter_alone(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    // SAFETY: see above.
    unsafe {
        (*instance).lock |= EXCLUSIVE_BIT;
        (*p).lock = LOCK_EXCLUSIVE;
        ready(w, p);
    }
}

/// Has a process share the lock.
///
/// # Safety
/// As for [`enter_alone`].
unsafe fn enter_shared(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    // SAFETY: see above.
    unsafe {
        (*instance).lock += 1;
        (*p).lock = LOCK_SHARED;
        ready(w, p);
    }
}

/// A process that had the lock alone has given it up, and others are queued.
///
/// # Safety
/// `w` is the home worker; `instance` is live and has a rare part.
unsafe fn left_alone(w: *mut Worker, instance: *mut Instance, written: u64) {
    // SAFETY: see above: they are *in its monitor*.
    unsafe {
        let rare = rare_if_any(instance);
        admit_awaiting(w, instance, rare, written);
        finish_release(w, instance, rare);
    }
}

/// Those who wait to enter come last, if no process that awaited something has the lock alone, or will.
///
/// # Safety
/// *In its monitor.*
unsafe fn finish_release(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    // SAFETY: *in its monitor*.
    unsafe {
        if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
            admit(w, instance, rare);
        }
        settle(instance, rare);
    }
}

/// Those whose conditions hold enter in order, as far as they may.
///
/// # Safety
/// *In its monitor*; nobody has the lock alone.
#[inline]
unsafe fn admit_awaiting(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, written: u64) {
    // SAFETY: *in its monitor*; a waiter that enters has been taken out.
    unsafe {
        let awaiting = &raw mut (*rare).awaiting;
        match alone(w, awaiting, written) {
            Alone::Enters(waiter) if waiter.shares() => enter_shared(w, instance, waiter.process()),
            Alone::Enters(waiter) => enter_alone(w, instance, waiter.process()),
            Alone::Stays => {}
            Alone::Tests(waiter) => begin_test(w, instance, rare, waiter, Place::Alone),
            Alone::None => admit_several(w, instance, rare, Round::begin(w, awaiting, written)),
        }
    }
}

/// Those who come next in a round enter, as far as they may.
///
/// # Safety
/// *In its monitor*, of which `round` is one; nobody has the lock alone.
#[inline(never)]
unsafe fn admit_several(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, mut round: Round) {
    loop {
        // SAFETY: *in its monitor*; a waiter that enters has been taken out.
        unsafe {
            match round.next() {
                Turn::Enters(waiter) if waiter.shares() => enter_shared(w, instance, waiter.process()),
                Turn::Enters(waiter) if (*instance).is_shared() => return (*rare).granted = waiter.process(),
                Turn::Enters(waiter) => return enter_alone(w, instance, waiter.process()),
                Turn::Tests(waiter, place) => return begin_test(w, instance, rare, waiter, place),
                Turn::Nobody => return,
            }
        }
    }
}

/// A process tests its condition next. It has the lock alone, except for those who have just begun to share it.
///
/// # Safety
/// *In its monitor*; `waiter` awaits something there, at `place`.
unsafe fn begin_test(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, waiter: Waiter, place: Place) {
    let p = waiter.process();
    // SAFETY: *in its monitor*; a waiter that tests stands in no queue.
    unsafe {
        (*rare).awaiting.begin_test(waiter, place);
        (*instance).lock |= EXCLUSIVE_BIT;
        (*p).lock = LOCK_EXCLUSIVE | LOCK_TESTS;
        ready(w, p);
    }
}

/// Lets those in who wait to enter: nobody has the lock alone.
///
/// # Safety
/// *In its monitor.*
#[inline(never)]
unsafe fn admit(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    // SAFETY: *in its monitor*; who is popped stands in no queue.
    unsafe {
        if (*rare).exclusive.is_empty() {
            loop {
                let p = (*rare).shared.pop();
                if p.is_null() {
                    return;
                }
                enter_shared(w, instance, p);
            }
        } else if (*instance).lock & !QUEUED_BIT == 0 {
            enter_alone(w, instance, (*rare).exclusive.pop());
        }
    }
}

/// The last process that shared the lock has given it up, and others are queued.
///
/// # Safety
/// As for [`left_alone`].
unsafe fn left_shared(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: see above: they are *in its monitor*; who is granted the lock stands in no queue.
    unsafe {
        let rare = rare_if_any(instance);
        let granted = replace(&mut (*rare).granted, null_mut());
        if granted.is_null() {
            admit(w, instance, rare);
        } else {
            enter_alone(w, instance, granted);
        }
        settle(instance, rare);
    }
}

/// Notes if nobody is queued any more.
///
/// # Safety
/// `instance` is live, and `rare` is its rare part.
unsafe fn settle(instance: *mut Instance, rare: *mut Rare) {
    // SAFETY: see above.
    unsafe {
        if (*rare).is_settled() {
            (*instance).lock &= !QUEUED_BIT;
        }
    }
}
