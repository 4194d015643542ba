//! A component that lives here for a program elsewhere: the other half of [`Domain`](crate::far::Domain). It is this
//! program's entry; what it offers is exported to that program, and what it requires is reached there.
//!
//! It doesn't end by the program's own wish: the *host*, which speaks for the other program, is asked whenever nothing
//! else is to be done, and at ticks.

use drystone_component::Required;

use super::{listen, proxy};
use crate::communication::connection::link;
use crate::far::{Guest, SLOTS, State, Wish};
use crate::home::roots::Roots;
use crate::home::{AtHome, home};
use crate::instance::slots::indexed_slot;
use crate::instance::{main_process, slot_at};
use crate::layout::*;
use crate::life::occasions;
use crate::worker::ground;

/// Connects the component, which has just been made, to its host. `None`: no memory.
///
/// # Safety
/// At home; the entry is alive, and of the guest's template.
pub unsafe fn receive(w: *mut Worker, guest: &mut Guest, entry: *mut Instance) -> Option<()> {
    for (index, offered) in guest.template.offered.get().iter().enumerate() {
        // Elsewhere the compiler has made sure that nobody but its holder is a client.
        if offered.connectable {
            // SAFETY: the template says where the entry's slots are, which are linked; interfaces live for ever.
            unsafe {
                let slot = listen(AtHome::new(w), &*offered.interface, guest.host.offered(index), "host")?;
                link(slot, slot_at::<OfferedSlot>(entry, offered.offset).expose_provenance());
            }
        }
    }
    // SAFETY: a program's interfaces live for ever.
    for (index, required) in unsafe { guest.template.declared() } {
        for slot in 0..required.slots.clamp(1, SLOTS) {
            let reach = guest.host.required(index, slot as usize + 1);
            // SAFETY: the entry's slots are linked; a new proxy is connected at once.
            unsafe {
                link(
                    slot_of(w, entry, required, slot)?,
                    proxy(AtHome::new(w), &*required.interface, reach, "host")?,
                );
            }
        }
    }
    Some(())
}

/// The k-th slot of a required interface, from 0. `None`: no memory.
///
/// # Safety
/// At home; the entry is alive, and requires this.
unsafe fn slot_of(
    w: *mut Worker,
    entry: *mut Instance,
    required: &Required,
    slot: u32,
) -> Option<*mut RequiredSlot> {
    // SAFETY: the entry's slots are where its template says.
    unsafe {
        match required.slots {
            0 => Some(slot_at(entry, required.offset)),
            _ => indexed_slot(w, entry, required, slot as usize),
        }
    }
}

/// Tells the host how far its component is, and does what it wishes; whether there was anything to do.
///
/// # Safety
/// At home, in the scheduler.
pub unsafe fn look(w: *mut Worker) -> bool {
    // SAFETY: the entry is alive until it is null; a deletion doesn't use the guest.
    unsafe {
        let Roots { entry, ref mut guest, .. } = (*home(w)).roots;
        let Some(guest) = guest.as_mut().filter(|_| !entry.is_null()) else { return false };
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
    }
    true
}

/// The program has ended in good order, with its component.
///
/// # Safety
/// At home.
pub unsafe fn gone(w: *mut Worker) {
    // SAFETY: at home, where nobody else looks at this now.
    let roots = unsafe { &mut (*home(w)).roots };
    if let Some(guest) = &mut roots.guest
        && roots.entry.is_null()
    {
        guest.host.tell(State::Gone);
    }
}
