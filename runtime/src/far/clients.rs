//! Far clients of what is exported here: each is a component of its own, which nobody holds and which ends with its
//! communication.
//!
//! # Why this is sound
//! See the far module, and `cell` for the words.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::rc::Rc;

use drystone_component::{Interface, Side};

use super::Far;
use super::NO_LOCATION;
use super::cell::{Role, SLOT, own, take, template};
use super::pump::{Outcome, Pump};
use super::traffic::Traffic;
use crate::communication::connection::{Target, decode, ds_reach, is_open, link, resolve};
use crate::communication::may_close_as;
use crate::failure;
use crate::instance::{delete_detached, delete_kept, keep_detached, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::{self, ending, record};
use crate::platform::NativeBody;

/// A far client.
pub struct Client {
    /// Moves its messages.
    pub pump: Pump,
    /// It waits for a connection, as a component of this domain would.
    waits: bool,
}

/// Makes a client that is connected through `to`, and waits where that leads nowhere yet if it `waits`; `false`: no memory.
pub unsafe fn make(
    w: *mut Worker,
    interface: &'static Interface,
    far: Box<dyn Far>,
    to: *mut RequiredSlot,
    waits: bool,
    traffic: &Rc<Traffic>,
) -> bool {
    let instance = life::make(w, template(w, interface, Role::Client));
    if instance.is_null() {
        return false;
    }
    link(slot_at(instance, SLOT), to.expose_provenance() | 1);
    if !life::start(w, instance) {
        delete_detached(w, instance);
        return false;
    }
    keep_detached(w, instance);
    let pump = Pump::new(far, Side::Client, w, *main_process(instance), traffic);
    *own(instance) = Box::into_raw(Box::new(Client { pump, waits }));
    true
}

/// Whether the listener that a client is connected to is connected itself.
unsafe fn is_exported(target: usize) -> bool {
    matches!(decode(target), Target::PassedOn(listener) if (*listener).target != 0)
}

/// Whether what served through the slot that a client is connected to was ended by force: who comes later finds it closed, too.
unsafe fn is_cut(target: usize) -> bool {
    match decode(target) {
        Target::PassedOn(slot) => {
            let c = (*slot).communication;
            !c.is_null() && (*c).word.flags & GONE != 0
        }
        _ => false,
    }
}

/// Body of a client's main process.
pub static RUN: NativeBody = run;

unsafe extern "C" fn run(w: *mut Worker, p: *mut Process) {
    let instance = (*p).instance;
    let cell = own::<Client>(instance);
    if (*p).status == FAILED {
        return drop(take(cell));
    }
    let interface = &*(*template_of(instance)).required.get()[0].interface;
    let slot = slot_at::<RequiredSlot>(instance, SLOT);
    let server = resolve((*slot).target);
    // What is exported may not lead to a server yet.
    let has_begun = !(*slot).communication.is_null();
    let is_cut = !has_begun && is_cut((*slot).target);
    if !has_begun
        && !is_cut
        && server.is_none()
        && is_exported((*slot).target)
        && !(**cell).pump.is_far_gone()
    {
        (*p).status = PLATFORM;
        return;
    }
    // What waits for its last communications to end, to be deleted, begins no others.
    let is_refused =
        !is_open(server) || server.is_some_and(|(instance, _)| record::waits_for_services(instance));
    let is_refused = is_refused && (is_cut || !((**cell).waits && (*slot).target != 0));
    let outcome = if is_refused && !has_begun {
        (**cell).pump.near_is_gone()
    } else {
        let c = ds_reach(w, p, slot, interface, NO_LOCATION);
        if c.is_null() {
            return;
        }
        (**cell).pump.go_on(w, p, c, interface)
    };
    if outcome == Outcome::Waits {
        return;
    }
    let c = (*slot).communication;
    if !c.is_null() && !may_close_as(c, interface) {
        return failure::abandon(w, p);
    }
    drop(take(cell));
    ending::ds_finish(w, p, NO_LOCATION);
    delete_kept(w, instance);
}
