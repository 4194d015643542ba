//! Connections: which required interface is served by which offered one, through any number of relays.
//!
//! `ways` follows the links between slots, `joining` makes and undoes them, `named` does so by names of the program's
//! own. `reach` begins communications through them, `closing` ends these. In `waiting`, processes wait for a
//! connection.
//!
//! # Safety of this module: *linked*
//! Slots are parts of instances. A slot is *linked* while its instance's block is there and all links of the slot lead
//! to slots of which the same is true: so it is from its instance's making on, since an instance undoes all its
//! connections before its block is freed. A *target* is as in [`RequiredSlot::target`], null or that of a linked slot.
//! The functions here are called *at home* (see [`crate::home`]).

mod apart;
mod closing;
mod joining;
mod named;
mod reach;
mod waiting;
mod ways;

use drystone_component::Side;

pub use self::apart::{is_sealed, leads_away, leads_away_held, lent_before, must_end_at_home, touches_lent};
pub use self::closing::*;
pub use self::joining::{Joined, join, lead, unlink, wake_through};
pub use self::named::*;
pub use self::reach::*;
pub use self::waiting::{tell_disconnected, tell_main, wait};
pub use self::ways::*;
use super::{Act, interface_of, violation};
use crate::failure::ds_fail;
use crate::home::names_of_home;
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
    // SAFETY: slot and target are linked; `p` leaves wherever this says so.
    unsafe {
        if touches_lent(w, p, slot, target) {
            return Status::Leave;
        }
        if ds_disconnect(w, p, slot, location) == Status::Leave {
            return Status::Leave;
        }
        match join(w, slot, target) {
            Joined::Done => return Status::Done,
            Joined::Full => wait(w, p),
            Joined::Failed(fault) => ds_fail(w, p, fault as u32, location),
        }
    }
    Status::Leave
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
    // SAFETY: the slot is linked, and its communications are live.
    unsafe {
        if (*slot).target == 0 && (*slot).communication.is_null() {
            cease(w, slot);
            return Status::Done;
        }
        if touches_lent(w, p, slot, 0) {
            return Status::Leave;
        }
        let c = unfinished_through(w, slot);
        if !c.is_null() {
            violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
            return Status::Leave;
        }
        close_all_through(w, slot);
        cease(w, slot);
        unlink(w, slot);
    }
    Status::Done
}

/// A slot waits for no name any more.
///
/// # Safety
/// `w` is the worker of this thread; the slot is linked.
unsafe fn cease(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: nobody else looks at the names meanwhile.
    if let Some(names) = unsafe { names_of_home(w) } {
        names.cease(slot);
    }
}
