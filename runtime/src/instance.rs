//! Component instances: how they are made, moved and held. How they end is the deletion module's.
//!
//! # Why this is sound
//! An instance is live from [`make`] until it is freed by the deletion or fault module, or, once dead, by the next use
//! of its container. Its layout is what its template says. Only the home worker comes here.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use core::ptr::{self, null_mut};

use drystone_component::{AnyType, Interface, Offered, Template};

use crate::communication::may_close;
use crate::connection::{close_leaf, find_offered, init_offered, is_same, slot_at};
use crate::deletion::{self, Deletion};
use crate::fault::ds_fail;
use crate::heap::heap_of;
use crate::layout::*;
use crate::monitor::Awaiting;
use crate::process::{self, Queue};

/// [`Instance::live`]: how many processes are alive.
pub const COUNT: u32 = (1 << 28) - 1;
/// [`Instance::live`]: BEGIN has ended: services may answer.
pub const BEGUN: u32 = 1 << 28;
/// [`Instance::live`]: it is being deleted; [`Rare::deletion`] says how far.
pub const DELETING: u32 = 1 << 29;
/// [`Instance::live`]: no service starts any more.
pub const CLOSED: u32 = 1 << 30;
/// [`Instance::live`]: only the block is left, for its container counts as empty.
pub const DEAD: u32 = 1 << 31;

/// What most instances never need.
pub struct Rare {
    /// What the instance is.
    template: *const Template,
    /// Processes that wait for the lock alone.
    pub exclusive: Queue,
    /// Processes that wait for the lock with others.
    pub shared: Queue,
    /// Processes that await a condition.
    pub awaiting: Awaiting,
    /// One that has awaited its condition and wants the lock alone: it gets it when those who share it are gone.
    pub granted: *mut Process,
    /// Processes that wait until something about the component's connections changes.
    pub connecting: Queue,
    /// Services that wait for the end of BEGIN.
    pub unbegun: Queue,
    /// How far its deletion is; null if there is none.
    pub deletion: *mut Deletion,
    /// Communications whose client has let go while their service runs on.
    pub orphans: Orphans,
}

/// Addresses of communications. One, the usual number, needs no memory.
#[derive(Default)]
pub struct Orphans {
    /// 0 if there is none.
    one: usize,
    others: BTreeSet<usize>,
}

impl Orphans {
    /// Adds one that is not there yet.
    pub fn insert(&mut self, communication: usize) {
        if self.one == 0 {
            self.one = communication;
        } else {
            self.others.insert(communication);
        }
    }

    /// Takes one out, if it is there.
    pub fn remove(&mut self, communication: usize) {
        if self.one == communication {
            self.one = 0;
        } else {
            self.others.remove(&communication);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let one = (self.one != 0).then_some(self.one);
        one.into_iter().chain(self.others.iter().copied())
    }
}

/// What an instance is.
#[inline]
pub unsafe fn template_of(instance: *mut Instance) -> *const Template {
    let rare = rare_if_any(instance);
    if rare.is_null() { (*instance).kind.cast() } else { (*rare).template }
}

/// The rare part; null if it has none.
#[inline]
pub unsafe fn rare_if_any(instance: *mut Instance) -> *mut Rare {
    let kind = (*instance).kind;
    if kind.addr() & 1 == 0 { null_mut() } else { kind.map_addr(|address| address & !1).cast_mut().cast() }
}

/// The rare part, made on first need.
#[inline]
pub unsafe fn rare_of(instance: *mut Instance) -> *mut Rare {
    let rare = rare_if_any(instance);
    if rare.is_null() { make_rare(instance) } else { rare }
}

#[cold]
unsafe fn make_rare(instance: *mut Instance) -> *mut Rare {
    let rare = Box::into_raw(Box::new(Rare {
        template: (*instance).kind.cast(),
        exclusive: Queue::EMPTY,
        shared: Queue::EMPTY,
        awaiting: Awaiting::new(),
        granted: null_mut(),
        connecting: Queue::EMPTY,
        unbegun: Queue::EMPTY,
        deletion: null_mut(),
        orphans: Orphans::default(),
    }));
    (*instance).kind = rare.cast_const().cast::<u8>().map_addr(|address| address | 1);
    rare
}

/// Frees the rare part.
pub unsafe fn free_rare(instance: *mut Instance) {
    let rare = rare_if_any(instance);
    if !rare.is_null() {
        (*instance).kind = (*rare).template.cast();
        drop(Box::from_raw(rare));
    }
}

/// A new instance that nobody holds yet and that doesn't run yet. Null: no memory.
#[inline]
pub unsafe fn make(w: *mut Worker, template: &Template) -> *mut Instance {
    let instance = heap_of(w).allocate_zeroed(template.size as usize) as *mut Instance;
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

/// Where an instance keeps its main process; null if its template has none.
#[inline]
pub unsafe fn main_process(instance: *mut Instance) -> *mut *mut Process {
    let template = template_of(instance);
    if (*template).main == Template::NO_BODY {
        null_mut()
    } else {
        slot_at(instance, (*template).main_process)
    }
}

/// A holder as its pointer.
pub enum Holder {
    /// Nobody: it is in a message, or the program's entry.
    Nobody,
    /// A component.
    Instance(*mut Instance),
    /// A process.
    Process(*mut Process),
}

/// Who holds an instance.
pub unsafe fn holder(instance: *mut Instance) -> Holder {
    match (*instance).holder {
        0 => Holder::Nobody,
        h if h & 1 != 0 => Holder::Process(ptr::with_exposed_provenance_mut(h & !1)),
        h => Holder::Instance(ptr::with_exposed_provenance_mut(h)),
    }
}

/// The component that holds an instance, or whose process does; null for the entry, and in a message.
pub unsafe fn holder_of(instance: *mut Instance) -> *mut Instance {
    match holder(instance) {
        Holder::Nobody => null_mut(),
        Holder::Instance(holder) => holder,
        Holder::Process(p) => (*p).instance,
    }
}

/// Whether a container counts as empty.
#[inline]
pub unsafe fn is_empty(instance: *mut Instance) -> bool {
    instance.is_null() || (*instance).live & DEAD != 0
}

/// `EXISTS`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_exists(instance: *mut Instance) -> u32 {
    !is_empty(instance) as u32
}

unsafe fn fail(w: *mut Worker, p: *mut Process, fault: Fault, place: u32) -> Status {
    ds_fail(w, p, fault as u32, place);
    Status::Leave
}

/// Empties a container that counts as empty; `false`: it doesn't.
#[inline]
unsafe fn vacate(w: *mut Worker, container: *mut *mut Instance) -> bool {
    let old = *container;
    if old.is_null() {
        return true;
    }
    if (*old).live & DEAD == 0 {
        return false;
    }
    *container = null_mut();
    deletion::free_dead(w, old);
    true
}

/// `NEW`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_new(
    w: *mut Worker,
    p: *mut Process,
    container: *mut *mut Instance,
    template: &Template,
    holder: usize,
    place: u32,
) -> Status {
    if !vacate(w, container) {
        return fail(w, p, Fault::FullContainer, place);
    }
    let instance = make(w, template);
    if instance.is_null() {
        return fail(w, p, Fault::OutOfMemory, place);
    }
    (*instance).holder = holder;
    if !start(w, instance) {
        heap_of(w).free(instance.cast(), template.size as usize);
        return fail(w, p, Fault::OutOfMemory, place);
    }
    instance.expose_provenance();
    *container = instance;
    Status::Done
}

