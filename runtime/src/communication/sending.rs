//! Sending: room for a message, and what happens once it is there.
//!
//! # Why this is sound
//! See the communication module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;
use core::slice;

use drystone_component::{Interface, Side};

use super::moving::at_once;
use super::{Act, connection, drop_buffered, drop_words, free, payload, rebinding, violation, wait, wake};
use crate::failure::stop;
use crate::home::home;
use crate::instance::body_of;
use crate::instance::natives::run_native;
use crate::instance::natives::wake_parked;
use crate::layout::*;
use crate::process::{restart_parked, restart_service};
use crate::protocol::{may_end, next, sender};
use crate::queue::ready;

/// The communication's first state, with an empty buffer.
const START: CommunicationWord = CommunicationWord { state: 0, seen: 0, tag: 0, flags: 0 };

/// Whether a message may be put into the buffer without another look: it is empty, nobody has closed, and the protocol
/// allows it.
#[inline(always)]
unsafe fn is_usual(c: *mut Communication, interface: &Interface, message: u32) -> bool {
    let word = (*c).word;
    word.tag == 0 && word.flags & !(LEAVES | STREAMS) == 0 && next(interface, word.state, message).is_some()
}

/// Room for a message, when there is; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is the client or the server of `c`, as the message's direction says;
/// `interface` is that of `c`, and has the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_send(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    if (*c).word.flags & LEAVES != 0 && leaves_here(c, interface, message) {
        // The process begins with what it is bound to now.
        rebinding::leave(w, c);
        ready(w, p);
        return null_mut();
    }
    if is_usual(c, interface, message) {
        return payload(c);
    }
    match sender(interface, message) {
        Side::Client => send_as_client(w, p, c, interface, message, location),
        Side::Server => {
            let room = send_as_server(w, p, c, interface, message, location);
            if room.is_null() { room } else { unless_slice_is_over(w, p, room) }
        }
    }
}

/// Room for a service's answer, where it cannot have to wait; null: a fault.
///
/// # Safety
/// As for [`ds_send`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_room(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    if is_usual(c, interface, message) {
        return payload(c);
    }
    send_as_server(w, p, c, interface, message, location)
}

/// Room for what will be dropped, but not before others have run if it is their turn: whoever only sends such messages
/// never waits, and generated code doesn't look at the time slice.
unsafe fn unless_slice_is_over(w: *mut Worker, p: *mut Process, room: *mut u64) -> *mut u64 {
    if (*w).attention.load(core::sync::atomic::Ordering::Relaxed) == 0 {
        return room;
    }
    ready(w, p);
    null_mut()
}

#[cold]
unsafe fn send_as_client(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    let word = (*c).word;
    if word.flags & GONE != 0 {
        // Who says something hasn't listened to what had come before.
        drop_buffered(w, c, interface);
        if begins_anew(c, interface, message) {
            (*c).word = START;
            restart_service(w, c);
            return payload(c);
        }
        return unless_slice_is_over(w, p, payload(c));
    }
    if word.tag != 0 && word.flags & FOR_CLIENT != 0 {
        violation(w, p, c, interface, Act::Send(message), location);
        return null_mut();
    }
    if word.flags & SERVICE_ENDED != 0 {
        if next(interface, 0, message).is_none() {
            violation(w, p, c, interface, Act::Send(message), location);
            return null_mut();
        }
        let instance = (*c).process.instance;
        if instance.is_null() {
            // The server has been deleted: without a message left to read this is an unconnected interface.
            let slot = (*c).process.next as *mut RequiredSlot;
            (*slot).communication = null_mut();
            free(w, c);
            ready(w, p);
        } else if (*instance).live & CLOSED != 0 {
            connection::wait(w, p);
        } else if word.flags & CALLS != 0 && word.tag == 0 {
            (*c).word = CommunicationWord { flags: CALLS, ..START };
            restart_parked(w, c);
            return payload(c);
        } else {
            (*c).word = START;
            restart_service(w, c);
            return payload(c);
        }
        return null_mut();
    }
    if word.flags & !(LEAVES | STREAMS) == CALLS
        && word.tag == 0
        && next(interface, word.state, message).is_some()
    {
        return payload(c);
    }
    if word.flags & ENDING != 0 && word.tag == 0 {
        // It waits there for the end of the service, which it follows.
        let follows = next(interface, word.state, message).is_some() && next(interface, 0, message).is_some();
        if follows && word.flags & !(LEAVES | STREAMS) == ENDING {
            return payload(c);
        }
    }
    if next(interface, word.state, message).is_none()
        && !(may_end(interface, word.state) && next(interface, 0, message).is_some())
    {
        violation(w, p, c, interface, Act::Send(message), location);
        return null_mut();
    }
    // The buffer is full, or only the next communication can begin with this message.
    wait(c, p, ROOM);
    null_mut()
}

