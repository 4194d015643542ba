//! The last step of a component's end: its connections are undone, and its memory is given back.
//!
//! # Why this is sound
//! No process of the component is left, and nothing that it holds; who is connected to it is told before its block goes.
#![allow(unsafe_op_in_unsafe_fn)]

use drystone_component::{Offered, Template};

use super::children::Children;
use super::owned::{drop_owned, holds_no_component};
use crate::communication;
use crate::communication::connection::*;
use crate::instance::*;
use crate::layout::*;
use crate::worker::heap_of;

/// Whether a component without processes has no FINALLY, no sub-components, and may let go of its servers.
#[inline]
pub unsafe fn needs_nothing_more(instance: *mut Instance) -> bool {
    let template = &*template_of(instance);
    only_serves(template) || holds_nothing(instance, template)
}

unsafe fn holds_nothing(instance: *mut Instance, template: &Template) -> bool {
    if template.finally != Template::NO_BODY {
        return false;
    }
    holds_no_component(instance.cast(), template.owned.get()) && unfinished_of(instance).is_null()
}

/// Whether components of a template have nothing but services for their holders: no variables to see to, no connections,
/// no FINALLY.
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

/// Undoes all connections of a component without processes and sub-components, and frees all but its block.
pub unsafe fn dismantle(w: *mut Worker, instance: *mut Instance, siblings: Option<&mut Children>) {
    let template = &*template_of(instance);
    if !only_serves(template) {
        if let Some(siblings) = siblings {
            siblings.leave(instance);
        }
        forget_names(w, instance);
        required_slots(instance, |slot| undo(w, slot));
        inward_slots(instance, |slot| undo(w, slot));
        drop_owned(w, instance.cast(), template.owned.get());
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

/// A required slot goes: closes what goes through it, and those to whom it was passed on become unconnected.
unsafe fn undo(w: *mut Worker, slot: *mut RequiredSlot) {
    close_all_through(w, slot);
    while !(*slot).clients.is_null() {
        let client = (*slot).clients;
        unlink(w, client);
        tell_disconnected(w, client);
    }
    unlink(w, slot);
}

/// Frees the block of a dead instance.
#[inline]
pub unsafe fn free_dead(w: *mut Worker, instance: *mut Instance) {
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
    (*heap_of(w)).free(instance.cast(), template.size as usize);
}
