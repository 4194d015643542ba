//! Blocks of calls that are shipped to the server that they call (*composite calls*, Ballesteros; language reference,
//! section 9, `{COMPOSITE}`).
//!
//! Beside what it declares, a component with such a block requires an interface ([`Interface::FOR_BLOCK`]) for it that
//! the compiler makes: `{ IN Run(values) ( OUT Ended(values) | OUT Refused | OUT Failed(fault, location: INTEGER; why:
//! TEXT) ) }`. Its slot is connected here, when the block is reached and can be shipped. Then the block is one message,
//! and its answer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

use drystone_component::{Interface, Side};

use crate::communication::connection::{close_leaf, ds_disconnect, lead, resolve, touches_lent};
use crate::communication::{Act, interface_of, may_close, violation};
use crate::failure::fail;
use crate::far::standing::{reach_of, why_lost};
use crate::far::{Harbour, Reach, Shipment};
use crate::home::{AtHome, is_home};
use crate::instance::stays_at_home;
use crate::layout::*;
use crate::near::proxy;
use crate::text;
use crate::visiting::must_be_home;
use crate::worker::Failure;

/// Messages of such an interface, by their numbers.
pub const RUN: usize = 0;
/// The block has run; the values are those that it gives.
pub const ENDED: usize = 1;
/// It can't be run there, and nothing of it was.
pub const REFUSED: usize = 2;
/// It has failed.
pub const FAILED: usize = 3;

/// Whether a block is to be shipped now: all slots that it calls over lead to one other program that takes it, no
/// communication has begun over any of them, and no other process ships it at this time. Then its own slot is
/// connected.
///
/// # Safety
/// As the binding module says; there are `count` slots. The own one is for this interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_ships(
    w: *mut Worker,
    p: *mut Process,
    own: *mut RequiredSlot,
    interface: &'static Interface,
    slots: *const *mut RequiredSlot,
    count: u32,
    program: *const TextHead,
) -> u32 {
    // SAFETY: there are as many slots; the text is held.
    unsafe {
        let slots = slice::from_raw_parts(slots, count as usize);
        u32::from(is_home(w) && ship(w, p, own, interface, slots, text::bytes(program)).is_some())
    }
}

/// Connects a block's own slot to what takes the block; `None`: it is not to be shipped now.
///
/// # Safety
/// As for [`ds_ships`].
unsafe fn ship(
    w: *mut Worker,
    p: *mut Process,
    own: *mut RequiredSlot,
    interface: &'static Interface,
    slots: &[*mut RequiredSlot],
    program: &[u8],
) -> Option<()> {
    // SAFETY: the slots are linked, and a new proxy leads nowhere else.
    unsafe {
        let c = (*own).communication;
        if !c.is_null() && !may_close(c) {
            return None;
        }
        let mut harbours = Vec::with_capacity(slots.len());
        for &slot in slots {
            harbours.push(reach(slot).filter(|_| (*slot).communication.is_null())?.harbour()?);
        }
        let first = *harbours.first()?;
        let is_same = |other: &Harbour<'_>| Harbour { name: "", ..*other } == Harbour { name: "", ..first };
        if !harbours.iter().all(is_same) {
            return None;
        }
        let names: Vec<_> = harbours.iter().map(|harbour| harbour.name).collect();
        let list = names.join(", ");
        if let Some(known) = reach(own).and_then(|own| own.harbour())
            && (Harbour { is_open: true, ..known }) == (Harbour { name: &list, ..first })
        {
            return known.is_open.then_some(());
        }
        let ships = reach(slots[0])?.ship(Shipment { interface, program, names: &names })?;
        let shown = format!("{}/{list}", first.program);
        // It may end, so that this doesn't wait.
        if ds_disconnect(w, p, own, u32::MAX) != Status::Done {
            return None;
        }
        stays_at_home((*own).instance);
        lead(w, own, proxy(AtHome::new(w), interface, ships, &shown)?);
    }
    Some(())
}

/// What reaches what a slot leads to, if that is elsewhere.
///
/// # Safety
/// At home; the slot is linked, and leads there as long as the result is used.
unsafe fn reach<'a>(slot: *mut RequiredSlot) -> Option<&'a dyn Reach> {
    // SAFETY: the instance that serves a linked slot is there.
    unsafe {
        let (server, offered) = resolve((*slot).target)?;
        reach_of(server, offered.body as usize)
    }
}

/// A block that was shipped has failed there, at the location before this number; 0: it isn't known where.
///
/// # Safety
/// As the binding module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_shipped_failed(
    w: *mut Worker,
    p: *mut Process,
    fault: i64,
    place: i64,
    why: *const TextHead,
    location: u32,
) -> Status {
    let fault = Fault::of_number(fault as u32);
    let location = u32::try_from(place - 1).unwrap_or(location);
    // SAFETY: the text is held; the process runs, and leaves.
    unsafe {
        let reason = String::from_utf8_lossy(text::bytes(why)).into_owned();
        fail(w, Failure { reason, ..Failure::of(p, fault, location) });
    }
    Status::Leave
}

/// A block that was shipped isn't answered: the way to where it is, or that program, is lost.
///
/// # Safety
/// As the binding module says; the slot is the block's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_shipped_lost(
    w: *mut Worker,
    p: *mut Process,
    own: *mut RequiredSlot,
    location: u32,
) -> Status {
    // SAFETY: the slot is linked; the process runs, and leaves.
    unsafe {
        let server = resolve((*own).target);
        let why = server.and_then(|(server, offered)| why_lost(server, offered.body as usize));
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let reason = format!("the block was shipped, and is lost{why}");
        fail(w, Failure { reason, ..Failure::of(p, Fault::ProtocolViolation, location) });
    }
    Status::Leave
}

/// The end of a block with which the component's own communication over a slot ends.
///
/// # Safety
/// As the binding module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_leave(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    location: u32,
) -> Status {
    // SAFETY: the slot is linked, and its communication null or live; the process runs.
    unsafe {
        if must_be_home(w, p) || touches_lent(w, p, slot, 0) {
            return Status::Leave;
        }
        let c = (*slot).communication;
        if !c.is_null() && !may_close(c) {
            violation(w, p, c, interface_of(c), Act::End(Side::Client), location);
            return Status::Leave;
        }
        close_leaf(w, &raw mut (*slot).communication);
    }
    Status::Done
}
