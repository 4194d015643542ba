//! A component at run time: what it is, what holds it, what its processes run. Its submodules are its rare data
//! (`rare`), its slots, its monitor with the processes that await conditions, its native processes, and what it shares
//! with handlers (`kept`). How a component comes and goes is the `life` module's.
//!
//! # Why this is sound
//! An instance is live from `life::make` until `life::dismantle::free_dead`. Its template says what its block is made
//! of. Only the home worker comes here.

pub mod awaiting;
pub mod elements;
pub mod kept;
pub mod monitor;
pub mod natives;
mod rare;
pub mod slots;

use core::ptr::{self, null_mut};

use drystone_component::{Body, Template};

pub use self::rare::{
    Rare, deletion_in, forget_deletion, free_rare, rare_if_any, rare_of, rare_there, set_deletion,
};
use crate::layout::*;
use crate::worker::{ground, want_attention};

impl Instance {
    /// How many of its processes are alive.
    #[inline]
    pub fn processes(&self) -> u32 {
        self.live & COUNT
    }

    /// Whether it is being deleted.
    #[inline]
    pub fn is_leaving(&self) -> bool {
        self.live & DELETING != 0
    }

    /// Whether only its block is left, so that its container counts as empty.
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.live & DEAD != 0
    }

    /// Whether another worker has it. Asked at home only.
    #[inline]
    pub fn is_lent(&self) -> bool {
        self.holder & LENT != 0
    }

    /// The communication of the holder at which a process waits that deletes the instance without a record; null if
    /// there is none.
    #[inline]
    pub fn left_through(&self) -> *mut Communication {
        match self.holder {
            h if h & LEAVING != 0 => ptr::with_exposed_provenance_mut(h & !(LEAVING | LENT | 1)),
            _ => null_mut(),
        }
    }
}

/// What an instance is.
///
/// # Safety
/// Its block is still there; on the home worker's thread.
#[inline]
pub unsafe fn template_of(instance: *mut Instance) -> *const Template {
    // SAFETY: `kind` is the template, or leads to a structure that begins with it.
    unsafe {
        let kind = (*instance).kind;
        if kind.addr() & KIND_TAG == 0 { kind.cast() } else { *untagged(kind).cast::<*const Template>() }
    }
}

/// Bits of [`Instance::kind`] that say what it leads to.
const KIND_TAG: usize = KIND_RARE | KIND_DELETION;

/// An [`Instance::kind`] without the bits that say what it leads to.
fn untagged(kind: *const u8) -> *mut u8 {
    kind.map_addr(|address| address & !KIND_TAG).cast_mut()
}

/// The instance's slot at an offset.
///
/// # Safety
/// The block of `instance` is still there, and its template says that a `T` lies at `offset`.
pub unsafe fn slot_at<T>(instance: *mut Instance, offset: u32) -> *mut T {
    // SAFETY: the offset lies within the block.
    unsafe { instance.cast::<u8>().add(offset as usize).cast() }
}

/// Where an instance keeps its main process; null if its template has none.
///
/// # Safety
/// As for [`template_of`].
#[inline]
pub unsafe fn main_process(instance: *mut Instance) -> *mut *mut Process {
    // SAFETY: the template says where that is.
    unsafe {
        let template = template_of(instance);
        if (*template).main == Template::NO_BODY {
            null_mut()
        } else {
            slot_at(instance, (*template).main_process)
        }
    }
}

/// What holds a component.
pub enum Holder {
    /// Nothing: it is in a message, or the program's entry.
    Nobody,
    /// A component.
    Instance(*mut Instance),
    /// A process.
    Process(*mut Process),
}

/// What holds an instance.
///
/// # Safety
/// `instance` is live.
pub unsafe fn holder(instance: *mut Instance) -> Holder {
    // SAFETY: a process that waits at `left_through` is live as long as it does.
    unsafe {
        let held = (*instance).holder & !LENT;
        let leaving = (*instance).left_through();
        if !leaving.is_null() {
            let p = (*leaving).waiter;
            return if held & 1 != 0 { Holder::Process(p) } else { Holder::Instance((*p).instance) };
        }
        match held {
            0 => Holder::Nobody,
            h if h & 1 != 0 => Holder::Process(ptr::with_exposed_provenance_mut(h & !1)),
            h => Holder::Instance(ptr::with_exposed_provenance_mut(h)),
        }
    }
}

