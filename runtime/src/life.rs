//! The life of components: how they are made, moved and held (here), how they end in order (`deletion`, `ending`) and
//! by force (`isolation`), and which processes and components belong to them (`survey`).
//!
//! # Why this is sound
//! See the instance module: only `life` makes and frees instances. A dead one's block is there until its container is
//! filled anew or goes ([`vacate`], `dismantle::free_dead`).

pub mod children;
pub mod delete;
pub mod deletion;
pub mod dismantle;
pub mod ending;
pub mod faults;
pub mod isolation;
pub mod late;
pub mod leaving;
pub mod occasions;
pub mod owned;
pub mod record;
pub mod stopping;
pub mod survey;

use core::mem::replace;
use core::ptr::{self, null_mut};

use drystone_component::{AnyType, Interface, Offered, Side, Template};

use crate::communication::connection::{close_holders_end, init_offered, unfinished_with_holder};
use crate::communication::{Act, interface_of, violation};
use crate::failure::ds_fail;
use crate::home::is_home;
use crate::instance::{holder_of, main_process, slot_at, stays_at_home, template_of};
use crate::layout::*;
use crate::process;
use crate::visiting::{must_be_home, visits};
use crate::worker::heap_of;

/// A new instance that doesn't run yet; its holder is as [`Instance::holder`] says it, 0 for none. Null: no memory.
///
/// # Safety
/// `w` is the home worker; `template` lives as long as the program.
#[inline]
pub unsafe fn make(w: *mut Worker, template: &Template, holder: usize) -> *mut Instance {
    // SAFETY: the new block is as large as its template says, which also says where its slots lie.
    unsafe {
        let size = template.size as usize;
        let instance = (*heap_of(w)).allocate_zeroed_for(size, process::family(holder)) as *mut Instance;
        if instance.is_null() {
            return instance;
        }
        (*instance).holder = holder;
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
}

/// Starts the main process of a new instance, if its template has one; `false`: no memory.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and has not been started.
#[inline]
pub unsafe fn start(w: *mut Worker, instance: *mut Instance) -> bool {
    // SAFETY: `main` is a body of its template, and no service.
    unsafe {
        let template = template_of(instance);
        if (*template).main == Template::NO_BODY {
            return true;
        }
        let p = process::start(w, instance, (*template).main);
        *main_process(instance) = p;
        !p.is_null()
    }
}

/// `EXISTS`
///
/// # Safety
/// `instance` is null or its block is still there; on the home worker's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_exists(instance: *mut Instance) -> u32 {
    // SAFETY: `instance` is null or its block is still there; on the home worker's thread.
    unsafe { !is_empty(instance) as u32 }
}

/// An instance's size: tells a procedure that any template's code may call what lies within its instance.
///
/// # Safety
/// `instance` is that of a process; on the home worker's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_instance_size(instance: *mut Instance) -> i64 {
    // SAFETY: a process's instance is live.
    unsafe { i64::from((*template_of(instance)).size) }
}

/// # Safety
/// As for [`ds_fail`].
unsafe fn fail(w: *mut Worker, p: *mut Process, fault: Fault, location: u32) -> Status {
    // SAFETY: as for `ds_fail`.
    unsafe { ds_fail(w, p, fault as u32, location) };
    Status::Leave
}

/// Empties a container that counts as empty; `false`: it doesn't.
///
/// # Safety
/// `w` is the home worker; `container` is a container.
#[inline]
pub unsafe fn vacate(w: *mut Worker, container: *mut *mut Instance) -> bool {
    // SAFETY: a component in a container has a block, and only the container leads to a dead one.
    unsafe {
        let old = *container;
        if old.is_null() {
            return true;
        }
        if !(*old).is_dead() {
            return false;
        }
        *container = null_mut();
        dismantle::free_dead(w, old);
        true
    }
}

