//! What most instances never need: queues of processes that wait, and how far a deletion is. An instance gets it on
//! first need; until then [`Instance::kind`] is its template alone.
//!
//! # Why this is sound
//! `kind` leads to a [`Rare`] exactly if [`KIND_RARE`] is set, and then nothing else does: [`free_rare`], which takes
//! it out, is the only one to free it.

use alloc::collections::BTreeSet;
use core::ffi::c_void;
use core::ptr::null_mut;

use drystone_component::Template;

use super::awaiting::Awaiting;
use super::{KIND_TAG, template_of, untagged};
use crate::layout::*;
use crate::queue::Queue;
use crate::worker::heap_of;

/// What most instances never need.
#[repr(C)]
pub struct Rare {
    /// What the instance is: see [`Instance::kind`].
    template: *const Template,
    /// Processes that wait to have the lock alone.
    pub exclusive: Queue,
    /// Processes that wait to share the lock.
    pub shared: Queue,
    /// Processes that await a condition.
    pub awaiting: Awaiting,
    /// What conditions read has changed since they were tested last, though nobody has released the lock.
    pub changed: bool,
    /// A process whose condition holds and that wants the lock alone: it gets it from the last one that shares it.
    pub granted: *mut Process,
    /// Processes that wait until something about the component's connections changes.
    pub connecting: Queue,
    /// Services that wait for the end of BEGIN.
    pub unbegun: Queue,
    /// The record of its deletion, as the life module knows; null if there is none.
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

/// The rare part; null if the instance has none.
///
/// # Safety
/// The block of `instance` is still there; on the home worker's thread.
#[inline]
pub unsafe fn rare_if_any(instance: *mut Instance) -> *mut Rare {
    // SAFETY: the block of `instance` is still there; on the home worker's thread.
    let kind = unsafe { (*instance).kind };
    if kind.addr() & KIND_RARE == 0 { null_mut() } else { untagged(kind).cast() }
}

/// The rare part, where it is known that there is one.
///
/// # Safety
/// As for [`rare_if_any`], and the instance has one.
#[inline]
pub unsafe fn rare_there(instance: *mut Instance) -> *mut Rare {
    // SAFETY: the block of `instance` is still there; on the home worker's thread.
    let kind = unsafe { (*instance).kind };
    debug_assert!(kind.addr() & KIND_RARE != 0, "it has a rare part");
    untagged(kind).cast()
}

/// The rare part, made on first need.
///
/// # Safety
/// `w` is the home worker, and `instance` is live.
#[inline]
pub unsafe fn rare_of(w: *mut Worker, instance: *mut Instance) -> *mut Rare {
    // SAFETY: `w` is the home worker, and `instance` is live.
    unsafe {
        let rare = rare_if_any(instance);
        if rare.is_null() { make_rare(w, instance) } else { rare }
    }
}

/// # Safety
/// As for [`rare_of`], and `instance` has no rare part.
#[cold]
unsafe fn make_rare(w: *mut Worker, instance: *mut Instance) -> *mut Rare {
    // SAFETY: as for `rare_of`, and `instance` has no rare part.
    unsafe {
        let rare = (*heap_of(w)).keep(Rare {
            template: template_of(instance),
            exclusive: Queue::EMPTY,
            shared: Queue::EMPTY,
            awaiting: Awaiting::new(),
            changed: false,
            granted: null_mut(),
            connecting: Queue::EMPTY,
            unbegun: Queue::EMPTY,
            deletion: deletion_in(instance),
            orphans: Orphans::default(),
        });
        (*instance).kind = tagged(rare, KIND_RARE);
        rare
    }
}

/// What begins with an instance's template, as its [`Instance::kind`].
fn tagged<T>(what: *mut T, tag: usize) -> *const u8 {
    what.cast_const().cast::<u8>().map_addr(|address| address | tag)
}

/// Frees the rare part, and forgets the deletion.
///
/// # Safety
/// As for [`rare_of`]; nothing leads to the rare part but the instance.
#[inline]
pub unsafe fn free_rare(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `kind` leads to the block that `make_rare` made.
    unsafe {
        let kind = (*instance).kind;
        if kind.addr() & KIND_TAG != 0 {
            let rare = rare_if_any(instance);
            (*instance).kind = template_of(instance).cast();
            if !rare.is_null() {
                drop((*heap_of(w)).take_back(rare));
            }
        }
    }
}

/// The record of an instance's deletion, as the life module knows; null if there is none.
///
/// # Safety
/// As for [`rare_if_any`].
pub unsafe fn deletion_in(instance: *mut Instance) -> *mut c_void {
    // SAFETY: the tag of `kind` tells to what it leads.
    unsafe {
        let kind = (*instance).kind;
        match kind.addr() & KIND_TAG {
            0 => null_mut(),
            KIND_DELETION => untagged(kind).cast(),
            _ => (*rare_there(instance)).deletion,
        }
    }
}

/// Notes the record of an instance's deletion.
///
/// # Safety
/// As for [`rare_if_any`]; `deletion` begins with the instance's template, and lives until it is forgotten here.
pub unsafe fn set_deletion(instance: *mut Instance, deletion: *mut c_void) {
    // SAFETY: as for `rare_if_any`.
    unsafe {
        let rare = rare_if_any(instance);
        if rare.is_null() {
            (*instance).kind = tagged(deletion, KIND_DELETION);
        } else {
            (*rare).deletion = deletion;
        }
    }
}

/// Forgets the record of an instance's deletion.
///
/// # Safety
/// As for [`rare_if_any`]; the record is still there.
pub unsafe fn forget_deletion(instance: *mut Instance) {
    // SAFETY: as for `rare_if_any`; the record is still there.
    unsafe {
        let rare = rare_if_any(instance);
        if rare.is_null() {
            (*instance).kind = template_of(instance).cast();
        } else {
            (*rare).deletion = null_mut();
        }
    }
}
