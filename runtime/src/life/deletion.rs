//! Deletion: how components end, in the order of the language reference, section 4.
//!
//! [`drive`] goes on with a deletion as far as it gets, down into the components that are held and up again, in a loop:
//! neither depth nor number of components costs stack. At the end of the time slice it pauses. The `occasions` module
//! says when it is called.
//!
//! # Why this is sound
//! The containers that a deletion remembers stay where they are, because nobody else can change what a component or a
//! frame that ends holds.
//!
//! # Safety of this module
//! *Under way*: `w` is the home worker, `d` a record that [`drive`] has not concluded yet, and its component, if it has
//! one, is live.

use core::ptr::null_mut;

use drystone_component::{Side, Template};

use super::dismantle::{Undone, delete_at_once, dismantle, free_dead, undo_in_slice};
use super::late::{Late, is_exported};
use super::owned::{Container, Owner};
use super::record::*;
use crate::communication::connection::*;
use crate::communication::{Act, interface_of, refused_end, violation};
use crate::failure;
use crate::home::{home, team};
use crate::instance::slots::has_many_slots;
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::ready;
use crate::visiting::is_held_up;
use crate::worker::{Failure, slice_is_over};

enum Step {
    Wait,
    /// The time slice is over.
    Pause,
    /// This component is deleted first.
    Child(*mut Instance),
    /// The deletion that this one is part of goes on without this component, which is exported.
    PassOver,
    /// The deletion that this one is part of goes on without this component, within which only late ones are left.
    Suspend,
    Done,
}

/// Goes on with a deletion, and with those that it is part of, as far as possible; whether all is done.
///
/// # Safety
/// *Under way.*
pub unsafe fn drive(w: *mut Worker, mut d: *mut Deletion) -> bool {
    loop {
        // SAFETY: *under way*, and so is each deletion to which a step leads.
        unsafe {
            let step = if is_held_up_by_a_team(w, d) { Step::Pause } else { advance(w, d) };
            match step {
                Step::Wait => return false,
                Step::Pause => {
                    (*team(w)).deletions.paused.push_back(d.cast());
                    return false;
                }
                Step::Child(child) => d = descend(w, d, child),
                Step::PassOver => d = pass_over(w, d),
                Step::Suspend => d = suspend(w, d),
                Step::Done => {
                    d = conclude(w, d);
                    if d.is_null() {
                        return true;
                    }
                }
            }
        }
    }
}

/// Whether a deletion has to wait until a team is at home that has to do with its component. Where it waits for a
/// process anyway, that isn't asked.
///
/// # Safety
/// *Under way.*
#[inline]
unsafe fn is_held_up_by_a_team(w: *mut Worker, d: *mut Deletion) -> bool {
    // SAFETY: *under way*.
    unsafe {
        if !(*team(w)).is_apart {
            return false;
        }
        let instance = (*d).instance;
        if instance.is_null() {
            // What a process holds is held by its component, too.
            return matches!((*d).customer, Customer::Process(p, ..) if is_held_up(w, (*p).instance));
        }
        let main = main_process(instance);
        let waits = match (*d).stage {
            Stage::Main => !main.is_null() && !(*main).is_null(),
            _ => (*instance).processes() != 0,
        };
        !waits && is_held_up(w, instance)
    }
}

