//! Monitors: a component's lock, and the conditions that its processes await (language reference, section 6).
//!
//! When the lock is given up alone, the awaiting are tested once, in order: every fulfilled one that shares enters, up
//! to the first fulfilled one that wants the lock alone; then those who wait to enter alone; then all who wait to
//! share. Locks are handed over: who is woken has it. A condition that doesn't depend on who awaits it is tested once
//! for all.
//!
//! # Why this is sound
//! Queues hold live processes of their own instance only; see the process module.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ptr::null_mut;

use super::{Rare, body_of, rare_if_any, rare_of};
use crate::layout::*;
use crate::queue::{Queue, ready};

/// In the address of a condition: the answer is the same for all processes of the component. (Under Miri functions
/// stand at odd addresses, too.)
const COMMON: usize = if cfg!(miri) { 1 << 62 } else { 1 };

/// `fn(worker, process)`: 0 false, 1 true, 2 failed.
type Condition = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// Takes the component's lock; after a wait it has been handed over already.
///
/// # Safety
/// `p` runs on `w`, the home worker.
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
///
/// # Safety
/// `p` runs on `w`, the home worker, and has the lock of its component.
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
///
/// # Safety
/// `p` runs on `w`, the home worker, has the lock of its component, and has written its condition's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_await(w: *mut Worker, p: *mut Process) -> Status {
    let instance = (*p).instance;
    let status = if (*p).lock == LOCK_EXCLUSIVE { AWAITS_EXCLUSIVE } else { AWAITS_SHARED };
    if (*instance).lock == EXCLUSIVE_BIT {
        // Nobody else is queued.
        (*instance).lock = 0;
        (*p).lock = LOCK_NONE;
    } else {
        ds_unlock(w, p);
    }
    (*p).status = status;
    (*rare_of(instance)).awaiting.add(p);
    (*instance).lock |= QUEUED_BIT;
    Status::Leave
}

/// The time of a process that awaits a condition is up: it takes its lock again as if it came now, and finds out.
///
/// # Safety
/// `p` lives, and `w` is the home worker.
pub unsafe fn overdue(w: *mut Worker, p: *mut Process) {
    let instance = (*p).instance;
    let exclusive = (*p).status == AWAITS_EXCLUSIVE;
    if !exclusive && (*p).status != AWAITS_SHARED || (*rare_of(instance)).granted == p {
        // The lock is its own by now, or will be.
        return;
    }
    (*rare_of(instance)).awaiting.remove(p);
    if ds_lock(w, p, u32::from(exclusive)) == Status::Done {
        ready(w, p);
    }
    settle(instance, rare_of(instance));
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
    let rare = rare_if_any(instance);
    test_awaiting(w, instance, rare);
    if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
        admit(w, instance, rare);
    }
    settle(instance, rare);
}

/// Tests the awaiting once, in order; they enter as far as they may.
unsafe fn test_awaiting(w: *mut Worker, instance: *mut Instance, rare: *mut Rare) {
    let awaiting = &raw mut (*rare).awaiting;
    let mut holding = null_mut::<Group>();
    let mut mixed = !(*awaiting).own.is_empty();
    for group in &mut (*awaiting).groups {
        group.test(w);
        if group.holds {
            mixed |= !holding.is_null();
            holding = group;
        }
    }
    let mut entering = Entering { w, instance, rare, sharing: false, closed: false };
    if mixed {
        entering.admit_mixed();
    } else if !holding.is_null() {
        while !entering.closed && !(*holding).waiting.is_empty() {
            entering.admit((*holding).waiting.pop());
        }
    }
}

/// Those whose conditions hold enter, one after the other.
struct Entering {
    w: *mut Worker,
    instance: *mut Instance,
    rare: *mut Rare,
    /// Somebody has entered who shares the lock.
    sharing: bool,
    /// Nobody else may enter.
    closed: bool,
}

impl Entering {
    unsafe fn admit(&mut self, p: *mut Process) {
        if (*p).status == AWAITS_SHARED {
            self.sharing = true;
            return enter_shared(self.w, self.instance, p);
        }
        self.closed = true;
        if self.sharing {
            (*self.rare).granted = p;
        } else {
            enter_alone(self.w, self.instance, p);
        }
    }

