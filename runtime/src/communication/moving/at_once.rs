//! Streams through a pump: where one message comes after the other, they are moved within the near side's process, and
//! the pump's own process sleeps on. Whoever has taken a message finds the next one in the buffer; who has sent one
//! finds the buffer empty again. So a message of a stream costs no switch between processes.
//!
//! A pump marks a communication with [`STREAMS`] when it finds that the other side waits for room, or that it has to
//! wait itself; local communications have no such mark, and never come here. All that isn't plain is left to the pump's
//! process; so is everything when the time slice is over, that others have their turn.
//!
//! # Why this is sound
//! See the `moving` module. The pump's process is parked, so nobody else uses the pump.
#![allow(unsafe_op_in_unsafe_fn)]

use core::sync::atomic::Ordering::Relaxed;

use drystone_component::{Interface, Role};

use super::cell_offset;
use super::client::Client;
use super::pump::Pump;
use crate::far::standing::own;
use crate::instance::{body, template_of};
use crate::layout::*;

/// The buffer is empty, and a pump waits for room in it: puts the next message there, if there is one.
pub unsafe fn refill(w: *mut Worker, c: *mut Communication, waiter: *mut Process) -> bool {
    (*waiter).status == ROOM
        && (*w).attention.load(Relaxed) == 0
        && pump_of(waiter).is_some_and(|(pump, interface)| (*pump).refill(w, c, interface))
}

/// A message is in the buffer, for a pump that waits for anything: passes it on, if the far side takes one now.
pub unsafe fn push(w: *mut Worker, c: *mut Communication, waiter: *mut Process) -> bool {
    !waiter.is_null()
        && (*waiter).status == PLATFORM
        && (*w).attention.load(Relaxed) == 0
        && pump_of(waiter).is_some_and(|(pump, interface)| (*pump).push(w, c, interface))
}

/// The pump of a process, if it is one's.
unsafe fn pump_of(p: *mut Process) -> Option<(*mut Pump, &'static Interface)> {
    if (*p).instance.is_null() {
        return None;
    }
    let template = &*template_of((*p).instance);
    match template.role {
        Role::Own | Role::Listener => None,
        Role::Client => {
            let client = *own::<Client>((*p).instance);
            let interface = &*template.required.get()[0].interface;
            let pump = if client.is_null() { None } else { (*client).pump() };
            pump.map(|pump| (pump, interface))
        }
        Role::Proxy | Role::Remote => {
            // Its other processes begin and end it.
            let interface = body(template, (*p).body as usize).interface.as_ref()?;
            let pump = *p.byte_add(cell_offset(interface)).cast::<*mut Pump>();
            (!pump.is_null()).then_some((pump, interface))
        }
    }
}