/// `MOVE`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_move(
    w: *mut Worker,
    p: *mut Process,
    from: *mut *mut Instance,
    to: *mut *mut Instance,
    holder: usize,
    place: u32,
) -> Status {
    if is_empty(*from) {
        return fail(w, p, Fault::EmptyContainer, place);
    }
    let status = ds_arrive(w, p, *from, to, holder, place);
    if status == Status::Done {
        *from = null_mut();
    }
    status
}

/// Takes a component out of its container, to be sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_depart(
    w: *mut Worker,
    p: *mut Process,
    container: *mut *mut Instance,
    place: u32,
) -> *mut Instance {
    let instance = *container;
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, place);
        return null_mut();
    }
    if !close_holders_end(w, instance) {
        fail(w, p, Fault::ProtocolViolation, place);
        return null_mut();
    }
    (*instance).holder = 0;
    *container = null_mut();
    instance
}

/// Closes the holder's own communications with a component, or none if the protocol of one may not end now.
pub unsafe fn close_holders_end(w: *mut Worker, instance: *mut Instance) -> bool {
    let offered = (*template_of(instance)).offered.get();
    let cells =
        || offered.iter().map(|o| unsafe { &raw mut (*slot_at::<OfferedSlot>(instance, o.offset)).holder });
    if cells().any(|cell| unsafe { !(*cell).is_null() && !may_close(*cell) }) {
        return false;
    }
    cells().for_each(|cell| unsafe { close_leaf(w, cell) });
    true
}

/// Puts a received component into a container.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_arrive(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    container: *mut *mut Instance,
    holder: usize,
    place: u32,
) -> Status {
    if !vacate(w, container) {
        return fail(w, p, Fault::FullContainer, place);
    }
    if !instance.is_null() {
        (*instance).holder = holder;
    }
    *container = instance;
    Status::Done
}

/// Whether a component conforms to an `ANY` type: 0, 1, or 2 for leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_conforms(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    any: &AnyType,
    place: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, place);
        return 2;
    }
    let required = (*template_of(instance)).required.get();
    let may_require = |i: *const Interface| any.requires.get().iter().any(|&r| unsafe { is_same(r, i) });
    let offers = any.offers.get().iter().all(|&i| unsafe { !find_offered(instance, i).is_null() });
    (offers && (any.requires_anything || required.iter().all(|r| may_require(r.interface)))) as u32
}

/// Whether a component requires all that an `ANY` type lists as required: 0, 1, or 2 for leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_requires(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    any: &AnyType,
    place: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, place);
        return 2;
    }
    let required = (*template_of(instance)).required.get();
    any.requires.get().iter().all(|&i| required.iter().any(|r| unsafe { is_same(r.interface, i) })) as u32
}

/// Whether a component is of a template: 0, 1, or 2 for leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_is(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    template: *const Template,
    place: u32,
) -> u32 {
    if is_empty(instance) {
        fail(w, p, Fault::EmptyContainer, place);
        return 2;
    }
    ptr::eq(template_of(instance), template) as u32
}

/// A component in a message that nobody will receive: it is deleted, and nobody waits for that.
pub unsafe fn drop_in_message(w: *mut Worker, instance: *mut Instance) {
    if !instance.is_null() {
        deletion::delete_detached(w, instance);
    }
}
