//! Monitors: a component's lock, and the conditions that its processes await (language reference, section 6).
//!
//! When a process gives up the lock that it had alone, the conditions that are awaited are tested once, in order. All
//! that hold and share enter, up to the first that holds and wants the lock alone; then a process that waits to enter
//! alone; then all that wait to share. Locks are handed over: a process that is woken has it. The `awaiting` module
//! knows which conditions have to be tested. A process that has to test its condition itself has the lock alone
//! meanwhile; then the round goes on.
//!
//! # Why this is sound
//! Queues hold live processes of their own instance only; see the process module.

mod queued;

use core::mem::replace;

use self::queued::{EVERYTHING, Queued};
use super::awaiting::{Awaiting, Waiter};
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
}

/// Gives the component's lock up; `written` has a bit in common with the conditions that depend on what has been
/// written.
///
/// # Safety
/// `p` runs on `w`, the home worker, and has the lock of its component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_unlock(w: *mut Worker, p: *mut Process, written: u64) {
    // SAFETY: the instance of `p` is live; where `QUEUED_BIT` is set, a process is queued.
    unsafe {
        let instance = (*p).instance;
        let mode = replace(&mut (*p).lock, LOCK_NONE);
        if mode & LOCK_EXCLUSIVE != 0 {
            (*instance).lock &= !EXCLUSIVE_BIT;
            if (*instance).lock & QUEUED_BIT != 0 {
                let written = if mode & LOCK_WROTE == 0 { written } else { EVERYTHING };
                Queued::at(w, instance).left_alone(written);
            }
        } else {
            (*instance).lock -= 1;
            if (*instance).lock == QUEUED_BIT {
                Queued::at(w, instance).left_shared();
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
        let monitor = Queued::at(w, instance);
        let tested = monitor.end_test(p, true);
        let status = if tested.shares {
            (*instance).lock += 1;
            (*p).lock = LOCK_SHARED;
            Status::Done
        } else if monitor.is_shared() {
            // The processes that share it leave first.
            monitor.grant(p);
            (*p).status = AWAITS_EXCLUSIVE;
            Status::Leave
        } else {
            (*instance).lock |= EXCLUSIVE_BIT;
            (*p).lock = LOCK_EXCLUSIVE;
            Status::Done
        };
        monitor.go_on(tested.is_round && tested.shares);
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
        let monitor = Queued::at(w, (*p).instance);
        let tested = monitor.end_test(p, false);
        (*p).status = if tested.shares { AWAITS_SHARED } else { AWAITS_EXCLUSIVE };
        monitor.go_on(tested.is_round);
    }
    Status::Leave
}

/// What conditions of a component read has changed, though nobody had its lock: they are tested as soon as nobody has
/// it.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; `instance` is live.
pub unsafe fn changed(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: as this demands; the rare part is there.
    unsafe {
        let rare = rare_if_any(instance);
        if rare.is_null() || (*rare).awaiting.is_empty() {
            return;
        }
        (*rare).changed = true;
        if (*instance).lock & !QUEUED_BIT == 0 {
            Queued::at(w, instance).left_shared();
        }
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
        Queued::at(w, instance).settle();
    }
}
