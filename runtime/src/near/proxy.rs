//! Near clients of what is elsewhere: `CONNECT` to a name, and the services of the proxies that it makes.
//!
//! A proxy is held by nobody: it goes with the last of its clients, for its interface has the limit
//! [`BINDING`](drystone_component::Offered::BINDING).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr;

use drystone_component::{Interface, Side};

use super::templates::{self, Bodies, SLOT};
use crate::communication::connection::owner;
use crate::communication::moving::channel::{Channel, Party};
use crate::communication::moving::client::Comes;
use crate::communication::moving::pump::Pump;
use crate::communication::moving::{NO_LOCATION, Outcome, cell_offset};
use crate::far::Reach;
use crate::far::standing::{Served, own, take};
use crate::home::{AtHome, waker};
use crate::instance::{body_of, keep_detached, slot_at};
use crate::layout::*;
use crate::life::{self, ending};

/// Makes a proxy: the target that clients of the interface are to be connected to. `None`: no memory. It has to be
/// connected at once, or it stays for ever. `name` is for people.
pub fn proxy(at: AtHome, interface: &'static Interface, reach: Box<dyn Reach>, name: &str) -> Option<usize> {
    let w = at.worker();
    // SAFETY: the new instance is of the template of proxies, which has this slot and word.
    unsafe {
        let instance = life::make(w, templates::proxy(at, interface, Bodies { serve, finally }), 0);
        if instance.is_null() {
            return None;
        }
        keep_detached(w, instance);
        *own(instance) = Box::into_raw(Box::new(Served {
            joints: Vec::from([reach.into()]),
            remote: None,
            behind: ptr::null_mut(),
            name: name.into(),
        }));
        Some(slot_at::<OfferedSlot>(instance, SLOT).expose_provenance())
    }
}

/// Body of a proxy's service processes.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
pub unsafe extern "C" fn serve(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs, as a service of a proxy: its cell is null or owns its pump, and its instance's word
    // owns what the proxy has. It returns wherever it waits or has ended.
    unsafe {
        let interface = &*body_of(p).interface;
        let cell = p.byte_add(cell_offset(interface)).cast::<*mut Pump>();
        if (*p).status == FAILED {
            return drop(take(cell));
        }
        if (*cell).is_null() {
            let served: *mut Served = *own((*p).instance);
            let joint = &mut (&mut (*served).joints)[(*p).body as usize];
            let far = joint.reach.begin();
            *cell = Box::into_raw(Box::new(Pump::new(far, Side::Server, waker(w, p), &joint.traffic)));
        }
        match (**cell).go_on(Party::new(Channel::new(w, p.cast(), interface), p, Side::Server)) {
            Outcome::Waits => {}
            Outcome::Ended => {
                drop(take(cell));
                ending::ds_finish(w, p, NO_LOCATION);
            }
            Outcome::Lost | Outcome::Abandoned => {
                drop(take(cell));
                ending::lost(w, p);
            }
        }
    }
}

/// Body of a proxy's FINALLY.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn finally(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs in a proxy; the proxy's word owns its data.
    unsafe {
        drop(take(own::<Served>((*p).instance)));
        if (*p).status != FAILED {
            ending::ds_finish(w, p, NO_LOCATION);
        }
    }
}

/// Says what is connected in the place of a proxy's clients: it goes no earlier than the proxy's own way to it.
///
/// # Safety
/// At home; the target is one that [`proxy`] has given, and alive.
pub unsafe fn stands_before(target: usize, behind: *mut RequiredSlot) {
    let slot = ptr::with_exposed_provenance_mut::<OfferedSlot>(target);
    // SAFETY: the slot's owner is a proxy; the proxy's word owns its data.
    unsafe {
        let served: *mut Served = *own(owner(slot));
        (*served).behind = behind;
    }
}
