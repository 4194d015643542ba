//! Components that live in another domain (`NEW .. AT`): here is a proxy for each, which offers and requires what its
//! template says, at the same places, so that whoever holds it can't tell.
//!
//! Its main process stands for BEGIN and ACTIVITY, and its FINALLY deletes the component where it is; a domain that is
//! lost counts as if both had ended.
//!
//! # Why this is sound
//! See the far module, and `cell` for templates and words.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Required, Template};

use super::NO_LOCATION;
use super::cell::{self, Served, own, take};
use super::{Exported, Reach, Waker, listener};
use crate::communication::connection::link;
use crate::instance::slots::indexed_slot;
use crate::instance::{main_process, slot_at};
use crate::layout::*;
use crate::life::{self, ending};
use crate::worker::heap_of;

/// A component in another domain.
pub trait Domain: 'static {
    /// What to wake when [`Domain::state`] has changed: told first, and again when another process waits for it.
    fn attach(&mut self, waiter: Waker);

    /// What reaches one of the interfaces that it offers: the index in its template.
    fn offered(&mut self, index: usize) -> Box<dyn Reach>;

    /// The communications that it begins at one of the interfaces that it requires: the index in its template.
    fn required(&mut self, index: usize) -> Box<dyn Exported>;

    /// How far it is.
    fn state(&mut self) -> State;

    /// It shall be deleted: its services have ended.
    fn delete(&mut self);

    /// How it has come to an end before it was deleted, if it has.
    fn ended(&self) -> Option<String>;
}

/// How far a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its BEGIN or ACTIVITY runs.
    Active,
    /// Only its services run.
    Passive,
    /// It has been deleted, or its domain is lost.
    Gone,
}

/// Makes the proxy for a component in a domain. `None`: no memory.
///
/// # Safety
/// On the home worker's thread; `holder` is as for `ds_new`. `name` is for people.
pub unsafe fn proxy_of(
    w: *mut Worker,
    template: &'static Template,
    holder: usize,
    mut domain: Box<dyn Domain>,
    name: &str,
) -> Option<*mut Instance> {
    let instance = life::make(w, cell::remote(w, template));
    if instance.is_null() {
        return None;
    }
    (*instance).holder = holder;
    if !life::start(w, instance) {
        (*heap_of(w)).free(instance.cast(), cell::remote(w, template).size as usize);
        return None;
    }
    let waker = Waker::new(w, *main_process(instance));
    domain.attach(waker.clone());
    let joints = (0..template.offered.length).map(|index| domain.offered(index).into()).collect();
    let clients: alloc::vec::Vec<_> = (0..template.required.length).map(|i| domain.required(i)).collect();
    *own(instance) = Box::into_raw(Box::new(Served {
        joints,
        remote: Some(Remote { domain, waker }),
        behind: core::ptr::null_mut(),
        name: name.into(),
    }));
    for (required, clients) in template.required.get().iter().zip(clients) {
        listen(w, instance, required, clients, name)?;
    }
    instance.expose_provenance();
    Some(instance)
}

/// What a proxy has of its domain.
pub struct Remote {
    domain: Box<dyn Domain>,
    waker: Waker,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.waker.forget();
    }
}

/// The component's own clients are those who use what it requires.
unsafe fn listen(
    w: *mut Worker,
    instance: *mut Instance,
    required: &'static Required,
    clients: Box<dyn Exported>,
    name: &str,
) -> Option<()> {
    let first = match required.slots {
        0 => slot_at(instance, required.offset),
        _ => indexed_slot(w, instance, required, 0)?,
    };
    let slot = listener::listen_for(w, &*required.interface, clients, Some((instance, required)), name)?;
    link(slot, first.expose_provenance() | 1);
    Some(())
}

unsafe fn remote_of(p: *mut Process) -> *mut Remote {
    let served: *mut Served = *own((*p).instance);
    (*served).remote.as_mut().expect("it was made for a domain")
}

/// How the domain of a component has come to an end, if it has before that was deleted.
pub unsafe fn ended(instance: *mut Instance) -> Option<String> {
    let served: *mut Served = *own(instance);
    served.as_ref()?.remote.as_ref()?.domain.ended()
}

/// Body of the main process.
pub unsafe extern "C" fn main(w: *mut Worker, p: *mut Process) {
    if (*p).status == FAILED {
        return;
    }
    if (*(*p).instance).live & BEGUN == 0 {
        ending::ds_begun(w, p);
    }
    match (*remote_of(p)).domain.state() {
        State::Active => (*p).status = PLATFORM,
        State::Passive | State::Gone => {
            // FINALLY may get this process' block.
            (*remote_of(p)).waker.forget();
            ending::ds_finish(w, p, NO_LOCATION);
        }
    }
}

/// Body of FINALLY.
pub unsafe extern "C" fn finally(w: *mut Worker, p: *mut Process) {
    let cell = own::<Served>((*p).instance);
    if (*p).status == FAILED {
        return drop(take(cell));
    }
    let remote = remote_of(p);
    if !(*remote).waker.is_for(p) {
        (*remote).waker.forget();
        (*remote).waker = Waker::new(w, p);
        (*remote).domain.attach((*remote).waker.clone());
        (*remote).domain.delete();
    }
    if (*remote).domain.state() != State::Gone {
        (*p).status = PLATFORM;
        return;
    }
    drop(take(cell));
    ending::ds_finish(w, p, NO_LOCATION);
}
