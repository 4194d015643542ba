//! Monitors: a component's lock, and the conditions that its processes await (language reference, section 6).
//!
//! When the lock is given up alone, the awaiting are tested once, in order: every fulfilled one that shares enters, up
//! to the first fulfilled one that wants the lock alone; then those who wait to enter alone; then all who wait to
//! share. Locks are handed over: who is woken has it. Which of the awaiting have to be tested at all, the `awaiting`
//! module knows. A process that has to test its condition itself has the lock alone meanwhile; then the round goes on.
//!
//! # Why this is sound
//! Queues hold live processes of their own instance only; see the process module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::awaiting::{self, Alone, Place, Round, Turn};
use super::{Rare, rare_if_any, rare_of};
use crate::layout::*;
use crate::queue::ready;

/// Takes the component's lock; after a wait it has been handed over already.
///
/// # Safety
/// `p` runs on `w`, the home worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_lock(w: *mut Worker, p: *mut Process, exclusive: u32) -> Status {
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
            || lock & EXCLUSIVE_BIT == 0 && may_share(rare_of(w, instance))
        {
            (*instance).lock = lock + 1;
            (*p).lock = LOCK_SHARED;
            return Status::Done;
        }
        (*rare_of(w, instance)).shared.push(p);
    }
    (*p).status = ENTRY;
    (*instance).lock |= QUEUED_BIT;
    Status::Leave
}

/// Nobody who wants the lock alone waits before a newcomer that shares.
unsafe fn may_share(rare: *mut Rare) -> bool {
    (*rare).exclusive.is_empty() && (*rare).granted.is_null()
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
    let instance = (*p).instance;
    let mode = core::mem::replace(&mut (*p).lock, LOCK_NONE);
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

/// Gives the lock up until the condition at `Body::condition` holds, which was false just now.
///
/// # Safety
/// `p` runs on `w`, the home worker, has the lock of its component, and has written where its condition is described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_await(w: *mut Worker, p: *mut Process, written: u64) -> Status {
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
    awaiting::add(w, rare_of(w, instance), p);
    (*instance).lock |= QUEUED_BIT;
    Status::Leave
}

/// A process that awaits a condition has found that it holds, where it has the lock to test it itself: has its own lock
/// then.
///
/// # Safety
/// `p` runs on `w`, the home worker; `LOCK_TESTS` is set in its lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_holds(w: *mut Worker, p: *mut Process) -> Status {
    let instance = (*p).instance;
    let rare = rare_if_any(instance);
    let tested = awaiting::end_test(rare, true);
    (*p).lock = LOCK_NONE;
    (*instance).lock &= !EXCLUSIVE_BIT;
    let status = if tested.shares {
        (*instance).lock += 1;
        (*p).lock = LOCK_SHARED;
        Status::Done
    } else if is_shared(instance) {
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

/// A process that has the lock to test its condition has found it false.
unsafe fn stays(w: *mut Worker, p: *mut Process) -> Status {
    let instance = (*p).instance;
    let rare = rare_if_any(instance);
    let tested = awaiting::end_test(rare, false);
    (*p).lock = LOCK_NONE;
    (*p).status = if tested.shares { AWAITS_SHARED } else { AWAITS_EXCLUSIVE };
    (*instance).lock &= !EXCLUSIVE_BIT;
    go_on(w, instance, rare, tested.is_round);
    Status::Leave
}

/// Somebody has tested its condition: goes on with what the release of the lock has begun.
unsafe fn go_on(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, is_round: bool) {
    if is_round {
        admit_several(w, instance, rare, Round::go_on(w, rare));
    }
    finish_release(w, instance, rare);
}

unsafe fn is_shared(instance: *mut Instance) -> bool {
    (*instance).lock & !(EXCLUSIVE_BIT | QUEUED_BIT) != 0
}

/// The time of a process that awaits a condition is up: it takes its lock again as if it came now, and finds out.
///
/// # Safety
/// `p` lives, and `w` is the home worker.
pub unsafe fn overdue(w: *mut Worker, p: *mut Process) {
    let instance = (*p).instance;
    let exclusive = (*p).status == AWAITS_EXCLUSIVE;
    if !exclusive && (*p).status != AWAITS_SHARED || (*rare_of(w, instance)).granted == p {
        // The lock is its own by now, or will be.
        return;
    }
    (*rare_of(w, instance)).awaiting.remove(p);
    if ds_lock(w, p, u32::from(exclusive)) == Status::Done {
        ready(w, p);
    }
    settle(instance, rare_of(w, instance));
}

unsafe fn enter_alone(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    (*instance).lock |= EXCLUSIVE_BIT;
    (*p).lock = LOCK_EXCLUSIVE;
    ready(w, p);
}

unsafe fn enter_shared(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    (*instance).lock += 1;
    (*p).lock = LOCK_SHARED;
    ready(w, p);
}

/// Somebody who had the lock alone has given it up, and others are queued.
unsafe fn left_alone(w: *mut Worker, instance: *mut Instance, written: u64) {
    let rare = rare_if_any(instance);
    admit_awaiting(w, instance, rare, written);
    finish_release(w, instance, rare);
}

/// Those who wait to enter come last, if nobody who awaited something has the lock alone, or will.
unsafe fn finish_release(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
        admit(w, instance, rare);
    }
    settle(instance, rare);
}

