//! Receiving, and asking what can be received.
//!
//! # Why this is sound
//! See the communication module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use drystone_component::{Interface, Side};

use super::moving::at_once;
use super::{Act, payload, violation, wait};
use crate::failure::stop;
use crate::instance::body_of;
use crate::layout::*;
use crate::protocol::{next, sender};
use crate::queue::ready;

const FALSE: u32 = 0;
const TRUE: u32 = 1;
const LEAVE: u32 = 2;

/// [`ds_test`]: any message.
pub const ANY: i32 = -1;
/// [`ds_test`]: the other side has closed.
pub const FINISH: i32 = -2;

/// A message's payload, when it has come; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is the client or the server of `c`, as the message's direction says;
/// `interface` is that of `c`, and has the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_receive(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    let word = (*c).word;
    let (mine, closed) = match sender(interface, message) {
        Side::Server => (word.flags & FOR_CLIENT != 0, word.flags & (SERVICE_ENDED | GONE) != 0),
        Side::Client => (hears(word), word.flags & (CLIENT_CLOSED | GONE | ENDING) != 0),
    };
    if word.tag != 0 && mine {
        if word.tag as u32 == message + 1 {
            return payload(c);
        }
    } else if !closed && next(interface, word.state, message).is_some() {
        wait(c, p, NEWS);
        return null_mut();
    } else if p == c.cast() && word.flags & (GONE | ENDING) == GONE && body_of(p).native.is_null() {
        stop(w, p);
        return null_mut();
    }
    violation(w, p, c, interface, Act::Receive(message), location);
    null_mut()
}

/// A message has been taken: the buffer is empty again.
///
/// # Safety
/// On the home worker's thread; the process that runs has taken over what [`ds_receive`] answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_received(w: *mut Worker, c: *mut Communication) {
    let word = &mut (*c).word;
    word.seen = word.state;
    word.tag = 0;
    word.flags &= !FOR_CLIENT;
    let waiter = (*c).waiter;
    if !waiter.is_null() && (*waiter).status == ROOM {
        if word.flags & STREAMS != 0 && at_once::refill(w, c, waiter) {
            return;
        }
        (*c).waiter = null_mut();
        ready(w, waiter);
    }
}

/// Whether a message in the buffer is there for the service.
#[inline(always)]
fn hears(word: CommunicationWord) -> bool {
    word.flags & (FOR_CLIENT | ENDING) == 0
}

/// What a test answers now: `LEAVE` if it isn't known.
#[inline]
unsafe fn answer(c: *mut Communication, side: u32, pattern: i32) -> u32 {
    let word = (*c).word;
    let (mine, closed) = if side == Side::Client as u32 {
        (word.flags & FOR_CLIENT != 0, word.flags & (SERVICE_ENDED | GONE) != 0)
    } else {
        (hears(word), word.flags & (CLIENT_CLOSED | GONE | ENDING) != 0)
    };
    if word.tag != 0 && mine {
        return (pattern == ANY || pattern + 1 == word.tag as i32) as u32;
    }
    if closed { (pattern == FINISH) as u32 } else { LEAVE }
}

/// `?M`, `?ANY`, `?FINISH`: waits until it is known.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is that side of `c`, whose interface this is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_test(
    _w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    _interface: &Interface,
    side: u32,
    pattern: i32,
    _location: u32,
) -> u32 {
    let known = answer(c, side, pattern);
    if known == LEAVE {
        wait(c, p, NEWS);
    }
    known
}

/// `INPUT`: the same without waiting.
///
/// # Safety
/// `c` is alive, has this interface, and its process belongs to the home worker, on whose thread this is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input(
    _w: *mut Worker,
    _p: *mut Process,
    c: *mut Communication,
    _interface: &Interface,
    side: u32,
    pattern: i32,
) -> u32 {
    if answer(c, side, pattern) == TRUE { TRUE } else { FALSE }
}
