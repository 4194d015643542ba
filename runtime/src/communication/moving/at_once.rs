//! Moves the messages of a stream within the near side's process, while the pump's own process sleeps on: a receiver
//! finds the next message in the buffer, a sender finds the buffer empty again, and neither costs a switch between
//! processes.
//!
//! A pump marks a communication with [`STREAMS`] when it finds that the near side waits for room, or that it has to
//! wait for room itself; local communications have no such mark, and never come here. What isn't plain is left to the
//! pump's process, and so is everything when the time slice is over.
//!
//! # Safety
//! A pump whose process waits is used by nobody else.

use core::sync::atomic::Ordering::Relaxed;

use drystone_component::{Interface, Role};

use super::cell_offset;
use super::channel::Channel;
use super::client::Client;
use super::stream::Stream;
use crate::far::standing::own;
use crate::instance::{body, template_of};
use crate::layout::*;

/// The buffer is empty, and a process waits for room in it: if that is a pump's, puts the next message there.
///
/// # Safety
/// At home; `c` is live, and the waiter its other side.
pub unsafe fn refill(w: *mut Worker, c: *mut Communication, waiter: *mut Process) -> bool {
    // SAFETY: the waiter is alive; nobody has a reference into the buffer.
    unsafe {
        (*waiter).status == ROOM
            && (*w).attention.load(Relaxed) == 0
            && stream_of(waiter)
                .is_some_and(|(stream, interface)| stream.refill(&mut Channel::new(w, c, interface)))
    }
}

/// A message is in the buffer, and a process waits: if that is a pump's and the far side takes a message now, passes it
/// on.
///
/// # Safety
/// At home; `c` is live, and the waiter null or its other side.
pub unsafe fn push(w: *mut Worker, c: *mut Communication, waiter: *mut Process) -> bool {
    // SAFETY: the waiter is alive; nobody has a reference into the buffer.
    unsafe {
        !waiter.is_null()
            && (*waiter).status == PLATFORM
            && (*w).attention.load(Relaxed) == 0
            && stream_of(waiter)
                .is_some_and(|(stream, interface)| stream.push(&mut Channel::new(w, c, interface)))
    }
}

/// What a process moves messages by, if it is a pump's.
///
/// # Safety
/// At home; the process is alive, waits, and nobody else uses its stream meanwhile.
unsafe fn stream_of<'a>(p: *mut Process) -> Option<(&'a mut Stream, &'static Interface)> {
    // SAFETY: the words of clients own a `Client`, the cells of proxies' services a pump, or are null.
    unsafe {
        if (*p).instance.is_null() {
            return None;
        }
        let template = &*template_of((*p).instance);
        match template.role {
            Role::Own | Role::Listener => None,
            Role::Client => {
                let client = (*own::<Client>((*p).instance)).as_mut()?;
                Some((client.comes.stream()?, &*template.required.get()[0].interface))
            }
            Role::Proxy | Role::Remote => {
                // Its other processes begin and end it.
                let interface = body(template, (*p).body as usize).interface.as_ref()?;
                let stream = (*p.byte_add(cell_offset(interface)).cast::<*mut Stream>()).as_mut()?;
                Some((stream, interface))
            }
        }
    }
}