/// # Safety
/// *Under way.*
unsafe fn advance(w: *mut Worker, d: *mut Deletion) -> Step {
    // SAFETY: *under way*; no reference to the record lasts over a call.
    unsafe {
        let instance = (*d).instance;
        if instance.is_null() {
            return match next_child(w, d) {
                Step::Done if (*d).storage.is_some_and(|storage| !storage.free_in_slice(w)) => Step::Pause,
                step => step,
            };
        }
        if (*d).stage == Stage::Main {
            let main = main_process(instance);
            if !main.is_null() && !(*main).is_null() {
                return Step::Wait;
            }
            if (*d).customer == Customer::Parent && (*d).turn != instance && is_exported(w, instance) {
                return Step::PassOver;
            }
            let c = unfinished_with_holder(instance);
            if !c.is_null() {
                if !is_left_by_a_service_without_client(d) {
                    return refuse_holder(w, d, c);
                }
                lose_holders_end(w, instance);
            }
            close_holders_end(w, instance);
            (*d).stage = Stage::Services;
        }
        if (*d).stage == Stage::Services {
            if (*instance).processes() != 0 {
                return Step::Wait;
            }
            (*instance).live |= CLOSED;
            (*d).stage = Stage::Finally;
            let finally = (*template_of(instance)).finally;
            if finally != Template::NO_BODY {
                (*d).finalizer = process::start(w, instance, finally);
                if (*d).finalizer.is_null() {
                    return fail(w, Failure::of_end(instance, Fault::OutOfMemory, location_of(instance)));
                }
            }
        }
        if (*d).stage == Stage::Finally {
            if (*instance).processes() != 0 {
                return Step::Wait;
            }
            (*d).finalizer = null_mut();
            begin_children(d);
        }
        match next_child(w, d) {
            Step::Done => end_alone(w, d),
            step => step,
        }
    }
}

/// The component of a deletion holds nothing any more, and has no processes: it goes.
///
/// # Safety
/// *Under way.*
unsafe fn end_alone(w: *mut Worker, d: *mut Deletion) -> Step {
    // SAFETY: *under way*; no reference to the record lasts over a call, and its parent is another one.
    unsafe {
        let Deletion { instance, parent, .. } = *d;
        // Siblings that are clients of each other are told of all that one loses at once.
        if has_many_slots(instance) && (parent.is_null() || !(*parent).children.know_joints()) {
            match undo_in_slice(w, instance, &mut (*d).undone) {
                Undone::All => {}
                Undone::Some => return Step::Pause,
                Undone::Refused(c) => return fail(w, refused_end(c, instance, location_of(instance))),
            }
        }
        let c = unfinished_of(w, instance);
        if !c.is_null() {
            return fail(w, refused_end(c, instance, location_of(instance)));
        }
        if !Owner::of_instance(instance).drop_in_slice(w) {
            return Step::Pause;
        }
        dismantle(w, instance, if parent.is_null() { None } else { Some(&mut (*parent).children) });
        Step::Done
    }
}

/// Deletes held components, until one cannot be deleted at once.
///
/// # Safety
/// *Under way.*
unsafe fn next_child(w: *mut Worker, d: *mut Deletion) -> Step {
    // SAFETY: *under way*; a component in a container is there, and a dead one goes with its container's content.
    unsafe {
        let forced = (*team(w)).deletions.forced;
        if !(*d).late.is_valid(forced) {
            ((*d).late, (*d).turn) = (Late::default(), null_mut());
            (*d).children.reconsider();
        }
        while (*d).children.prepare() {
            if slice_is_over(w) {
                return Step::Pause;
            }
        }
        while !slice_is_over(w) {
            let Some((container, is_late)) = next_container(w, d) else {
                return if (*d).late.is_empty() { Step::Done } else { Step::Suspend };
            };
            let child = container.get();
            if is_late {
                (*d).late.add(forced, child, container);
                continue;
            }
            if !(*child).is_dead() && !delete_at_once(w, child, Some(&mut (*d).children)) {
                return Step::Child(child);
            }
            (*d).turn = null_mut();
            container.take();
            free_dead(w, child);
        }
    }
    Step::Pause
}

/// The container of the next component, which is then the current one, and whether it is passed over for now: it is
/// exported, or late ones may be its clients. `None`: there is none left whose turn it can be.
///
/// # Safety
/// *Under way.*
unsafe fn next_container(w: *mut Worker, d: *mut Deletion) -> Option<(Container, bool)> {
    // SAFETY: *under way*, and nobody else uses the record meanwhile.
    let Deletion { children, late, turn, customer, .. } = unsafe { &mut *d };
    if turn.is_null() {
        while let Some((container, has_clients)) = children.next() {
            if !late.leads(container) {
                let child = container.get();
                // SAFETY: a component in a container is there.
                let is_late = unsafe {
                    !(*child).is_dead() && (has_clients && !late.is_empty() || is_exported(w, child))
                };
                return Some((container, is_late));
            }
        }
        if *customer != Customer::Parent {
            // SAFETY: `next_child` has seen that it is valid.
            *turn = unsafe { late.next(w) };
        }
    }
    let container = late.turn(*turn)?;
    children.current = Some(container);
    Some((container, false))
}

