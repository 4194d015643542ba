//! Receiving, and asking what can be received.

use core::ptr::null_mut;

use drystone_component::{Interface, Side};

use super::moving::at_once;
use super::{Act, interface_of, more, payload, violation, wait};
use crate::failure::stop;
use crate::instance::body_of;
use crate::layout::*;
use crate::protocol::{next, sender};
use crate::queue::ready;
use crate::visiting::{leave_for, wait_for};

const FALSE: u32 = 0;
/// [`answer`]: so it is.
pub const TRUE: u32 = 1;
/// [`answer`]: it isn't known yet.
pub const LEAVE: u32 = 2;

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
    let receiver = match sender(interface, message) {
        Side::Server => Side::Client,
        Side::Client => Side::Server,
    };
    // SAFETY: `c` is live, and `p` one of its sides, which leaves wherever this is null.
    unsafe {
        let word = (*c).word;
        if word.flags & APART != 0 {
            // Neither side changes the word meanwhile.
            match answer(word, receiver, ANY) {
                LEAVE => wait_for(w, p, c),
                _ => leave_for(w, p, c),
            }
            return null_mut();
        }
        if word.holds_for(receiver) {
            if u32::from(word.tag) == message + 1 {
                return payload(c);
            }
        } else if !word.is_closed_for(receiver) && next(interface, word.state, message).is_some() {
            wait(c, p, NEWS);
            return null_mut();
        } else if p == c.cast() && word.flags & (GONE | ENDING) == GONE && body_of(p).native.is_null() {
            stop(w, p);
            return null_mut();
        }
        violation(w, p, c, interface, Act::Receive(message), location);
    }
    null_mut()
}

/// A message has been taken: the next one is there, or the buffer is empty again.
///
/// # Safety
/// At home; the process that runs has taken over what [`ds_receive`] answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_received(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live, for the process that runs is one of its sides; so is its waiter.
    unsafe {
        match (*c).word.flags & MORE {
            0 => (*c).word.empty(),
            _ => more::advance(c, interface_of(c)),
        }
        let waiter = (*c).waiter;
        if !waiter.is_null() && (*waiter).status == ROOM {
            if (*c).word.flags & STREAMS != 0 && (*c).word.tag == 0 && at_once::refill(w, c, waiter) {
                return;
            }
            (*c).waiter = null_mut();
            ready(w, waiter);
        }
    }
}

/// What a test answers now: `LEAVE` if it isn't known yet.
#[inline]
pub fn answer(word: CommunicationWord, side: Side, pattern: i32) -> u32 {
    if word.holds_for(side) {
        return (pattern == ANY || pattern + 1 == i32::from(word.tag)) as u32;
    }
    if word.is_closed_for(side) { (pattern == FINISH) as u32 } else { LEAVE }
}

/// A side by its number.
fn side_of(side: u32) -> Side {
    if side == Side::Client as u32 { Side::Client } else { Side::Server }
}

/// `?M`, `?ANY`, `?FINISH`: waits until it is known.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is that side of `c`, whose interface this is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_test(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    _interface: &Interface,
    side: u32,
    pattern: i32,
    _location: u32,
) -> u32 {
    // SAFETY: `c` is live, and `p` one of its sides.
    unsafe {
        let known = answer((*c).word, side_of(side), pattern);
        if (*c).word.flags & APART != 0 {
            match known {
                LEAVE => wait_for(w, p, c),
                _ => leave_for(w, p, c),
            }
            return LEAVE;
        }
        if known == LEAVE {
            wait(c, p, NEWS);
        }
        known
    }
}

/// `INPUT`: the same without waiting.
///
/// # Safety
/// `p` runs on `w`, and is that side of `c`, which is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    _interface: &Interface,
    side: u32,
    pattern: i32,
) -> u32 {
    // SAFETY: `c` is live, and `p` leaves if this says so.
    let word = unsafe { (*c).word };
    if word.flags & APART != 0 {
        // SAFETY: as before.
        unsafe { leave_for(w, p, c) };
        return LEAVE;
    }
    if answer(word, side_of(side), pattern) == TRUE { TRUE } else { FALSE }
}
