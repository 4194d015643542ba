//! Clients of what is exported here that come from elsewhere, and visitors: each is a component of its own, which
//! nobody holds and which ends with its communication.

use alloc::boxed::Box;
use alloc::rc::Rc;

use drystone_component::{Interface, Side};

use super::templates::{self, SLOT};
use crate::communication::connection::{Target, decode, ds_reach, is_open, link, resolve};
use crate::communication::moving::channel::{Channel, Party};
use crate::communication::moving::client::{Client, Comes};
use crate::communication::moving::pump::Pump;
use crate::communication::moving::visit::Visit;
use crate::communication::moving::{NO_LOCATION, Outcome};
use crate::failure;
use crate::far::standing::{own, take};
use crate::far::{Far, Traffic, Visitor};
use crate::home::{AtHome, waker};
use crate::instance::{delete_detached, delete_kept, keep_detached, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::{self, ending, record};

/// A client that has come.
pub enum Coming {
    /// From elsewhere.
    Far(Box<dyn Far>),
    /// To say and take its messages itself.
    Visiting(Box<dyn Visitor>),
}

impl Coming {
    /// At which slot it begins.
    pub fn slot(&self) -> usize {
        match self {
            Coming::Far(far) => far.slot(),
            Coming::Visiting(visitor) => visitor.slot(),
        }
    }
}

/// Makes a client that is connected through `to`, and waits where that leads nowhere yet if it `waits`; `false`: no
/// memory.
///
/// # Safety
/// At home; `to` is linked, and of this interface.
pub unsafe fn make(
    w: *mut Worker,
    interface: &'static Interface,
    coming: Coming,
    to: *mut RequiredSlot,
    waits: bool,
    traffic: &Rc<Traffic>,
) -> bool {
    // SAFETY: the new instance is of the template of clients, which has these slots and words.
    unsafe {
        let instance = life::make(w, templates::client(AtHome::new(w), interface, run), 0);
        if instance.is_null() {
            return false;
        }
        let slot = slot_at(instance, SLOT);
        link(slot, to.expose_provenance() | 1);
        if !life::start(w, instance) {
            delete_detached(w, instance);
            return false;
        }
        keep_detached(w, instance);
        let p = *main_process(instance);
        let waker = waker(w, p);
        let comes: Box<dyn Comes> = match coming {
            Coming::Far(far) => Box::new(Pump::new(far, Side::Client, waker, traffic)),
            Coming::Visiting(visitor) => {
                Box::new(Visit::new(visitor, interface, (w, p, slot), waker, traffic))
            }
        };
        *own(instance) = Box::into_raw(Box::new(Client { comes, waits }));
    }
    true
}

/// Whether the listener that a client is connected to is connected itself.
///
/// # Safety
/// The target is linked.
unsafe fn is_exported(target: usize) -> bool {
    // SAFETY: the listener is linked.
    matches!(decode(target), Target::PassedOn(listener) if unsafe { (*listener).target } != 0)
}

/// Whether what served through the slot that a client is connected to was ended by force: a client that comes later
/// finds it closed, too.
///
/// # Safety
/// The target is linked.
unsafe fn is_cut(target: usize) -> bool {
    match decode(target) {
        // SAFETY: the slot is linked, and its communication is null or live.
        Target::PassedOn(slot) => unsafe {
            let c = (*slot).communication;
            !c.is_null() && (*c).word.flags & GONE != 0
        },
        _ => false,
    }
}

/// Body of a client's main process.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn run(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process runs, in an instance of the template of clients; its word owns its client until that is
    // taken, and the process returns wherever it waits or has ended.
    unsafe {
        let instance = (*p).instance;
        let cell = own::<Client>(instance);
        if (*p).status == FAILED {
            return drop(take(cell));
        }
        let interface = &*(*template_of(instance)).required.get()[0].interface;
        let slot = slot_at::<RequiredSlot>(instance, SLOT);
        let Client { comes, waits } = &mut **cell;
        let server = resolve((*slot).target);
        // What is exported may not lead to a server yet.
        let has_begun = !(*slot).communication.is_null();
        let is_cut = !has_begun && is_cut((*slot).target);
        if !has_begun && !is_cut && server.is_none() && is_exported((*slot).target) && !comes.is_gone() {
            (*p).status = PLATFORM;
            return;
        }
        // What waits for its last communications to end, to be deleted, begins no others.
        let is_refused =
            !is_open(server) || server.is_some_and(|(instance, _)| record::waits_for_services(instance));
        let is_refused = is_refused && (is_cut || !(*waits && (*slot).target != 0));
        let outcome = if is_refused && !has_begun {
            comes.near_is_gone()
        } else {
            let c = ds_reach(w, p, slot, interface, NO_LOCATION);
            if c.is_null() {
                return;
            }
            comes.go_on(Party::new(Channel::new(w, c, interface), p, Side::Client))
        };
        if outcome == Outcome::Waits {
            return;
        }
        let c = (*slot).communication;
        if !c.is_null() && (outcome == Outcome::Lost || !(*c).word.may_close(interface)) {
            return failure::abandon(w, p);
        }
        drop(take(cell));
        ending::ds_finish(w, p, NO_LOCATION);
        delete_kept(w, instance);
    }
}
