//! Ways that lead to what another worker has.

use alloc::vec::Vec;
use core::ptr::null_mut;

use drystone_component::Offered;

use super::ways::{
    Target, component_at, decode, first_client, inward_of, is_way_out, leaves_through, offered_at, owner,
    slot_behind,
};
use crate::home::{is_home, team};
use crate::instance::slots::required_slots;
use crate::instance::{slot_at, template_of};
use crate::layout::*;
use crate::visiting::{go_home, leave_for, visit};

/// A process is about to begin a communication over a target; `true`: the way leads to another worker, so the process
/// leaves, and tries again when what is there has come home.
///
/// # Safety
/// `p` runs on `w`, and leaves if this says so; the target is linked.
#[inline]
pub unsafe fn leads_away(w: *mut Worker, p: *mut Process, slot: *mut RequiredSlot, target: usize) -> bool {
    // SAFETY: as this demands.
    unsafe { (*team(w)).is_apart && leads_to_lent(w, p, slot, target) }
}

/// The same for the holder of a component.
///
/// # Safety
/// `p` runs on `w`, and leaves if this says so; it belongs to the holder of `instance`, which offers this.
#[inline]
pub unsafe fn leads_away_held(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    slot: *mut OfferedSlot,
) -> bool {
    // SAFETY: as this demands.
    unsafe {
        if !(*team(w)).is_apart {
            return false;
        }
        if (*instance).is_lent() && is_home(w) {
            visit(w, p, instance);
            return true;
        }
        let offered = offered_at(instance, slot);
        match offered.body {
            Offered::INWARD => {
                leads_to_lent(w, p, null_mut(), (*slot_at::<RequiredSlot>(instance, offered.inward)).target)
            }
            _ => false,
        }
    }
}

/// # Safety
/// As for [`leads_away`].
#[cold]
unsafe fn leads_to_lent(w: *mut Worker, p: *mut Process, slot: *mut RequiredSlot, target: usize) -> bool {
    // SAFETY: as for `leads_away`.
    unsafe {
        if is_home(w) {
            let lent = lent_behind(target);
            if !lent.is_null() {
                visit(w, p, lent);
            }
            return !lent.is_null();
        }
        let leads_out = !slot.is_null() && is_way_out(w, slot) || leads_out(w, target);
        if leads_out {
            go_home(w, p);
        }
        leads_out
    }
}

/// The lent component that serves a target, or stands on the way; null if there is none.
///
/// # Safety
/// At home; the target is linked.
unsafe fn lent_behind(mut target: usize) -> *mut Instance {
    // SAFETY: the targets of links are linked. What is lent is not looked into.
    unsafe {
        loop {
            let instance = component_at(target);
            if instance.is_null() || (*instance).is_lent() {
                return instance;
            }
            let next = slot_behind(target);
            if next.is_null() {
                return null_mut();
            }
            target = (*next).target;
        }
    }
}

/// Whether a target in a lent team leads out of it.
///
/// # Safety
/// `w` runs a lent team, in which the target is; it is linked.
unsafe fn leads_out(w: *mut Worker, target: usize) -> bool {
    // SAFETY: as this demands; what is linked in the team is in the team, up to a way out.
    unsafe {
        let mut slot = slot_behind(target);
        while !slot.is_null() && !is_way_out(w, slot) {
            slot = slot_behind((*slot).target);
        }
        !slot.is_null()
    }
}

/// A process is about to connect a slot to a target, or to disconnect it (a null target); `true`: something that this
/// touches is at another worker, so the process leaves, and tries again when it has come home.
///
/// # Safety
/// `p` runs on `w`, and leaves if this says so; slot and target are linked.
#[inline]
pub unsafe fn touches_lent(w: *mut Worker, p: *mut Process, slot: *mut RequiredSlot, target: usize) -> bool {
    // SAFETY: as this demands.
    unsafe { (*team(w)).is_apart && is_touched(w, p, slot, target) }
}

