//! Deletion: how components end, in the order of the language reference, section 4.
//!
//! [`drive`] goes on with a deletion as far as it gets, down into the components that are held and up again, in a loop:
//! neither depth nor number of components costs stack. It is called whenever a process of a component that is being
//! deleted has ended. At the end of the time slice it pauses, and the scheduler lets it go on in another one.
//!
//! # Why this is sound
//! The containers that a deletion remembers stay where they are, because nobody else can change what a component or a
//! frame that ends holds. One that pauses is forgotten there when it ends in another way (`forget_paused`).
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use drystone_component::{Side, Template};

use super::children::Children;
use super::dismantle::{Undone, dismantle, free_dead, needs_nothing_more, undo_in_slice};
use super::late::{Late, is_exported};
use super::leaving;
use super::owned::{Cell, drop_in_slice};
use super::record::*;
use crate::communication::connection::*;
use crate::communication::{Act, interface_of, refused_end, violation};
use crate::failure;
use crate::home::home;
use crate::instance::slots::has_many_slots;
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::ready;
use crate::worker::{Failure, ground, slice_is_over, want_attention};

enum Step {
    Wait,
    /// The time slice is over.
    Pause,
    /// This component is deleted first.
    Child(*mut Instance),
    /// The deletion that this one is part of goes on without this component, which is exported.
    PassOver,
    /// The same, of one within which all is late that is left.
    Suspend,
    Done,
}

/// The program's end is the deletion of its entry, which begins at once and waits for all there is to do.
pub unsafe fn delete_entry(w: *mut Worker, instance: *mut Instance) {
    let d = begin(w, instance, null_mut(), Customer::Program);
    drive(w, d);
}

/// The scheduler has control.
pub unsafe fn delete_dropped(w: *mut Worker) {
    while let Some(instance) = (*ground(w)).dropped.pop() {
        if (*instance).live & DEAD != 0 {
            free_dead(w, instance);
            continue;
        }
        for offered in (*template_of(instance)).offered.get() {
            close_leaf(w, &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder);
        }
        (*home(w)).deletions.detached += 1;
        let d = begin(w, instance, null_mut(), Customer::Nobody);
        drive(w, d);
        if slice_is_over(w) {
            return want_attention(w);
        }
    }
}

/// A process of an instance has ended, whose deletion may wait for that.
#[inline]
pub unsafe fn go_on(w: *mut Worker, instance: *mut Instance) {
    if (*instance).live & DELETING != 0 {
        let d = deletion_of(instance);
        if !d.is_null() && !(*d).is_suspended {
            drive(w, d);
        }
    }
}

