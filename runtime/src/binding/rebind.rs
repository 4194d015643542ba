//! Another binding for a connection while the program runs: at a point where the protocol allows it, so that neither side
//! loses a message.
//!
//! # Why this is sound
//! As the binding module says; the slot is looked for anew at each attempt.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use drystone_component::{Interface, Name};

use super::context::{self, said};
use super::{Hints, beyond};
use crate::communication::connection::{close_all_through, leaves_through, link, unlink, wake_through};
use crate::communication::{may_close, rebinding};
use crate::home::home;
use crate::home::names::Waiting;
use crate::inspect;
use crate::layout::*;

/// What is to be bound to what.
#[derive(Clone, Debug)]
pub struct Rebind {
    /// The client's path, such as `City.house[17]`.
    pub path: String,
    /// The interface that it requires.
    pub interface: String,
    /// Which slot of it, from 1.
    pub slot: usize,
    /// What it is to be connected to: a name, and BY as generated code gives it; `None`: to nothing any more.
    pub binding: Option<(String, String)>,
}

/// Binds a connection anew, as soon as its protocol allows: at once, if no communication has begun there or nothing is
/// under way in it, else before the message by which its client would begin anew. `told` hears of it: an error says why it
/// can't be done, or that the communication ended meanwhile.
///
/// # Safety
/// As for [`inspect::inspect`].
pub unsafe fn rebind(w: *mut Worker, what: Rebind, told: Box<dyn FnOnce(Result<(), String>)>) {
    let Some((slot, interface)) = inspect::slot(w, &what.path, &what.interface, what.slot) else {
        let Rebind { path, interface, slot, .. } = what;
        return told(Err(format!("there is no {path} with a slot {slot} of {interface}")));
    };
    let change = move |w: *mut Worker, slot: Option<*mut RequiredSlot>| match slot {
        Some(slot) if may_change(slot) => {
            close_all_through(w, slot);
            told(connect(w, slot, interface, &what));
        }
        // Its own client is not in the way, but those to whom it was passed on.
        Some(_) => {
            told(Err(format!("{} was passed on to a component that talks through it now", what.interface)))
        }
        None => told(Err(String::from("the communication has ended meanwhile"))),
    };
    if may_change(slot) {
        change(w, Some(slot));
        wake_through(w, slot);
    } else {
        rebinding::begin(w, slot, Box::new(change));
    }
}

/// Whether nothing is under way in the communications through a slot, and they may end now.
unsafe fn may_change(slot: *mut RequiredSlot) -> bool {
    let mut may = true;
    leaves_through(slot, |leaf| {
        let c = *leaf.cell;
        may &= c.is_null() || (may_close(c) && (*c).word.tag == 0);
    });
    may
}

unsafe fn connect(
    w: *mut Worker,
    slot: *mut RequiredSlot,
    interface: &'static Interface,
    what: &Rebind,
) -> Result<(), String> {
    let Some((name, hints)) = &what.binding else {
        leave(w, slot);
        return Ok(());
    };
    let name = Name::decode(name.as_bytes())?;
    let hints = Hints::parse(hints.as_bytes())?;
    if !name.is_local() {
        let target = beyond::reach(w, interface, name, &hints)?;
        leave(w, slot);
        link(slot, target);
    } else {
        context::must_be_there(w, interface, name)?;
        let way = beyond::way(w, interface, &hints)?;
        leave(w, slot);
        let slot = beyond::through(slot, way);
        let waiting = Waiting { slot, interface, location: u32::MAX };
        context::connect(w, waiting, name).map_err(said)?;
    }
    Ok(())
}

/// A slot is connected to nothing any more, and waits for nothing.
unsafe fn leave(w: *mut Worker, slot: *mut RequiredSlot) {
    (*home(w)).names.cease(slot);
    unlink(w, slot);
}
