//! Connections by names of the program's own (`local:`): at once if the name is exported, else when that happens, or
//! when the interface has room for one more client. From then on it is a connection like any other.
//!
//! # Safety
//! Slots and targets that the names lead to are linked, for instances forget their names before they go. The home's
//! names are looked at for one call at a time.

use alloc::format;
use alloc::string::String;
use core::ptr;

use drystone_component::{Interface, subtype};

use super::joining::{Joined, connect_waiting, join};
use crate::home::names::{Exported, Waiting};
use crate::home::{home, names_of_home};
use crate::instance::slots::interfaces_of;
use crate::instance::{slot_at, template_of};
use crate::layout::*;

/// Why a name can't be used so.
pub enum Refusal {
    /// In words.
    Reason(String),
    /// Another error.
    Fault(Fault),
}

/// Connects a slot, which is unconnected, to a name.
///
/// # Errors
/// The interfaces don't fit together, or there is no memory.
///
/// # Safety
/// At home; the slot is linked, and of this interface.
pub unsafe fn connect_to_name(w: *mut Worker, waiting: Waiting, name: &[u8]) -> Result<(), Refusal> {
    // SAFETY: the slot and the exported target are linked.
    unsafe {
        let Some(exported) = (*home(w)).names.exported(name) else {
            (*home(w)).names.wait(name, waiting);
            return Ok(());
        };
        fits(waiting.interface, exported.interface)?;
        match join(w, waiting.slot, exported.target) {
            Joined::Done => {}
            Joined::Full => (*home(w)).names.wait(name, waiting),
            Joined::Failed(fault) => return Err(Refusal::Fault(fault)),
        }
    }
    Ok(())
}

/// Exports by a name, and connects the slots that wait for it.
///
/// # Errors
/// The name is taken, or one of these slots can't be connected.
///
/// # Safety
/// At home; the target is linked, and of this interface.
pub unsafe fn export_by_name(w: *mut Worker, exported: Exported, name: &[u8]) -> Result<(), Refusal> {
    // SAFETY: the target and the waiting slots are linked.
    unsafe {
        if (*home(w)).names.exported(name).is_some() {
            return Err(Refusal::Reason(String::from(
                "the name is exported already, by a component that is alive",
            )));
        }
        let mut waiting = (*home(w)).names.waiting(name);
        waiting.try_for_each(|waiting| fits(waiting.interface, exported.interface))?;
        (*home(w)).names.export(name, exported);
        match connect_waiting(w, exported.target, name) {
            Ok(()) => Ok(()),
            Err((_, fault)) => Err(Refusal::Fault(fault)),
        }
    }
}

/// Whether anything that a component offers or passes on has such a name.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn has_name(w: *mut Worker, instance: *mut Instance) -> bool {
    let mut has = false;
    // SAFETY: nothing changes the names meanwhile.
    unsafe {
        let Some(names) = names_of_home(w) else { return false };
        if !names.is_empty() {
            targets(instance, |target| has |= names.lead_to(target));
        }
    }
    has
}

/// A component goes: its interfaces have no names, and wait for none.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn forget_names(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: nobody else looks at the names meanwhile.
    unsafe {
        let Some(names) = names_of_home(w) else { return };
        if names.is_empty() {
            return;
        }
        interfaces_of(instance, |slot, _| names.cease(slot));
        targets(instance, |target| names.revoke(target));
    }
}

/// A required slot goes before its component: the same for it.
///
/// # Safety
/// At home.
pub unsafe fn forget_names_of(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: nobody else looks at the names meanwhile.
    let Some(names) = (unsafe { names_of_home(w) }) else { return };
    if !names.is_empty() {
        names.cease(slot);
        names.revoke(slot.expose_provenance() | 1);
    }
}

/// What names of a component's interfaces may stand for.
///
/// # Safety
/// The instance's block is there.
unsafe fn targets(instance: *mut Instance, mut each: impl FnMut(usize)) {
    // SAFETY: the template says where the slots are.
    unsafe {
        interfaces_of(instance, |slot, _| each(slot.expose_provenance() | 1));
        for offered in (*template_of(instance)).offered.get() {
            each(slot_at::<OfferedSlot>(instance, offered.offset).expose_provenance());
        }
    }
}

/// Whether what is offered serves what is wanted: within a program an interface is its description.
///
/// # Errors
/// How they differ.
pub fn fits(wanted: &'static Interface, offered: &'static Interface) -> Result<(), Refusal> {
    if ptr::eq(wanted, offered) {
        return Ok(());
    }
    Err(Refusal::Reason(match subtype::serves(offered, wanted) {
        Err(difference) => format!("{difference}"),
        Ok(()) => format!("two interfaces {} of this program differ", wanted.name.get()),
    }))
}
