//! A component that lives here for a program elsewhere: the other half of [`Domain`](crate::far::Domain). It is this
//! program's entry; what it offers is exported to that program, and what it requires is reached there.
//!
//! Its end is not the program's own wish: the *host*, which speaks for the other program, is asked for it whenever
//! nothing else is to be done, and at ticks.
//!
//! # Why this is sound
//! See the near module.
#![allow(unsafe_op_in_unsafe_fn)]

use drystone_component::Required;

use super::{listen, proxy};
use crate::communication::connection::link;
use crate::far::{Guest, SLOTS, State, Wish};
use crate::home::home;
use crate::instance::slots::indexed_slot;
use crate::instance::{main_process, slot_at};
use crate::layout::*;
use crate::life::occasions;
use crate::worker::ground;

/// Connects the component, which has just been made, to its host. `None`: no memory.
///
/// # Safety
/// On the home worker's thread.
pub unsafe fn receive(w: *mut Worker, guest: &mut Guest, entry: *mut Instance) -> Option<()> {
    for (index, offered) in guest.template.offered.get().iter().enumerate() {
        // Elsewhere the compiler has made sure that nobody but its holder is a client.
        if offered.connectable {
            let slot = listen(w, &*offered.interface, guest.host.offered(index), "host")?;
            link(slot, slot_at::<OfferedSlot>(entry, offered.offset).expose_provenance());
        }
    }
    for (index, required) in guest.template.declared() {
        for slot in 0..required.slots.clamp(1, SLOTS) {
            let reach = guest.host.required(index, slot as usize + 1);
            link(slot_of(w, entry, required, slot)?, proxy(w, &*required.interface, reach, "host")?);
        }
    }
    Some(())
}

unsafe fn slot_of(
    w: *mut Worker,
    entry: *mut Instance,
    required: &Required,
    slot: u32,
) -> Option<*mut RequiredSlot> {
    match required.slots {
        0 => Some(slot_at(entry, required.offset)),
        _ => indexed_slot(w, entry, required, slot as usize),
    }
}

/// Tells the host how far its component is, and does what it wishes; whether there was anything to do.
///
/// # Safety
/// On the home worker's thread, in the scheduler.
pub unsafe fn look(w: *mut Worker) -> bool {
    let entry = (*home(w)).entry;
    let Some(guest) = &mut (*home(w)).guest else { return false };
    if entry.is_null() {
        return false;
    }
    let main = main_process(entry);
    if guest.told == State::Active && (main.is_null() || (*main).is_null()) {
        guest.told = State::Passive;
        guest.host.tell(State::Passive);
    }
    match guest.host.wish() {
        Wish::End if !guest.ends => {
            guest.ends = true;
            occasions::delete_entry(w, entry);
        }
        Wish::Halt => (*ground(w)).halted = Some(0),
        Wish::Live | Wish::End => return false,
    }
    true
}

/// The program has ended in good order, with its component.
///
/// # Safety
/// On the home worker's thread.
pub unsafe fn gone(w: *mut Worker) {
    if let Some(guest) = &mut (*home(w)).guest
        && (*home(w)).entry.is_null()
    {
        guest.host.tell(State::Gone);
    }
}