    /// Those who await different conditions: by their turns.
    #[cold]
    unsafe fn admit_mixed(&mut self) {
        let own = &raw mut (*self.rare).awaiting.own;
        let (mut tested, mut kept) = (0, 0);
        while tested < (*own).len() {
            let (turn, p) = (&(*own))[tested];
            self.admit_groups(turn);
            if self.closed {
                break;
            }
            tested += 1;
            match (*condition_of(p))(self.w, p) {
                0 => {
                    (&mut (*own))[kept] = (turn, p);
                    kept += 1;
                }
                1 => self.admit(p),
                // It has failed: the scheduler will see to it.
                _ => {}
            }
        }
        drop((*own).drain(kept..tested));
        self.admit_groups(u64::MAX);
    }

    /// Those of the groups who came before that turn.
    unsafe fn admit_groups(&mut self, before: u64) {
        let groups = &raw mut (*self.rare).awaiting.groups;
        while !self.closed {
            let ready = (*groups).iter_mut().filter(|group| group.holds && !group.waiting.is_empty());
            let turns = ready.map(|group| (unsafe { *turn_of(group.waiting.head) }, group));
            match turns.min_by_key(|(turn, _)| *turn) {
                Some((turn, group)) if turn < before => self.admit(group.waiting.pop()),
                _ => return,
            }
        }
    }
}

/// Processes that await conditions, in the order of their turns.
pub struct Awaiting {
    /// Those whose condition is the same for all processes of the component.
    groups: Vec<Group>,
    /// Those whose condition depends on what is their own.
    own: VecDeque<(u64, *mut Process)>,
    turns: u64,
}

/// Processes that await the same condition, each with its turn in the place of the condition's address.
struct Group {
    condition: Condition,
    waiting: Queue,
    /// The condition was true when it was last tested.
    holds: bool,
}

impl Group {
    /// Tests the condition. One answer is good for all; but each fails for itself.
    #[inline]
    unsafe fn test(&mut self, w: *mut Worker) {
        self.holds = false;
        while !self.waiting.is_empty() {
            match (self.condition)(w, self.waiting.head) {
                0 => return,
                1 => {
                    self.holds = true;
                    return;
                }
                _ => self.waiting.pop(),
            };
        }
    }
}

/// Where a process that awaits keeps its condition.
unsafe fn condition_of(p: *mut Process) -> *mut Condition {
    p.cast::<u8>().add(body_of(p).condition as usize).cast()
}

unsafe fn turn_of(p: *mut Process) -> *mut u64 {
    condition_of(p).cast()
}

impl Awaiting {
    /// Nobody.
    pub const fn new() -> Awaiting {
        Awaiting { groups: Vec::new(), own: VecDeque::new(), turns: 0 }
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.groups.iter().all(|group| group.waiting.is_empty())
    }

    unsafe fn add(&mut self, p: *mut Process) {
        let turn = self.turns;
        self.turns += 1;
        let tagged = condition_of(p).cast::<*const u8>();
        if (*tagged).addr() & COMMON == 0 {
            return self.own.push_back((turn, p));
        }
        let address = (*tagged).map_addr(|address| address & !COMMON);
        let condition = core::mem::transmute::<*const u8, Condition>(address);
        *turn_of(p) = turn;
        let same = |group: &&mut Group| core::ptr::fn_addr_eq(group.condition, condition);
        match self.groups.iter_mut().find(same) {
            Some(group) => group.waiting.push(p),
            None => {
                let mut waiting = Queue::EMPTY;
                waiting.push(p);
                self.groups.push(Group { condition, waiting, holds: false });
            }
        }
    }

    unsafe fn remove(&mut self, p: *mut Process) {
        self.own.retain(|&(_, q)| q != p);
        for group in &mut self.groups {
            group.waiting.retain(|q| q != p);
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

/// A process is ended by force while its component goes on: it leaves the monitor.
pub unsafe fn expel(w: *mut Worker, p: *mut Process) {
    if (*p).lock != LOCK_NONE {
        return ds_unlock(w, p);
    }
    let instance = (*p).instance;
    let rare = rare_if_any(instance);
    if rare.is_null() || (*instance).lock & QUEUED_BIT == 0 {
        return;
    }
    (*rare).exclusive.retain(|q| q != p);
    (*rare).shared.retain(|q| q != p);
    (*rare).awaiting.remove(p);
    if (*rare).granted == p {
        (*rare).granted = null_mut();
    }
    // It may have been the one whom others let pass.
    if (*instance).lock & EXCLUSIVE_BIT == 0 && (*rare).granted.is_null() {
        admit(w, instance, rare);
    }
    settle(instance, rare);
}