/// # Safety
/// As for [`touches_lent`].
#[cold]
unsafe fn is_touched(w: *mut Worker, p: *mut Process, slot: *mut RequiredSlot, target: usize) -> bool {
    // SAFETY: as for `touches_lent`.
    unsafe {
        if !is_home(w) {
            let is_outside = is_way_out(w, slot)
                || is_offered_outside(w, target)
                || is_offered_outside(w, (*slot).target)
                || lets_others_in(w)
                || !apart_through(slot).is_null();
            if is_outside {
                go_home(w, p);
            }
            return is_outside;
        }
        let mut lent = lent_behind(target);
        if lent.is_null() {
            lent = lent_behind((*slot).target);
        }
        if lent.is_null() {
            lent = lent_before(slot);
        }
        if !lent.is_null() {
            visit(w, p, lent);
            return true;
        }
        let apart = apart_through(slot);
        if !apart.is_null() {
            leave_for(w, p, apart);
        }
        !apart.is_null()
    }
}

/// Whether a target is what a lent component itself offers, which has clients outside, too.
///
/// # Safety
/// `w` runs a lent team, in which the target is; it is linked.
unsafe fn is_offered_outside(w: *mut Worker, target: usize) -> bool {
    // SAFETY: as this demands.
    unsafe { matches!(decode(target), Target::Offered(slot) if owner(slot) == (*team(w)).root()) }
}

/// A communication through a slot whose sides are at two workers; null if there is none.
///
/// # Safety
/// The slot is linked, and no way over it leads to what another worker has.
unsafe fn apart_through(slot: *mut RequiredSlot) -> *mut Communication {
    let mut found = null_mut();
    // SAFETY: the slot is linked; communications to which slots lead are live.
    unsafe {
        leaves_through(slot, |leaf| {
            let c = *leaf.cell;
            if !c.is_null() && (*c).word.flags & APART != 0 {
                found = c;
            }
        });
    }
    found
}

/// Whether an interface that a lent component offers leads inward, so that slots outside lead to slots in its team.
///
/// # Safety
/// `w` runs a lent team.
unsafe fn lets_others_in(w: *mut Worker) -> bool {
    // SAFETY: the team's root is live.
    let offered = unsafe { (*template_of((*team(w)).root())).offered.get() };
    offered.iter().any(|offered| offered.body == Offered::INWARD)
}

/// Whether nothing in a lent team but its outermost component is connected to anything outside.
///
/// # Safety
/// `w` runs a lent team.
pub unsafe fn is_sealed(w: *mut Worker) -> bool {
    // SAFETY: the team's root is live, and its slots' clients are in the team.
    unsafe {
        let root = (*team(w)).root();
        let mut is_sealed = !lets_others_in(w);
        required_slots(root, |slot| is_sealed &= (*slot).clients.is_null());
        is_sealed
    }
}

/// A process is about to end what its component or itself holds; `true`: it leaves, and does that at home.
///
/// # Safety
/// `p` runs on `w`, at a suspension point, and leaves if this says so.
#[inline]
pub unsafe fn must_end_at_home(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: as this demands.
    unsafe {
        let is_away = !is_home(w) && !is_sealed(w);
        if is_away {
            go_home(w, p);
        }
        is_away
    }
}

/// A lent component from which a way leads over a slot; null if there is none.
///
/// # Safety
/// At home; the slot is linked.
pub unsafe fn lent_before(slot: *mut RequiredSlot) -> *mut Instance {
    let mut slots = Vec::from([slot]);
    // SAFETY: clients are linked. What is lent is not looked into.
    unsafe {
        while let Some(slot) = slots.pop() {
            if (*(*slot).instance).is_lent() {
                return (*slot).instance;
            }
            let mut lists = [(*slot).clients, null_mut()];
            if let Some(offered) = inward_of(slot) {
                lists[1] = first_client((*slot).instance, offered);
            }
            for mut client in lists {
                while !client.is_null() {
                    slots.push(client);
                    client = (*client).next;
                }
            }
        }
    }
    null_mut()
}