/// Those whose conditions hold enter in order, as far as they may.
#[inline]
unsafe fn admit_awaiting(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, written: u64) {
    match awaiting::alone(w, rare, written) {
        Alone::Enters(p) if (*p).status == AWAITS_SHARED => enter_shared(w, instance, p),
        Alone::Enters(p) => enter_alone(w, instance, p),
        Alone::Stays => {}
        Alone::Tests(p) => begin_test(w, instance, rare, p, Place::Alone),
        Alone::None => admit_several(w, instance, rare, Round::begin(w, rare, written)),
    }
}

#[inline(never)]
unsafe fn admit_several(w: *mut Worker, instance: *mut Instance, rare: *mut Rare, mut round: Round) {
    loop {
        match round.next() {
            Turn::Enters(p) if (*p).status == AWAITS_SHARED => enter_shared(w, instance, p),
            Turn::Enters(p) if is_shared(instance) => return (*rare).granted = p,
            Turn::Enters(p) => return enter_alone(w, instance, p),
            Turn::Tests(p, place) => return begin_test(w, instance, rare, p, place),
            Turn::Nobody => return,
        }
    }
}

/// A process tests its condition next: it has the lock alone, but for those who have just begun to share it.
unsafe fn begin_test(
    w: *mut Worker,
    instance: *mut Instance,
    rare: *mut Rare,
    p: *mut Process,
    place: Place,
) {
    awaiting::begin_test(rare, p, place);
    (*instance).lock |= EXCLUSIVE_BIT;
    (*p).lock = LOCK_EXCLUSIVE | LOCK_TESTS;
    ready(w, p);
}

/// Lets those in who wait to enter: nobody has the lock alone.
#[inline(never)]
unsafe fn admit(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
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

/// The last who shared the lock has given it up, and others are queued.
unsafe fn left_shared(w: *mut Worker, instance: *mut Instance) {
    let rare = rare_if_any(instance);
    let granted = core::mem::replace(&mut (*rare).granted, null_mut());
    if granted.is_null() {
        admit(w, instance, rare);
    } else {
        enter_alone(w, instance, granted);
    }
    settle(instance, rare);
}

unsafe fn settle(instance: *mut Instance, rare: *mut Rare) {
    let Rare { exclusive, shared, awaiting, granted, .. } = &*rare;
    if exclusive.is_empty() && shared.is_empty() && awaiting.is_empty() && granted.is_null() {
        (*instance).lock &= !QUEUED_BIT;
    }
}