/// Whether a client that is to leave may do so instead of sending this: it begins a communication, and goes on with no
/// other.
unsafe fn leaves_here(c: *mut Communication, interface: &Interface, message: u32) -> bool {
    let CommunicationWord { state, flags, .. } = (*c).word;
    let begun = next(interface, 0, message);
    let goes_on = next(interface, state, message);
    sender(interface, message) == Side::Client
        && flags & FOR_CLIENT == 0
        && begun.is_some()
        && (flags & GONE != 0 || may_end(interface, state) && (goes_on.is_none() || goes_on == begun))
}

/// Whether a message begins another communication where a binding has lost the one before.
unsafe fn begins_anew(c: *mut Communication, interface: &Interface, message: u32) -> bool {
    let instance = (*c).process.instance;
    next(interface, 0, message).is_some() && !instance.is_null() && (*instance).live & CLOSED == 0
}

#[cold]
unsafe fn send_as_server(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    let word = (*c).word;
    if word.flags & ENDING != 0 {
        keep(w, c, interface);
        return payload(c);
    }
    if word.flags & GONE != 0 {
        if (*p).lock == LOCK_NONE && body_of(p).native.is_null() {
            stop(w, p);
            return null_mut();
        }
        // Nobody will read it, and a block that has the lock is finished. Nor has this one listened.
        drop_buffered(w, c, interface);
        return payload(c);
    }
    if next(interface, word.state, message).is_none() || (word.tag != 0 && word.flags & FOR_CLIENT == 0) {
        violation(w, p, c, interface, Act::Send(message), location);
        return null_mut();
    }
    if word.tag == 0 {
        // The client has closed: nobody will read it.
        return payload(c);
    }
    wait(c, p, ROOM);
    null_mut()
}

/// Keeps what is in the buffer while something else is put there that will be dropped.
unsafe fn keep(w: *mut Worker, c: *mut Communication, interface: &Interface) {
    let kept = &mut (*home(w)).kept_words;
    kept.clear();
    kept.extend_from_slice(slice::from_raw_parts(payload(c), interface.payload_words));
}

/// A service in its FINALLY has said something: nobody hears it, and what was in the buffer is there again.
#[cold]
unsafe fn drop_said(w: *mut Worker, c: *mut Communication, interface: &Interface, message: u32) {
    drop_words(w, payload(c), interface, message);
    let kept = &(*home(w)).kept_words;
    payload(c).copy_from_nonoverlapping(kept.as_ptr(), kept.len());
}

/// The payload is there.
///
/// # Safety
/// On the home worker's thread; the words that [`ds_send`] answered hold the message's parameters, which the buffer
/// now owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sent(w: *mut Worker, c: *mut Communication, interface: &Interface, message: u32) {
    (*w).messages += 1;
    let word = &mut (*c).word;
    let from_client = sender(interface, message) == Side::Client;
    if word.flags & ENDING != 0 && !from_client {
        return drop_said(w, c, interface, message);
    }
    if let Some(next) = next(interface, word.state, message) {
        word.seen = word.state;
        word.state = next;
    }
    if word.flags & (GONE | CLIENT_CLOSED) != 0 {
        // Nobody will read it. (A client that has closed doesn't send.)
        word.seen = word.state;
        drop_words(w, payload(c), interface, message);
        return;
    }
    word.tag = message as u16 + 1;
    if !from_client {
        word.flags |= FOR_CLIENT;
    } else if word.flags & CALLS != 0 {
        return call(w, c);
    }
    if word.flags & STREAMS != 0 && at_once::push(w, c, (*c).waiter) {
        return;
    }
    wake(w, c);
}

/// A native service is parked, and its client has sent it a request: it runs within the client's process. If the time
/// slice is over its process goes on in its turn, so that whoever makes one call after the other leaves time for
/// others.
unsafe fn call(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    if (*p).status == PLATFORM && (*w).attention.load(core::sync::atomic::Ordering::Relaxed) == 0 {
        (*p).status = CALLED;
        return run_native(w, p);
    }
    (*c).word.flags &= !CALLS;
    if (*p).status == PLATFORM {
        wake_parked(w, p);
    }
}
