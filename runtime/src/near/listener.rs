//! `EXPORT`: a listener is connected to what is exported, and makes a client for each far one that comes. It withdraws
//! the name when there is nothing behind it any more, and ends when no client is there and none can come.

use alloc::boxed::Box;
use alloc::rc::Rc;

use drystone_component::{Interface, Required};

use super::clients::{self, Coming};
use super::templates::{self, SLOT};
use crate::communication::connection::{tell_main, unlink};
use crate::communication::moving::NO_LOCATION;
use crate::far::standing::{Listener, own, take};
use crate::far::{Exported, SLOTS};
use crate::home::{AtHome, home, waker};
use crate::instance::slots::indexed_slot;
use crate::instance::{delete_detached, delete_kept, keep_detached, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::{self, ending};

/// Makes a listener: the slot that is to be connected to what its clients want. `None`: no memory. It has to be
/// connected at once, or it ends. `name` is for people.
pub fn listen(
    at: AtHome,
    interface: &'static Interface,
    exported: Box<dyn Exported>,
    name: &str,
) -> Option<*mut RequiredSlot> {
    // SAFETY: without a component there is nothing to promise.
    unsafe { listen_for(at, interface, exported, None, name) }
}

/// The same for a component's own clients.
///
/// # Safety
/// The component requires this, and is there as long as the listener has clients.
pub unsafe fn listen_for(
    at: AtHome,
    interface: &'static Interface,
    mut exported: Box<dyn Exported>,
    required: Option<(*mut Instance, &'static Required)>,
    name: &str,
) -> Option<*mut RequiredSlot> {
    let w = at.worker();
    // SAFETY: the new instance is of the template of listeners, which has this slot, main process and word.
    unsafe {
        let instance = life::make(w, templates::listener(at, interface, run), 0);
        if instance.is_null() {
            return None;
        }
        if !life::start(w, instance) {
            delete_detached(w, instance);
            return None;
        }
        keep_detached(w, instance);
        let waker = waker(w, *main_process(instance));
        exported.attach(waker.clone());
        *own(instance) = Box::into_raw(Box::new(Listener {
            exported,
            required,
            waker,
            name: name.into(),
            traffic: Rc::default(),
        }));
        Some(slot_at(instance, SLOT))
    }
}

/// Body of a listener's main process.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn run(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs, in an instance of the template of listeners: its slot is linked, and its word owns the
    // listener until that is taken.
    unsafe {
        let instance = (*p).instance;
        let cell = own::<Listener>(instance);
        if (*p).status == FAILED {
            return drop(take(cell));
        }
        let interface = &*(*template_of(instance)).required.get()[0].interface;
        let slot = slot_at::<RequiredSlot>(instance, SLOT);
        let is_connected = (*slot).target != 0;
        if !is_connected {
            tell_clients(w, slot);
        }
        // It may be going to be connected by a name of this program's own, which nothing has yet: far clients wait.
        if is_connected || (*home(w)).names.awaited(slot).is_some() {
            while is_connected && let Some(coming) = next(&mut *(**cell).exported) {
                // A client that can't be connected is lost, and learns that by its half being dropped.
                if let Some(to) = connection_for(w, (**cell).required, coming.slot(), slot) {
                    let waits = (**cell).required.is_some();
                    _ = clients::make(w, interface, coming, to, waits, &(**cell).traffic);
                }
            }
            if !((**cell).exported.is_over() && (*slot).clients.is_null()) {
                (*p).status = PLATFORM;
                return;
            }
            unlink(w, slot);
        }
        drop(take(cell));
        ending::ds_finish(w, p, NO_LOCATION);
        delete_kept(w, instance);
    }
}

/// Tells clients whose communications have not begun that there is nothing behind their listener.
///
/// # Safety
/// At home; the slot is linked.
unsafe fn tell_clients(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: the clients are linked, and to be told changes no links.
    unsafe {
        let mut client = (*slot).clients;
        while !client.is_null() {
            let next = (*client).next;
            tell_main(w, (*client).instance);
            client = next;
        }
    }
}

/// The client that has come next.
fn next(exported: &mut dyn Exported) -> Option<Coming> {
    let visitor = exported.visitor().map(Coming::Visiting);
    visitor.or_else(|| exported.accept().map(Coming::Far))
}

/// What a far client is connected through. `None`: there is no such slot, or no memory for it.
///
/// # Safety
/// At home; the component is there, and requires this.
unsafe fn connection_for(
    w: *mut Worker,
    required: Option<(*mut Instance, &'static Required)>,
    k: usize,
    own: *mut RequiredSlot,
) -> Option<*mut RequiredSlot> {
    match required {
        Some((instance, required)) if required.slots != 0 => {
            let slots = 1..=required.slots.min(SLOTS) as usize;
            // SAFETY: the component is there.
            slots.contains(&k).then(|| unsafe { indexed_slot(w, instance, required, k - 1) })?
        }
        _ => Some(own),
    }
}