/// Goes on with a deletion, and with those that it is part of, as far as possible; whether all is done.
pub unsafe fn drive(w: *mut Worker, mut d: *mut Deletion) -> bool {
    loop {
        match advance(w, d) {
            Step::Wait => return false,
            Step::Pause => {
                (*home(w)).deletions.paused.push_back(d.cast());
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

unsafe fn advance(w: *mut Worker, d: *mut Deletion) -> Step {
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
        if live(instance) != 0 {
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
        if live(instance) != 0 {
            return Step::Wait;
        }
        (*d).finalizer = null_mut();
        begin_children(d);
    }
    match next_child(w, d) {
        Step::Done => {}
        step => return step,
    }
    let parent = (*d).parent;
    // Siblings that are clients of each other are told of all that one loses at once.
    if has_many_slots(instance) && (parent.is_null() || !(*parent).children.know_joints()) {
        match undo_in_slice(w, instance, &mut (*d).undone) {
            Undone::All => {}
            Undone::Some => return Step::Pause,
            Undone::Refused(c) => return fail(w, refused_end(c, instance, location_of(instance))),
        }
    }
    let c = unfinished_of(instance);
    if !c.is_null() {
        return fail(w, refused_end(c, instance, location_of(instance)));
    }
    if !drop_in_slice(w, instance.cast(), (*template_of(instance)).owned.get()) {
        return Step::Pause;
    }
    dismantle(w, instance, if parent.is_null() { None } else { Some(&mut (*parent).children) });
    Step::Done
}

/// Deletes held components, until one cannot be deleted at once.
unsafe fn next_child(w: *mut Worker, d: *mut Deletion) -> Step {
    if !(*d).late.is_valid(w) {
        ((*d).late, (*d).turn) = (Late::default(), null_mut());
        (*d).children.reconsider();
    }
    while (*d).children.prepare() {
        if slice_is_over(w) {
            return Step::Pause;
        }
    }
    while !slice_is_over(w) {
        let Some((cell, is_late)) = next_cell(w, d) else {
            return if (*d).late.is_empty() { Step::Done } else { Step::Suspend };
        };
        let child = *cell;
        if is_late {
            (*d).late.add(w, child, cell);
            continue;
        }
        if (*child).live & DEAD == 0 && !delete_at_once(w, child, Some(&mut (*d).children)) {
            return Step::Child(child);
        }
        (*d).turn = null_mut();
        *cell = null_mut();
        free_dead(w, child);
    }
    Step::Pause
}

/// The container of the next component, which is then the current one, and whether it is passed over for now: who is
/// exported, and whose clients those who are late may be. `None`: nobody is left whose turn it can be.
unsafe fn next_cell(w: *mut Worker, d: *mut Deletion) -> Option<(Cell, bool)> {
    let Deletion { children, late, turn, customer, .. } = &mut *d;
    if turn.is_null() {
        while let Some((cell, has_clients)) = children.next() {
            if !late.leads(cell) {
                let is_alive = (**cell).live & DEAD == 0;
                let is_late = is_alive && (has_clients && !late.is_empty() || is_exported(w, *cell));
                return Some((cell, is_late));
            }
        }
        if *customer != Customer::Parent {
            *turn = late.next(w);
        }
    }
    children.current = late.turn(*turn)?;
    Some((children.current, false))
}

/// A component that is exported, and has only waited for its BEGIN and ACTIVITY so far, is not deleted yet.
unsafe fn pass_over(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    let Deletion { instance, parent, .. } = *d;
    let parent = outer(w, instance, parent);
    (*instance).live &= !DELETING;
    forget_deletion(instance);
    end_record(w, d);
    (*parent).late.add(w, instance, (*parent).children.current);
    parent
}

/// Only what is late is left within a component.
unsafe fn suspend(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    let parent = outer(w, (*d).instance, (*d).parent);
    (*d).is_suspended = true;
    (*parent).late.add_all(w, &mut (*d).late, (*parent).children.current);
    parent
}

/// A deletion is done: tells whoever wants to know, and answers the deletion that it is part of.
unsafe fn conclude(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    let Deletion { instance, mut parent, customer, .. } = end_record(w, d);
    match customer {
        Customer::Parent => {
            parent = outer(w, instance, parent);
            let current = (*parent).children.current;
            if current.is_null() || *current != instance {
                // It was suspended, and has been ended by force: it is freed when its container's turn comes.
                return null_mut();
            }
            *current = null_mut();
            free_dead(w, instance);
        }
        Customer::Process(p, _, waits) => {
            // The instance stays in its container, dead, until the process has seen that.
            if waits {
                ready(w, p);
            }
        }
        Customer::Nobody => {
            (*home(w)).deletions.detached -= 1;
            free_dead(w, instance);
        }
        Customer::Program => {
            (*home(w)).roots.entry = null_mut();
            free_dead(w, instance);
        }
    }
    parent
}

/// The scheduler has control, and lets the deletion that has paused longest go on.
pub unsafe fn go_on_paused(w: *mut Worker) {
    if let Some(d) = (*home(w)).deletions.paused.pop_front() {
        drive(w, d.cast());
    }
}

/// Some components have been ended by force: their deletions will not go on.
pub unsafe fn forget_paused(w: *mut Worker) {
    (*home(w)).deletions.paused.retain(|&d| {
        let d = d.cast::<Deletion>();
        if !(*d).instance.is_null() {
            return (*(*d).instance).live & DEAD == 0;
        }
        let Customer::Process(p, ..) = (*d).customer else { return true };
        if (*(*p).instance).live & DEAD == 0 {
            return true;
        }
        end_record(w, d);
        false
    });
}

/// The service of an instance has ended for which `p` waited, to delete it, and its communication is gone.
pub unsafe fn left(w: *mut Worker, instance: *mut Instance, p: *mut Process) {
    leaving::restore_holder(instance, p);
    if live(instance) == 0
        && needs_nothing_more(instance)
        && drop_in_slice(w, instance.cast(), (*template_of(instance)).owned.get())
    {
        dismantle(w, instance, None);
        ready(w, p);
    } else {
        drive(w, begin_for(w, instance, p));
    }
}

/// The instance of a deletion has been ended by force, which is as good.
pub unsafe fn overtaken(w: *mut Worker, d: *mut Deletion) {
    let parent = conclude(w, d);
    if !parent.is_null() {
        drive(w, parent);
    }
}

/// A communication of its holder with what is deleted may not end now: the error of who deletes it.
unsafe fn refuse_holder(w: *mut Worker, d: *mut Deletion, c: *mut Communication) -> Step {
    let parent = (*d).parent;
    if (*d).customer == Customer::Parent && is_of_component(parent) {
        let holder = holder_of((*d).instance);
        return fail(w, refused_end(c, holder, location_of(holder)));
    }
    let Customer::Process(p, location, _) = customer_of(d) else {
        return fail(w, refused_end(c, (*d).instance, location_of((*d).instance)));
    };
    violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
    Step::Wait
}

/// Who wants to have something deleted, by itself or with what it is held by.
unsafe fn customer_of(d: *mut Deletion) -> Customer {
    if (*d).parent.is_null() { (*d).customer } else { (*(*d).parent).customer }
}

/// Whether it is a service that deletes, the client of which is lost: what it has begun may end anywhere.
unsafe fn is_left_by_a_service_without_client(d: *mut Deletion) -> bool {
    let is_held_by_component = (*d).customer == Customer::Parent && is_of_component((*d).parent);
    match customer_of(d) {
        Customer::Process(p, ..) if !is_held_by_component => {
            is_service(p) && (*p.cast::<Communication>()).word.flags & GONE != 0
        }
        _ => false,
    }
}

/// The end of a component fails.
unsafe fn fail(w: *mut Worker, failure: Failure) -> Step {
    failure::record(w, failure);
    Step::Wait
}

unsafe fn location_of(instance: *mut Instance) -> u32 {
    (*template_of(instance)).location
}

/// Deletes a component that has nothing to wait for; the block is left, dead. `false`: it lives, though some of what it
/// owns may be gone.
pub unsafe fn delete_at_once(
    w: *mut Worker,
    instance: *mut Instance,
    siblings: Option<&mut Children>,
) -> bool {
    if live(instance) != 0
        || (*instance).live & DELETING != 0
        || !needs_nothing_more(instance)
        || !unfinished_with_holder(instance).is_null()
        || !drop_in_slice(w, instance.cast(), (*template_of(instance)).owned.get())
    {
        return false;
    }
    close_holders_end(w, instance);
    dismantle(w, instance, siblings);
    true
}
