//! Monitors: a component's lock, and the conditions that its processes await (language reference, section 6).
//!
//! When the lock is given up alone, the awaiting are tested once, in order: every fulfilled one that shares enters, up
//! to the first fulfilled one that wants the lock alone; then those who wait to enter alone; then all who wait to
//! share. Locks are handed over: who is woken has it.
//!
//! # Why this is sound
//! Queues hold live processes of their own instance only; see the process module.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

use crate::instance::{Rare, rare_of};
use crate::layout::*;
use crate::process::*;

/// `fn(worker, process)`: 0 false, 1 true, 2 failed.
type Condition = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// Takes the component's lock; after a wait it has been handed over already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_lock(_w: *mut Worker, p: *mut Process, exclusive: u32) -> Status {
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
        (*rare_of(instance)).exclusive.push(p);
    } else {
        if lock & (EXCLUSIVE_BIT | QUEUED_BIT) == 0
            || lock & EXCLUSIVE_BIT == 0 && may_share(rare_of(instance))
        {
            (*instance).lock = lock + 1;
            (*p).lock = LOCK_SHARED;
            return Status::Done;
        }
        (*rare_of(instance)).shared.push(p);
    }
    (*p).status = ENTRY;
    (*instance).lock |= QUEUED_BIT;
    Status::Leave
}

/// Nobody who wants the lock alone waits before a newcomer that shares.
unsafe fn may_share(rare: *mut Rare) -> bool {
    (*rare).exclusive.is_empty() && (*rare).granted.is_null()
}

/// Gives the component's lock up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_unlock(w: *mut Worker, p: *mut Process) {
    let instance = (*p).instance;
    let mode = core::mem::replace(&mut (*p).lock, LOCK_NONE);
    if mode == LOCK_EXCLUSIVE {
        (*instance).lock &= !EXCLUSIVE_BIT;
        if (*instance).lock & QUEUED_BIT != 0 {
            left_alone(w, instance);
        }
    } else {
        (*instance).lock -= 1;
        if (*instance).lock == QUEUED_BIT {
            left_shared(w, instance);
        }
    }
}

/// Gives the lock up until the condition at `Body::condition` holds, which was false just now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_await(w: *mut Worker, p: *mut Process) -> Status {
    let instance = (*p).instance;
    let status = if (*p).lock == LOCK_EXCLUSIVE { AWAITS_EXCLUSIVE } else { AWAITS_SHARED };
    ds_unlock(w, p);
    (*p).status = status;
    (*rare_of(instance)).awaiting.push(p);
    (*instance).lock |= QUEUED_BIT;
    Status::Leave
}

unsafe fn is_fulfilled(w: *mut Worker, p: *mut Process) -> u32 {
    let condition = p.cast::<u8>().add(body_of(p).condition as usize).cast::<Condition>();
    (*condition)(w, p)
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
unsafe fn left_alone(w: *mut Worker, instance: *mut Instance) {
    let rare = (*instance).rare;
    test_awaiting(w, instance, rare);
    if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
        admit(w, instance, rare);
    }
    settle(instance, rare);
}

unsafe fn test_awaiting(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    let mut untested = core::mem::replace(&mut (*rare).awaiting, Queue::EMPTY);
    let mut sharing = false;
    loop {
        let p = untested.pop();
        if p.is_null() {
            return;
        }
        match (is_fulfilled(w, p), (*p).status) {
            (0, _) => (*rare).awaiting.push(p),
            (1, AWAITS_SHARED) => {
                sharing = true;
                enter_shared(w, instance, p);
            }
            (1, _) => {
                if sharing {
                    (*rare).granted = p;
                } else {
                    enter_alone(w, instance, p);
                }
                return (*rare).awaiting.append(untested);
            }
            // Its condition has failed: the scheduler will see to it.
            _ => {}
        }
    }
}

/// Lets those in who wait to enter: nobody has the lock alone.
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
    let rare = (*instance).rare;
    let granted = core::mem::replace(&mut (*rare).granted, core::ptr::null_mut());
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

/// A process is ended by force while its component goes on: it leaves the monitor.
pub unsafe fn expel(w: *mut Worker, p: *mut Process) {
    if (*p).lock != LOCK_NONE {
        return ds_unlock(w, p);
    }
    let instance = (*p).instance;
    let rare = (*instance).rare;
    if rare.is_null() || (*instance).lock & QUEUED_BIT == 0 {
        return;
    }
    (*rare).exclusive.retain(|q| q != p);
    (*rare).shared.retain(|q| q != p);
    (*rare).awaiting.retain(|q| q != p);
    if (*rare).granted == p {
        (*rare).granted = core::ptr::null_mut();
    }
    // It may have been the one whom others let pass.
    if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
        admit(w, instance, rare);
    }
    settle(instance, rare);
}
