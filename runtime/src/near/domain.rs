//! Components that live in another domain (`NEW .. AT`): here is a proxy for each, which offers and requires what its
//! template says, at the same places, so that its holder can't tell.
//!
//! Its main process stands for BEGIN and ACTIVITY, and its FINALLY deletes the component where it is; a domain that is
//! lost counts as if both had ended.

use alloc::boxed::Box;
use alloc::vec::Vec;

use drystone_component::{Required, Template};

use super::templates::{self, Bodies};
use super::{listener, proxy};
use crate::communication::connection::link;
use crate::communication::moving::NO_LOCATION;
use crate::far::standing::{Remote, Served, own, take};
use crate::far::{Domain, Exported, State};
use crate::home::{AtHome, waker};
use crate::instance::slots::indexed_slot;
use crate::instance::{main_process, slot_at, stays_at_home};
use crate::layout::*;
use crate::life::{self, ending};
use crate::worker::heap_of;

/// Makes the proxy for a component in a domain. `None`: no memory.
///
/// # Safety
/// At home; `holder` is as for `ds_new`. `name` is for people.
pub unsafe fn proxy_of(
    w: *mut Worker,
    template: &'static Template,
    holder: usize,
    mut domain: Box<dyn Domain>,
    name: &str,
) -> Option<*mut Instance> {
    // SAFETY: the new instance is of the template of proxies for this one, which has the word.
    unsafe {
        let own_template =
            templates::remote(AtHome::new(w), template, main, Bodies { serve: proxy::serve, finally });
        let instance = life::make(w, own_template, holder);
        if instance.is_null() {
            return None;
        }
        stays_at_home(instance);
        if !life::start(w, instance) {
            (*heap_of(w)).free(instance.cast(), own_template.size as usize);
            return None;
        }
        let waker = waker(w, *main_process(instance));
        domain.attach(waker.clone());
        let joints = (0..template.offered.length).map(|index| domain.offered(index).into()).collect();
        let clients: Vec<_> = (0..template.required.length).map(|i| domain.required(i)).collect();
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
}

/// Makes a listener for the clients that the component itself is, at what it requires. `None`: no memory.
///
/// # Safety
/// At home; the instance is the component's proxy.
unsafe fn listen(
    w: *mut Worker,
    instance: *mut Instance,
    required: &'static Required,
    clients: Box<dyn Exported>,
    name: &str,
) -> Option<()> {
    // SAFETY: the proxy has the slots that the component has, and passes them on to its listener.
    unsafe {
        let first = match required.slots {
            0 => slot_at(instance, required.offset),
            _ => indexed_slot(w, instance, required, 0)?,
        };
        let (at, required_of) = (AtHome::new(w), Some((instance, required)));
        let slot = listener::listen_for(at, &*required.interface, clients, required_of, name)?;
        link(slot, first.expose_provenance() | 1);
    }
    Some(())
}

/// What a process of a proxy knows of its domain.
///
/// # Safety
/// The process is alive, and of a proxy that was made for a domain; its FINALLY has not ended.
unsafe fn remote_of(p: *mut Process) -> *mut Remote {
    // SAFETY: until FINALLY takes it, the instance's word owns the proxy's data.
    unsafe {
        let served: *mut Served = *own((*p).instance);
        (*served).remote.as_mut().expect("it was made for a domain")
    }
}

/// Body of the main process.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn main(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs, in a proxy for a domain.
    unsafe {
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
}

/// Body of FINALLY.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn finally(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs, in a proxy for a domain; nothing else of that runs any more.
    unsafe {
        let cell = own::<Served>((*p).instance);
        if (*p).status == FAILED {
            return drop(take(cell));
        }
        let remote = remote_of(p);
        if !(*remote).waker.is_for(p) {
            (*remote).waker.forget();
            (*remote).waker = waker(w, p);
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
}
