//! Communications: a buffer for messages between a client and its service, guarded by the state machine of their
//! protocol (*structured concurrent programs*, Blaser).
//!
//! While the buffer is empty, or holds messages of its own, a side is in state `state`; while the buffer holds a
//! message for it, in state `seen`. A side that has to wait becomes the communication's one `waiter`; any change wakes
//! it, and it tries again. A side that waits for the first of several things (`select`) is no waiter, but *watches*
//! each of them (`watching`).
//!
//! `word` says what both sides may do, `sending` and `receiving` do it for one of them, `ending` ends it, `connection`
//! finds a client's server, `moving` serves communications with one end outside of the program.
//!
//! # Safety of this module: *live*
//! A communication is one block with its service's process. It is *live* from its making until its service has ended
//! and its client has let go, whichever comes last. All functions here are called *at home* (see [`crate::home`]), by
//! one of the two sides, or by what ends the component of one.

pub mod connection;
mod ending;
pub mod more;
pub mod moving;
pub mod rebinding;
mod receiving;
pub mod select;
mod sending;
mod violation;
pub mod watching;
mod word;

use core::ptr::null_mut;

use drystone_component::{Interface, Type};

pub use self::ending::*;
pub use self::more::drop_buffered;
pub use self::receiving::*;
pub use self::sending::*;
pub use self::violation::{Act, refused_end, violation};
use crate::instance::{self, body_of};
use crate::layout::*;
use crate::queue::ready;
use crate::worker::heap_of;

/// A process waits, as this status says, until something changes.
///
/// # Safety
/// `c` is live; `p` is one of its sides and runs.
#[inline]
pub unsafe fn wait(c: *mut Communication, p: *mut Process, status: u8) {
    // SAFETY: both blocks are there.
    unsafe {
        (*p).status = status;
        (*c).waiter = p;
    }
}

/// Wakes the side that waits, and those that watch.
///
/// # Safety
/// At home; `c` is live.
#[inline]
pub unsafe fn wake(w: *mut Worker, c: *mut Communication) {
    // SAFETY: a waiter is alive, and stands in no queue.
    unsafe {
        let waiter = (*c).waiter;
        if !waiter.is_null() {
            (*c).waiter = null_mut();
            ready(w, waiter);
        }
        watching::tell(w, c);
    }
}

/// The payload's first word.
#[inline]
pub fn payload(c: *mut Communication) -> *mut u64 {
    c.wrapping_byte_add(PAYLOAD).cast()
}

/// Drops what a message carries.
///
/// # Safety
/// At home; `words` are the message's parameters, and own what they carry. They don't afterwards.
pub unsafe fn drop_words(w: *mut Worker, words: *mut u64, interface: &Interface, message: u32) {
    let message = &interface.messages.get()[message as usize];
    for (i, parameter) in message.parameters.get().iter().enumerate() {
        // SAFETY: there is a word for each parameter, of its type.
        unsafe {
            let word = *words.add(i);
            match parameter.ty {
                Type::Text | Type::Sequence => crate::text::drop(&mut *heap_of(w), word as *mut TextHead),
                Type::Component => instance::drop_in_message(w, word as *mut Instance),
                _ => {}
            }
        }
    }
}

/// Drops what the first message in the buffer still owns. The message has been taken.
///
/// # Safety
/// At home; `c` is live, of this interface, and its buffer isn't empty. Next is [`ds_received`].
pub unsafe fn drop_first(w: *mut Worker, c: *mut Communication, interface: &Interface) {
    // SAFETY: the tag says which message's words the buffer owns.
    unsafe { drop_words(w, payload(c), interface, u32::from((*c).word.tag) - 1) }
}

/// The interface, also of a detached communication.
///
/// # Safety
/// `c` is live.
pub unsafe fn interface_of(c: *mut Communication) -> &'static Interface {
    // SAFETY: `detach` and `make_gone` keep it in `resume`; a program's descriptions live for ever.
    unsafe {
        let p = c.cast::<Process>();
        &*if (*p).instance.is_null() { (*p).resume.cast() } else { body_of(p).interface }
    }
}

/// Frees the block of an ended service whose client has let go.
///
/// # Safety
/// At home; `c` is live, and nobody uses it afterwards.
pub unsafe fn free(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `detach` and `make_gone` keep the block's size in `score`.
    unsafe {
        let p = c.cast::<Process>();
        let size = if (*p).instance.is_null() { (*p).score } else { body_of(p).size };
        (*heap_of(w)).free(c.cast(), size as usize);
    }
}