/// A component that is exported, and has only waited for its BEGIN and ACTIVITY so far, is not deleted yet.
///
/// # Safety
/// *Under way*, as part of another one.
unsafe fn pass_over(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    // SAFETY: *under way*, and so is the one around it.
    unsafe {
        let Deletion { instance, parent, .. } = *d;
        let parent = outer(w, instance, parent);
        (*instance).live &= !DELETING;
        forget_deletion(instance);
        end_record(w, d);
        let current = (*parent).current();
        (*parent).late.add((*team(w)).deletions.forced, instance, current);
        parent
    }
}

/// Only what is late is left within a component.
///
/// # Safety
/// *Under way*, as part of another one.
unsafe fn suspend(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    // SAFETY: *under way*, and so is the one around it, which is another record.
    unsafe {
        let parent = outer(w, (*d).instance, (*d).parent);
        (*d).is_suspended = true;
        let current = (*parent).current();
        (*parent).late.add_all((*team(w)).deletions.forced, &mut (*d).late, current);
        parent
    }
}

/// A deletion is done: tells its customer, and answers the deletion that it is part of, or null.
///
/// # Safety
/// *Under way*, but its instance is dead.
pub unsafe fn conclude(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    // SAFETY: the record ends here, and its instance, where nothing else leads to it.
    unsafe {
        let Deletion { instance, mut parent, customer, .. } = end_record(w, d);
        match customer {
            Customer::Parent => {
                parent = outer(w, instance, parent);
                let current = (*parent).children.current.filter(|current| current.get() == instance);
                let Some(current) = current else {
                    // It was suspended, and has been ended by force: it is freed when its container's turn comes.
                    return null_mut();
                };
                current.take();
                free_dead(w, instance);
            }
            Customer::Process(p, _, waits) => {
                // The instance stays in its container, dead, until the process has seen that.
                if waits {
                    ready(w, p);
                }
            }
            Customer::Nobody => {
                (*team(w)).deletions.detached -= 1;
                free_dead(w, instance);
            }
            Customer::Program => {
                (*home(w)).roots.entry = null_mut();
                free_dead(w, instance);
            }
        }
        parent
    }
}

/// A communication of the holder with what is deleted may not end now: that is the error of what deletes it.
///
/// # Safety
/// *Under way*; `c` is live.
unsafe fn refuse_holder(w: *mut Worker, d: *mut Deletion, c: *mut Communication) -> Step {
    // SAFETY: *under way*; a process that deletes is live.
    unsafe {
        let instance = (*d).instance;
        if (*d).is_within_component() {
            let holder = holder_of(instance);
            return fail(w, refused_end(c, holder, location_of(holder)));
        }
        let Customer::Process(p, location, _) = (*d).outermost_customer() else {
            return fail(w, refused_end(c, instance, location_of(instance)));
        };
        violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
    }
    Step::Wait
}

/// Whether a service deletes it whose client is lost: what that has begun may end anywhere.
///
/// # Safety
/// *Under way.*
unsafe fn is_left_by_a_service_without_client(d: *mut Deletion) -> bool {
    // SAFETY: *under way*; a process that deletes is live.
    unsafe {
        match (*d).outermost_customer() {
            Customer::Process(p, ..) if !(*d).is_within_component() => {
                is_service(p) && (*p.cast::<Communication>()).word.flags & GONE != 0
            }
            _ => false,
        }
    }
}

/// The end of a component fails.
///
/// # Safety
/// As for [`failure::record`].
unsafe fn fail(w: *mut Worker, failure: Failure) -> Step {
    // SAFETY: as for `failure::record`.
    unsafe { failure::record(w, failure) };
    Step::Wait
}

/// # Safety
/// The block of `instance` is there.
unsafe fn location_of(instance: *mut Instance) -> u32 {
    // SAFETY: the block of `instance` is there.
    unsafe { (*template_of(instance)).location }
}
