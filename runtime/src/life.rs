//! The life of components: how they are made, moved and held (here), how they end in good order (`deletion`, `ending`)
//! and by force (`isolation`), and who belongs to them (`survey`).
//!
//! # Why this is sound
//! See the instance module: what is here makes instances, and knows when nobody uses one any more.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod children;
pub mod delete;
pub mod deletion;
pub mod dismantle;
pub mod ending;
pub mod isolation;
pub mod late;
pub mod leaving;
pub mod owned;
pub mod record;
pub mod stopping;
pub mod survey;

use core::ptr::{self, null_mut};

use drystone_component::{AnyType, Interface, Offered, Side, Template};

use crate::communication::connection::{close_holders_end, init_offered, unfinished_with_holder};
use crate::communication::{Act, interface_of, violation};
use crate::failure::ds_fail;
use crate::instance::slots::find_offered;
use crate::instance::{main_process, slot_at, template_of};
use crate::layout::*;
use crate::process;
use crate::worker::heap_of;

/// A new instance that nobody holds yet and that doesn't run yet. Null: no memory.
#[inline]
pub unsafe fn make(w: *mut Worker, template: &Template) -> *mut Instance {
    let instance = (*heap_of(w)).allocate_zeroed(template.size as usize) as *mut Instance;
    if instance.is_null() {
        return instance;
    }
    (*instance).kind = (&raw const *template).cast();
    if template.main == Template::NO_BODY {
        (*instance).live = BEGUN;
    }
    for offered in template.offered.get() {
        if offered.connectable {
            init_offered(slot_at(instance, offered.offset), instance);
        }
        if offered.body == Offered::INWARD {
            (*slot_at::<RequiredSlot>(instance, offered.inward)).instance = instance;
        }
    }
    for required in template.required.get() {
        if required.slots == 0 {
            (*slot_at::<RequiredSlot>(instance, required.offset)).instance = instance;
        }
    }
    instance
}

/// Starts the main process of a new instance, if its template has one; `false`: no memory.
#[inline]
pub unsafe fn start(w: *mut Worker, instance: *mut Instance) -> bool {
    let template = template_of(instance);
    if (*template).main == Template::NO_BODY {
        return true;
    }
    let p = process::start(w, instance, (*template).main);
    *main_process(instance) = p;
    !p.is_null()
}

/// `EXISTS`
///
/// # Safety
/// `instance` is null or its block is still there; on the home worker's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_exists(instance: *mut Instance) -> u32 {
    !is_empty(instance) as u32
}

/// For procedures that any template's code may call: what lies within the instance they run in.
///
/// # Safety
/// `instance` is that of a process; on the home worker's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_instance_size(instance: *mut Instance) -> i64 {
    i64::from((*template_of(instance)).size)
}

unsafe fn fail(w: *mut Worker, p: *mut Process, fault: Fault, location: u32) -> Status {
    ds_fail(w, p, fault as u32, location);
    Status::Leave
}

/// Empties a container that counts as empty; `false`: it doesn't.
#[inline]
pub unsafe fn vacate(w: *mut Worker, container: *mut *mut Instance) -> bool {
    let old = *container;
    if old.is_null() {
        return true;
    }
    if (*old).live & DEAD == 0 {
        return false;
    }
    *container = null_mut();
    dismantle::free_dead(w, old);
    true
}

/// `NEW`
///
/// # Safety
/// `p` runs on `w`, the home worker; `container` is a container of `holder`, which is its component or, with bit 0
/// set, the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_new(
    w: *mut Worker,
    p: *mut Process,
    container: *mut *mut Instance,
    template: &Template,
    holder: usize,
    location: u32,
) -> Status {
    if !vacate(w, container) {
        return fail(w, p, Fault::FullContainer, location);
    }
    let instance = make(w, template);
    if instance.is_null() {
        return fail(w, p, Fault::OutOfMemory, location);
    }
    (*instance).holder = holder;
    if !start(w, instance) {
        (*heap_of(w)).free(instance.cast(), template.size as usize);
        return fail(w, p, Fault::OutOfMemory, location);
    }
    instance.expose_provenance();
    *container = instance;
    Status::Done
}

/// `MOVE`
///
/// # Safety
/// `p` runs on `w`, the home worker; both are containers of its own or of its component, `to` of `holder`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_move(
    w: *mut Worker,
    p: *mut Process,
    from: *mut *mut Instance,
    to: *mut *mut Instance,
    holder: usize,
    location: u32,
) -> Status {
    if is_empty(*from) {
        return fail(w, p, Fault::EmptyContainer, location);
    }
    let status = ds_arrive(w, p, *from, to, holder, location);
    if status == Status::Done {
        *from = null_mut();
    }
    status
}

/// Takes a component out of its container, to be sent.
///
/// # Safety
/// `p` runs on `w`, the home worker; `container` is a container of its own or of its component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_depart(
    w: *mut Worker,
    p: *mut Process,
    container: *mut *mut Instance,
    location: u32,
) -> *mut Instance {
    let instance = *container;
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, location);
        return null_mut();
    }
    let c = unfinished_with_holder(instance);
    if !c.is_null() {
        violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
        return null_mut();
    }
    close_holders_end(w, instance);
    set_holder(w, instance, 0);
    *container = null_mut();
    instance
}

/// Whoever waits for its deletion waits on, though it has another holder now.
unsafe fn set_holder(w: *mut Worker, instance: *mut Instance, holder: usize) {
    if (*instance).live & DELETING != 0 {
        leaving::record_of(w, instance);
    }
    (*instance).holder = holder;
}

/// Puts a received component into a container.
///
/// # Safety
/// `p` runs on `w`, the home worker; `instance` is null or comes from a message; `container` is a container of
/// `holder`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_arrive(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    container: *mut *mut Instance,
    holder: usize,
    location: u32,
) -> Status {
    if !vacate(w, container) {
        return fail(w, p, Fault::FullContainer, location);
    }
    if !instance.is_null() {
        set_holder(w, instance, holder);
    }
    *container = instance;
    Status::Done
}

/// Whether a component conforms to an `ANY` type: 0, 1, or 2 for leave.
///
/// # Safety
/// `p` runs on `w`, the home worker; `instance` is null or its block is still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_conforms(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    any: &AnyType,
    location: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, location);
        return 2;
    }
    let mut required = (*template_of(instance)).declared();
    let may_require = |i: *const Interface| any.requires.get().iter().any(|&r| ptr::eq(r, i));
    let offers = any.offers.get().iter().all(|&i| unsafe { !find_offered(instance, i).is_null() });
    (offers && (any.requires_anything || required.all(|(_, r)| may_require(r.interface)))) as u32
}

/// Whether a component requires all that an `ANY` type lists as required: 0, 1, or 2 for leave.
///
/// # Safety
/// As for [`ds_conforms`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_requires(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    any: &AnyType,
    location: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, location);
        return 2;
    }
    let required = (*template_of(instance)).required.get();
    any.requires.get().iter().all(|&i| required.iter().any(|r| ptr::eq(r.interface, i))) as u32
}

/// Whether a component is of a template: 0, 1, or 2 for leave.
///
/// # Safety
/// As for [`ds_conforms`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_is(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    template: *const Template,
    location: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, location);
        return 2;
    }
    is_of(&*template_of(instance), &*template) as u32
}

/// Whether components of one template are of another, wherever they live: a proxy has a template of its own, declared
/// at the same place.
fn is_of(template: &Template, other: &Template) -> bool {
    ptr::eq(template, other) || (template.location == other.location && other.location != u32::MAX)
}