/// The component that holds an instance, or whose process does; null for the entry, and in a message.
///
/// # Safety
/// `instance` is live.
pub unsafe fn holder_of(instance: *mut Instance) -> *mut Instance {
    // SAFETY: a holder lives longer than the component that it holds.
    unsafe {
        match holder(instance) {
            Holder::Nobody => null_mut(),
            Holder::Instance(holder) => holder,
            Holder::Process(p) => (*p).instance,
        }
    }
}

/// A component and all that hold it stay at home from now on, because it has what other workers can't run: something
/// native, a name, or a component that came in a message, whose connections may lead anywhere.
///
/// # Safety
/// `w` is the home worker; `instance` is live.
pub unsafe fn stays_at_home(mut instance: *mut Instance) {
    // SAFETY: a holder lives longer than the component that it holds.
    unsafe {
        while !instance.is_null() && (*instance).live & STAYS == 0 {
            (*instance).live |= STAYS;
            instance = holder_of(instance);
        }
    }
}

/// Whether one component is another one, or holds it at any depth.
///
/// # Safety
/// Both are live; on the home worker's thread.
pub unsafe fn is_around(outer: *mut Instance, mut inner: *mut Instance) -> bool {
    // SAFETY: a holder lives longer than the component that it holds.
    unsafe {
        while !inner.is_null() {
            if inner == outer {
                return true;
            }
            inner = holder_of(inner);
        }
    }
    false
}

/// What a process runs.
///
/// # Safety
/// `p` is live, or was when it ended: its block is still there, and its instance's.
#[inline]
pub unsafe fn body_of(p: *mut Process) -> &'static Body {
    // SAFETY: a process's `body` is one of its template, which lives for ever.
    unsafe {
        let template: &'static Template = &*template_of((*p).instance);
        body(template, (*p).body as usize)
    }
}

/// Whether a body is this native code. It is told by a static, as a function itself need not have one address.
#[inline]
pub fn runs(body: &Body, native: &'static NativeBody) -> bool {
    ptr::eq(body.native, *native as *const u8)
}

/// A template's body.
///
/// # Safety
/// `template` has more than `index` bodies.
#[inline]
pub unsafe fn body(template: &'static Template, index: usize) -> &'static Body {
    // SAFETY: the caller promises that the table has this body.
    unsafe { &*template.bodies.first.add(index) }
}

/// Whether a process is a service: its block then is a [`Communication`].
///
/// # Safety
/// As for [`body_of`].
#[inline]
pub unsafe fn is_service(p: *mut Process) -> bool {
    // SAFETY: as for `body_of`.
    let body = unsafe { body_of(p) };
    !body.interface.is_null()
}

/// Has the scheduler delete a component without a holder. Doing it there, a chain of them costs no stack.
///
/// # Safety
/// `w` is the home worker; `instance` is in no container, and its block is still there.
pub unsafe fn delete_detached(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker; `instance` is in no container, and its block is still there.
    unsafe {
        (*instance).holder = 0;
        (*ground(w)).dropped.push_back(instance);
        want_attention(w);
    }
}

/// Keeps a component without a holder: the program doesn't end before it.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn keep_detached(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker.
    unsafe { (*ground(w)).kept.insert(instance) };
}

/// Deletes a component that was kept.
///
/// # Safety
/// As for [`delete_detached`].
pub unsafe fn delete_kept(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: as for `delete_detached`.
    unsafe {
        (*ground(w)).kept.remove(&instance);
        delete_detached(w, instance);
    }
}

/// Deletes the component in a message that won't be received; null: there is none.
///
/// # Safety
/// As for [`delete_detached`], unless `instance` is null.
pub unsafe fn drop_in_message(w: *mut Worker, instance: *mut Instance) {
    if !instance.is_null() {
        // SAFETY: a component in a message is in no container.
        unsafe { delete_detached(w, instance) };
    }
}
