//! Communications: one message's room between a client and its service, watched by the protocol's state machine
//! (paper 004, section 3.1).
//!
//! What a side sees: while the buffer is empty, or holds a message of its own, the state is `state`; while it
//! holds a message for this side, the state is `seen`. Whoever has to wait becomes the one `waiter`, is woken by
//! whatever changes, and asks again.
//!
//! Here is what both sides do; `sending` and `receiving` are what one of them does, `ending` is how it is over, and
//! `connection` how a client finds its server.
//!
//! # Why this is sound
//! A communication is one block with its service process. It lives until both the service has ended and the client
//! has let go, whichever comes last; only generated code of these two, and the closing and killing of their
//! components, come here, on the home worker. See also the process module.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod connection;
mod ending;
pub mod moving;
pub mod rebinding;
mod receiving;
mod sending;
mod violation;

use core::ptr::null_mut;

use drystone_component::{Interface, Type};

pub use self::ending::*;
pub use self::receiving::*;
pub use self::sending::*;
pub use self::violation::{Act, refused_end, violation};
use crate::instance::{self, body_of};
use crate::layout::*;
use crate::queue::ready;
use crate::worker::heap_of;

#[inline]
pub unsafe fn wait(c: *mut Communication, p: *mut Process, status: u8) {
    (*p).status = status;
    (*c).waiter = p;
}

/// Wakes whoever waits.
#[inline]
pub unsafe fn wake(w: *mut Worker, c: *mut Communication) {
    let waiter = (*c).waiter;
    if !waiter.is_null() {
        (*c).waiter = null_mut();
        ready(w, waiter);
    }
}

/// The payload's first word.
#[inline]
pub unsafe fn payload(c: *mut Communication) -> *mut u64 {
    c.cast::<u8>().add(PAYLOAD).cast()
}

/// Drops what a message carries.
pub unsafe fn drop_words(w: *mut Worker, words: *mut u64, interface: &Interface, message: u32) {
    let message = &interface.messages.get()[message as usize];
    for (i, parameter) in message.parameters.get().iter().enumerate() {
        let word = *words.add(i);
        match parameter.ty {
            Type::Text => crate::text::drop(&mut *heap_of(w), word as *mut TextHead),
            Type::Component => instance::drop_in_message(w, word as *mut Instance),
            _ => {}
        }
    }
}

/// Drops the message in the buffer, if there is one.
pub unsafe fn drop_buffered(w: *mut Worker, c: *mut Communication, interface: &Interface) {
    let tag = (*c).word.tag;
    if tag != 0 {
        empty(c);
        drop_words(w, payload(c), interface, tag as u32 - 1);
    }
}

/// The buffer is empty: what was in it is elsewhere.
#[inline]
pub unsafe fn empty(c: *mut Communication) {
    let word = &mut (*c).word;
    word.tag = 0;
    word.seen = word.state;
    word.flags &= !FOR_CLIENT;
}

/// The interface, of a detached communication too.
pub unsafe fn interface_of(c: *mut Communication) -> &'static Interface {
    let p = c.cast::<Process>();
    &*if (*p).instance.is_null() { (*p).resume.cast() } else { body_of(p).interface }
}

/// Frees the block of an ended service whose client has let go.
pub unsafe fn free(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let size = if (*p).instance.is_null() { (*p).score } else { body_of(p).size };
    (*heap_of(w)).free(c.cast(), size as usize);
}
