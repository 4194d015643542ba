//! When deletions begin and go on: when a process of a component that is being deleted has ended, and when the
//! scheduler has control.
//!
//! # Why this is sound
//! A deletion that pauses is forgotten when it ends in another way ([`forget_paused`]).
//!
//! # Safety of this module
//! *Under way*: see the deletion module.

use core::ptr::null_mut;

use super::deletion::{conclude, drive};
use super::dismantle::{dismantle, free_dead, needs_nothing_more};
use super::leaving;
use super::owned::Owner;
use super::record::{Customer, Deletion, begin, begin_for, deletion_of, end_record};
use crate::communication::connection::close_leaf;
use crate::home::team;
use crate::instance::{slot_at, template_of};
use crate::layout::{Instance, OfferedSlot, Process, Worker};
use crate::queue::ready;
use crate::worker::{ground, slice_is_over, want_attention};

/// Begins the deletion of the program's entry, which is the program's end: it waits for all there is to do.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and not being deleted.
pub unsafe fn delete_entry(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker; `instance` is live, and not being deleted.
    unsafe {
        let d = begin(w, instance, null_mut(), Customer::Program);
        drive(w, d);
    }
}

/// Deletes components without a holder, when the scheduler has control: who lost its holder first, first.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn delete_dropped(w: *mut Worker) {
    // SAFETY: a dropped component is in no container, and nobody else deletes it.
    unsafe {
        while let Some(instance) = (*ground(w)).dropped.pop_front() {
            if (*instance).is_dead() {
                free_dead(w, instance);
                continue;
            }
            for offered in (*template_of(instance)).offered.get() {
                close_leaf(w, &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder);
            }
            (*team(w)).deletions.detached += 1;
            let d = begin(w, instance, null_mut(), Customer::Nobody);
            drive(w, d);
            if slice_is_over(w) {
                return want_attention(w);
            }
        }
    }
}

/// A process of an instance has ended, whose deletion may wait for that.
///
/// # Safety
/// `w` is the home worker; `instance` is live.
#[inline]
pub unsafe fn go_on(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker; `instance` is live; the record of a live instance is *under way*.
    unsafe {
        if (*instance).is_leaving() {
            let d = deletion_of(instance);
            if !d.is_null() && !(*d).is_suspended {
                drive(w, d);
            }
        }
    }
}

/// Lets the deletion that has paused longest go on, when the scheduler has control.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn go_on_paused(w: *mut Worker) {
    // SAFETY: a deletion that has paused is *under way*.
    unsafe {
        if let Some(d) = (*team(w)).deletions.paused.pop_front() {
            drive(w, d.cast());
        }
    }
}

/// Some components have been ended by force: their deletions will not go on.
///
/// # Safety
/// `w` is the home worker; the blocks of dead instances and processes are still there.
pub unsafe fn forget_paused(w: *mut Worker) {
    let is_forgotten = |d: *mut Deletion| {
        // SAFETY: a deletion that has paused is *under way*, unless its component was just ended by force.
        unsafe {
            if !(*d).instance.is_null() {
                return (*(*d).instance).is_dead();
            }
            let Customer::Process(p, ..) = (*d).customer else { return false };
            let is_dead = (*(*p).instance).is_dead();
            if is_dead {
                end_record(w, d);
            }
            is_dead
        }
    };
    // SAFETY: `w` is the home worker.
    unsafe { (*team(w)).deletions.paused.retain(|d| !is_forgotten(d.cast())) };
}

/// The service of an instance has ended for which `p` waited, to delete the instance, and its communication is gone.
///
/// # Safety
/// `w` is the home worker; `instance` and `p` are live.
pub unsafe fn left(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    // SAFETY: `w` is the home worker; `instance` and `p` are live; `p` waits for the end, and stands in no queue.
    unsafe {
        leaving::restore_holder(instance, p);
        if (*instance).processes() == 0
            && needs_nothing_more(w, instance)
            && Owner::of_instance(instance).drop_in_slice(w)
        {
            dismantle(w, instance, None);
            ready(w, p);
        } else {
            drive(w, begin_for(w, instance, p));
        }
    }
}

/// The instance of a deletion has been ended by force, which is as good.
///
/// # Safety
/// *Under way*, but its instance is dead.
pub unsafe fn overtaken(w: *mut Worker, d: *mut Deletion) {
    // SAFETY: *under way*, but its instance is dead.
    unsafe {
        let parent = conclude(w, d);
        if !parent.is_null() {
            drive(w, parent);
        }
    }
}
