//! What a component is at run time: its block and what is rare about it, who holds it, what its processes run, and
//! (in `monitor`) its lock and (in `awaiting`) who awaits what. How it comes and goes is the life module's.
//!
//! # Why this is sound
//! An instance is live from `life::make` until `life::free_dead`. Its layout is what its template says. Only the home
//! worker comes here.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod awaiting;
pub mod kept;
pub mod monitor;
pub mod natives;
pub mod slots;

use alloc::collections::BTreeSet;
use core::ffi::c_void;
use core::ptr::{self, null_mut};

use drystone_component::{Body, Template};

use self::awaiting::Awaiting;
use crate::layout::*;
use crate::queue::Queue;
use crate::worker::{ground, heap_of, want_attention};

/// What most instances never need.
#[repr(C)]
pub struct Rare {
    /// What the instance is: see [`Instance::kind`].
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
    /// How far its deletion is, as the life module knows; null if there is none.
    pub deletion: *mut c_void,
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
///
/// # Safety
/// Its block is still there; on the home worker's thread.
#[inline]
pub unsafe fn template_of(instance: *mut Instance) -> *const Template {
    let kind = (*instance).kind;
    if kind.addr() & KIND_TAG == 0 { kind.cast() } else { *untagged(kind).cast::<*const Template>() }
}

/// Bits of [`Instance::kind`] that say what it leads to.
const KIND_TAG: usize = KIND_RARE | KIND_DELETION;

/// Without the bits that say what it leads to.
unsafe fn untagged(kind: *const u8) -> *mut u8 {
    kind.map_addr(|address| address & !KIND_TAG).cast_mut()
}

/// The rare part; null if it has none.
#[inline]
pub unsafe fn rare_if_any(instance: *mut Instance) -> *mut Rare {
    let kind = (*instance).kind;
    if kind.addr() & KIND_RARE == 0 { null_mut() } else { untagged(kind).cast() }
}

/// The rare part, made on first need.
#[inline]
pub unsafe fn rare_of(w: *mut Worker, instance: *mut Instance) -> *mut Rare {
    let rare = rare_if_any(instance);
    if rare.is_null() { make_rare(w, instance) } else { rare }
}

#[cold]
unsafe fn make_rare(w: *mut Worker, instance: *mut Instance) -> *mut Rare {
    let rare = (*heap_of(w)).keep(Rare {
        template: template_of(instance),
        exclusive: Queue::EMPTY,
        shared: Queue::EMPTY,
        awaiting: Awaiting::new(),
        granted: null_mut(),
        connecting: Queue::EMPTY,
        unbegun: Queue::EMPTY,
        deletion: deletion_in(instance),
        orphans: Orphans::default(),
    });
    (*instance).kind = rare.cast_const().cast::<u8>().map_addr(|address| address | KIND_RARE);
    rare
}

/// Frees the rare part, and forgets the deletion.
#[inline]
pub unsafe fn free_rare(w: *mut Worker, instance: *mut Instance) {
    let kind = (*instance).kind;
    if kind.addr() & KIND_TAG != 0 {
        let rare = rare_if_any(instance);
        (*instance).kind = template_of(instance).cast();
        if !rare.is_null() {
            drop((*heap_of(w)).take_back(rare));
        }
    }
}

/// How far its deletion is, as the life module knows; null if there is none, or no more to say.
pub unsafe fn deletion_in(instance: *mut Instance) -> *mut c_void {
    let kind = (*instance).kind;
    match kind.addr() & KIND_TAG {
        0 => null_mut(),
        KIND_DELETION => untagged(kind).cast(),
        _ => (*rare_if_any(instance)).deletion,
    }
}

/// It is being deleted, and `deletion` says how far: that begins with the instance's template.
pub unsafe fn set_deletion(instance: *mut Instance, deletion: *mut c_void) {
    let rare = rare_if_any(instance);
    if rare.is_null() {
        (*instance).kind = deletion.cast_const().cast::<u8>().map_addr(|address| address | KIND_DELETION);
    } else {
        (*rare).deletion = deletion;
    }
}

/// It is not being deleted any more.
pub unsafe fn forget_deletion(instance: *mut Instance) {
    let rare = rare_if_any(instance);
    if rare.is_null() {
        (*instance).kind = template_of(instance).cast();
    } else {
        (*rare).deletion = null_mut();
    }
}

/// The instance's slot at an offset.
pub unsafe fn slot_at<T>(instance: *mut Instance, offset: u32) -> *mut T {
    instance.cast::<u8>().add(offset as usize).cast()
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
    let leaving = leaving(instance);
    if !leaving.is_null() {
        let p = (*leaving).waiter;
        return if (*instance).holder & 1 != 0 {
            Holder::Process(p)
        } else {
            Holder::Instance((*p).instance)
        };
    }
    match (*instance).holder {
        0 => Holder::Nobody,
        h if h & 1 != 0 => Holder::Process(ptr::with_exposed_provenance_mut(h & !1)),
        h => Holder::Instance(ptr::with_exposed_provenance_mut(h)),
    }
}

/// The communication at which somebody waits who deletes the instance without a record; null if nobody does.
#[inline]
pub unsafe fn leaving(instance: *mut Instance) -> *mut Communication {
    match (*instance).holder {
        h if h & LEAVING != 0 => ptr::with_exposed_provenance_mut(h & !(LEAVING | 1)),
        _ => null_mut(),
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

/// How many processes of an instance are alive.
#[inline]
pub unsafe fn live(instance: *mut Instance) -> u32 {
    (*instance).live & COUNT
}

/// What a process runs.
#[inline]
pub unsafe fn body_of(p: *mut Process) -> &'static Body {
    let template: &'static Template = &*template_of((*p).instance);
    body(template, (*p).body as usize)
}

/// Whether a body is this native code. It is told by a static, as a function itself need not have one address.
#[inline]
pub fn runs(body: &Body, native: &'static NativeBody) -> bool {
    ptr::eq(body.native, *native as *const u8)
}

/// A template's body.
#[inline]
pub unsafe fn body(template: &'static Template, index: usize) -> &'static Body {
    &*template.bodies.first.add(index)
}

/// Whether a process is a service: its block then is a [`Communication`].
#[inline]
pub unsafe fn is_service(p: *mut Process) -> bool {
    !body_of(p).interface.is_null()
}

/// A component that nobody holds is deleted as soon as the scheduler gets control, so that a chain of them costs no
/// stack.
pub unsafe fn delete_detached(w: *mut Worker, instance: *mut Instance) {
    (*instance).holder = 0;
    (*ground(w)).dropped.push(instance);
    want_attention(w);
}

/// A component stays that nobody holds: the program doesn't end before it.
pub unsafe fn keep_detached(w: *mut Worker, instance: *mut Instance) {
    (*ground(w)).kept.insert(instance);
}

/// One that stayed is deleted.
pub unsafe fn delete_kept(w: *mut Worker, instance: *mut Instance) {
    (*ground(w)).kept.remove(&instance);
    delete_detached(w, instance);
}

/// A component in a message that nobody will receive: it is deleted, and nobody waits for that.
pub unsafe fn drop_in_message(w: *mut Worker, instance: *mut Instance) {
    if !instance.is_null() {
        delete_detached(w, instance);
    }
}