/// Whether a template has a body that only the home can run.
fn is_native(template: &Template) -> bool {
    template.bodies.get().iter().any(|body| !body.native.is_null())
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
    // SAFETY: `p` runs on `w`; nobody knows the new instance before it is in its container.
    unsafe {
        if !is_home(w) && is_native(template) && must_be_home(w, p) {
            return Status::Leave;
        }
        if !vacate(w, container) {
            return fail(w, p, Fault::FullContainer, location);
        }
        let instance = make(w, template, holder);
        if instance.is_null() {
            return fail(w, p, Fault::OutOfMemory, location);
        }
        if !start(w, instance) {
            (*heap_of(w)).free(instance.cast(), template.size as usize);
            return fail(w, p, Fault::OutOfMemory, location);
        }
        instance.expose_provenance();
        *container = instance;
    }
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
    // SAFETY: `p` runs on `w`, the home worker.
    unsafe {
        if visits(w, p, *from) {
            return Status::Leave;
        }
        if is_empty(*from) {
            return fail(w, p, Fault::EmptyContainer, location);
        }
        if !vacate(w, to) {
            return fail(w, p, Fault::FullContainer, location);
        }
        set_holder(w, *from, holder);
        *to = replace(&mut *from, null_mut());
        Status::Done
    }
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
    // SAFETY: `p` runs on `w`, the home worker; `container` is a container of its own or of its component; what is not
    // empty is live.
    unsafe {
        let instance = *container;
        if must_be_home(w, p) || visits(w, p, instance) {
            return null_mut();
        }
        if is_empty(instance) {
            fail(w, p, Fault::EmptyContainer, location);
            return null_mut();
        }
        stays_at_home((*p).instance);
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
}

/// Gives a component another holder. A process that waits for its deletion waits on.
///
/// # Safety
/// `w` is the home worker; `instance` is live.
unsafe fn set_holder(w: *mut Worker, instance: *mut Instance, holder: usize) {
    // SAFETY: `w` is the home worker; `instance` is live.
    unsafe {
        if (*instance).is_leaving() {
            leaving::record_of(w, instance);
        }
        (*instance).holder = holder;
        if (*instance).live & STAYS != 0 {
            stays_at_home(holder_of(instance));
        }
    }
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
    // SAFETY: `p` runs on `w`, the home worker.
    unsafe {
        if !vacate(w, container) {
            return fail(w, p, Fault::FullContainer, location);
        }
        if !instance.is_null() {
            set_holder(w, instance, holder);
            // It brings connections with it that may lead anywhere.
            stays_at_home(instance);
        }
        *container = instance;
    }
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
    // SAFETY: `p` runs on `w`, the home worker; `instance` is null or its block is still there.
    let Some(template) = (unsafe { template_in(w, p, instance, location) }) else { return 2 };
    // SAFETY: a program's interfaces are there as long as its components.
    let mut required = unsafe { template.declared() };
    let may_require = |i: *const Interface| any.requires.get().iter().any(|&r| ptr::eq(r, i));
    let offered = template.offered.get();
    let offers = any.offers.get().iter().all(|&i| offered.iter().any(|o| ptr::eq(o.interface, i)));
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
    // SAFETY: as for `ds_conforms`.
    let Some(template) = (unsafe { template_in(w, p, instance, location) }) else { return 2 };
    let required = template.required.get();
    any.requires.get().iter().all(|&i| required.iter().any(|r| ptr::eq(r.interface, i))) as u32
}

/// Whether a component is of a template: 0, 1, or 2 for leave.
///
/// # Safety
/// As for [`ds_conforms`]; `template` is one of the program's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_is(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    template: *const Template,
    location: u32,
) -> u32 {
    // SAFETY: as for `ds_conforms`; `template` is one of the program's.
    unsafe {
        let Some(found) = template_in(w, p, instance, location) else { return 2 };
        is_of(found, &*template) as u32
    }
}

/// What the component in a container is; `None`: the container is empty, and `p` has failed.
///
/// # Safety
/// As for [`ds_conforms`].
unsafe fn template_in(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    location: u32,
) -> Option<&'static Template> {
    // SAFETY: as for `ds_conforms`.
    unsafe {
        if is_empty(instance) {
            fail(w, p, Fault::EmptyContainer, location);
            return None;
        }
        Some(&*template_of(instance))
    }
}

/// Whether components of one template are of another, wherever they live: a proxy has a template of its own, declared
/// at the same place.
fn is_of(template: &Template, other: &Template) -> bool {
    ptr::eq(template, other) || (template.location == other.location && other.location != u32::MAX)
}
