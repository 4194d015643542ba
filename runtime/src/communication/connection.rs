//! Connections: which required interface is served by which offered one, through any number of relays.
//!
//! # Why this is sound
//! Slots are parts of live instances, which undo all their connections before they are freed (the deletion and
//! fault modules). The links between slots lead only to slots that are connected now.
#![allow(unsafe_op_in_unsafe_fn)]

mod closing;
mod named;
mod reach;
mod waiting;
mod ways;

use drystone_component::{Offered, Side};

pub use self::closing::*;
pub use self::named::*;
pub use self::reach::*;
pub use self::waiting::{tell_disconnected, tell_main, wait};
use self::waiting::{wake_holder, wake_instance};
pub use self::ways::*;
use super::{Act, interface_of, make_gone, violation};
use crate::failure::ds_fail;
use crate::home::home;
use crate::layout::*;

/// `CONNECT`
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of a live or dead instance whose block is still there, and `target`
/// that of an offered or required slot of one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_connect(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    target: usize,
    location: u32,
) -> Status {
    if ds_disconnect(w, p, slot, location) == Status::Leave {
        return Status::Leave;
    }
    match join(w, slot, target) {
        Joined::Done => return Status::Done,
        Joined::Full => wait(w, p),
        Joined::Failed(fault) => ds_fail(w, p, fault as u32, location),
    }
    Status::Leave
}

/// How an attempt to connect has ended.
pub enum Joined {
    /// Connected.
    Done,
    /// The interface has as many clients as it may have.
    Full,
    /// It is an error.
    Failed(Fault),
}

/// Connects a slot that is unconnected, if the target has room for one more.
pub unsafe fn join(w: *mut Worker, slot: *mut RequiredSlot, target: usize) -> Joined {
    if (*(*slot).instance).live & DEAD != 0 {
        // Its container counts as empty, but that is no error of those who talk to it.
        return Joined::Done;
    }
    if let Target::Offered(to) = decode(target) {
        let (instance, offered) = description(to);
        if (*instance).live & DEAD != 0 {
            let gone = make_gone(w, &*offered.interface);
            if gone.is_null() {
                return Joined::Failed(Fault::OutOfMemory);
            }
            (*slot).communication = gone;
            return Joined::Done;
        }
        if offered.limit != u32::MAX && has_clients(instance, offered) {
            return Joined::Full;
        }
    }
    match way(slot, target) {
        Way::Cycle => return Joined::Failed(Fault::ConnectionCycle),
        // Those who wait behind the slot wait on.
        Way::Nowhere => {
            link(slot, target);
            wake_instance(w, (*slot).instance);
            tell_main(w, (*slot).instance);
        }
        Way::Somewhere => lead(w, slot, target),
    }
    Joined::Done
}

/// Connects a slot that is unconnected, and wakes those who wait for that.
pub unsafe fn lead(w: *mut Worker, slot: *mut RequiredSlot, target: usize) {
    link(slot, target);
    wake_through(w, slot);
    tell_main(w, (*slot).instance);
}

/// Whether no more may be connected.
unsafe fn has_clients(instance: *mut Instance, offered: &Offered) -> bool {
    let mut client = first_client(instance, offered);
    for _ in 0..offered.limit {
        if client.is_null() {
            return false;
        }
        client = (*client).next;
    }
    true
}

pub unsafe fn wake_through(w: *mut Worker, slot: *mut RequiredSlot) {
    leaves_through(slot, |leaf| {
        if leaf.slot.is_null() {
            wake_holder(w, leaf.client);
        } else {
            wake_instance(w, leaf.client);
            // Far clients, too, may have waited until this leads somewhere.
            tell_main(w, leaf.client);
        }
    });
}

/// `DISCONNECT`
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of an instance whose block is still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_disconnect(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    location: u32,
) -> Status {
    if (*slot).target == 0 && (*slot).communication.is_null() {
        (*home(w)).names.cease(slot);
        return Status::Done;
    }
    let c = unfinished_through(slot);
    if !c.is_null() {
        violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
        return Status::Leave;
    }
    close_all_through(w, slot);
    (*home(w)).names.cease(slot);
    unlink(w, slot);
    Status::Done
}
