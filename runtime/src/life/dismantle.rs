//! The last step of a component's end: its connections are undone, and its memory is given back.
//!
//! # Why this is sound
//! No process of the component is left, and nothing that it holds; what is connected to it is told before its block
//! goes.

use core::ptr::null_mut;

use drystone_component::{Offered, Template};

use super::children::Children;
use super::faults;
use super::owned::Owner;
use crate::communication;
use crate::communication::connection::*;
use crate::instance::slots::{free_tables, has_many_slots, inward_slots, next_in_tables, required_slots};
use crate::instance::*;
use crate::layout::*;
use crate::visiting::is_held_up;
use crate::worker::{heap_of, slice_is_over};

/// Whether a component without processes has no FINALLY, no sub-components, and may let go of its servers, which are
/// not very many.
///
/// # Safety
/// `instance` is live; on the home worker's thread.
#[inline]
pub unsafe fn needs_nothing_more(w: *mut Worker, instance: *mut Instance) -> bool {
    // SAFETY: `instance` is live; on the home worker's thread.
    unsafe {
        let template = &*template_of(instance);
        only_serves(template) || holds_nothing(w, instance, template)
    }
}

/// # Safety
/// As for [`needs_nothing_more`]; `template` is the instance's.
unsafe fn holds_nothing(w: *mut Worker, instance: *mut Instance, template: &'static Template) -> bool {
    // SAFETY: as for `needs_nothing_more`; `template` is the instance's.
    unsafe {
        template.finally == Template::NO_BODY
            && !has_many_slots(instance)
            && Owner::new(instance.cast(), template.owned.get()).holds_no_component()
            && unfinished_of(w, instance).is_null()
    }
}

/// Whether components of a template have nothing but services for their holders: no variables to see to, no
/// connections, no FINALLY.
#[inline]
fn only_serves(template: &Template) -> bool {
    template.required.length == 0
        && template.owned.length == 0
        && template.finally == Template::NO_BODY
        && template
            .offered
            .get()
            .iter()
            .all(|offered| !offered.connectable && offered.body != Offered::INWARD)
}

/// Undoes all connections of a component, and frees all but its block.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and has no processes and no sub-components.
pub unsafe fn dismantle(w: *mut Worker, instance: *mut Instance, siblings: Option<&mut Children>) {
    // SAFETY: `w` is the home worker; `instance` is live, and has no processes and no sub-components; the template
    // says where slots and variables lie.
    unsafe {
        let template: &'static Template = &*template_of(instance);
        if !only_serves(template) {
            if let Some(siblings) = siblings {
                siblings.leave(instance);
            }
            forget_names(w, instance);
            required_slots(instance, |slot| undo(w, slot));
            inward_slots(instance, |slot| undo(w, slot));
            Owner::new(instance.cast(), template.owned.get()).drop(w);
        }
        for offered in template.offered.get() {
            let slot = slot_at::<OfferedSlot>(instance, offered.offset);
            close_leaf(w, &raw mut (*slot).holder);
            if offered.connectable {
                release_clients(w, instance, offered);
            }
        }
        free_rare(w, instance);
        (*instance).live = DEAD;
    }
}

/// Undoes the connections of a component that has very many of them, until the time slice is over, from a place in its
/// tables on, so that [`dismantle`] finds few. Clients to which the component passed something on lose that one after
/// the other.
///
/// # Safety
/// As for [`dismantle`].
pub unsafe fn undo_in_slice(w: *mut Worker, instance: *mut Instance, place: &mut usize) -> Undone {
    // SAFETY: as for `dismantle`; `indexed_slot` has made the slots that tables lead to.
    unsafe {
        while let Some(entry) = next_in_tables(instance, place) {
            if slice_is_over(w) {
                return Undone::Some;
            }
            let c = unfinished_through(w, *entry);
            if !c.is_null() {
                return Undone::Refused(c);
            }
            forget_names_of(w, *entry);
            undo(w, *entry);
            (*heap_of(w)).free(core::mem::replace(&mut *entry, null_mut()).cast(), size_of::<RequiredSlot>());
        }
    }
    Undone::All
}

/// How far [`undo_in_slice`] came.
pub enum Undone {
    /// All is undone.
    All,
    /// The rest takes another time slice.
    Some,
    /// This communication may not end now.
    Refused(*mut Communication),
}

/// Undoes a required slot: closes all communications through it, and disconnects the slots to which it was passed on.
///
/// # Safety
/// `w` is the home worker; `slot` is of a live instance.
unsafe fn undo(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: `w` is the home worker; `slot` is of a live instance; a client's slot is of a live instance.
    unsafe {
        close_all_through(w, slot);
        while !(*slot).clients.is_null() {
            let client = (*slot).clients;
            unlink(w, client);
            tell_disconnected(w, client);
        }
        unlink(w, slot);
    }
}

/// Frees the block of a dead instance.
///
/// # Safety
/// `w` is the home worker; `instance` is dead, and nothing leads to it any more.
#[inline]
pub unsafe fn free_dead(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `life::make` has made the block with this size.
    unsafe {
        let template = &*template_of(instance);
        for offered in template.offered.get() {
            // Made when the dead was used.
            let holder = (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
            if !holder.is_null() {
                communication::drop_buffered(w, holder, &*offered.interface);
                communication::free(w, holder);
            }
        }
        if template.required.length != 0 {
            free_tables(w, instance);
        }
        if (*instance).live & FAULT_KNOWN != 0 {
            faults::forget(w, instance);
        }
        (*heap_of(w)).free(instance.cast(), template.size as usize);
    }
}

/// Deletes a component that has nothing to wait for; the block is left, dead. `false`: it lives, though some of what it
/// owns may be gone.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and deleted by its holder.
pub unsafe fn delete_at_once(
    w: *mut Worker,
    instance: *mut Instance,
    siblings: Option<&mut Children>,
) -> bool {
    // SAFETY: `w` is the home worker; `instance` is live, and deleted by its holder.
    unsafe {
        if (*instance).processes() != 0
            || (*instance).is_leaving()
            || is_held_up(w, instance)
            || !needs_nothing_more(w, instance)
            || !unfinished_with_holder(instance).is_null()
            || !Owner::of_instance(instance).drop_in_slice(w)
        {
            return false;
        }
        close_holders_end(w, instance);
        dismantle(w, instance, siblings);
    }
    true
}
