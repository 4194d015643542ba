//! Communications: one message's room between a client and its service, watched by the protocol's state machine
//! (paper 004, section 3.1).
//!
//! What a side sees: while the buffer is empty, or holds a message of its own, the state is `state`; while it
//! holds a message for this side, the state is `seen`. Whoever has to wait becomes the one `waiter`, is woken by
//! whatever changes, and asks again.
//!
//! # Why this is sound
//! A communication is one block with its service process. It lives until both the service has ended and the client
//! has let go, whichever comes last; only generated code of these two, and the closing and killing of their
//! components, come here, on the home worker. See also the process module.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod connection;

use core::ptr::null_mut;

use drystone_component::{Interface, Side, Type};

use crate::failure::violation;
use crate::home::home;
use crate::instance::{self, body_of, rare_of};
use crate::layout::*;
use crate::process::restart_service;
use crate::queue::ready;
use crate::worker::heap_of;

const FALSE: u32 = 0;
const TRUE: u32 = 1;
const LEAVE: u32 = 2;

/// [`ds_test`]: any message.
pub const ANY: i32 = -1;
/// [`ds_test`]: the other side has closed.
pub const FINISH: i32 = -2;

/// The communication's first state, with an empty buffer.
const START: CommunicationWord = CommunicationWord { state: 0, seen: 0, tag: 0, flags: 0 };

#[inline]
fn next(interface: &Interface, state: u16, message: u32) -> Option<u16> {
    // SAFETY: states and messages have the numbers that the checker gave them.
    let next =
        unsafe { *interface.next.first.add(state as usize * interface.messages.length + message as usize) };
    (next != Interface::NONE).then_some(next)
}

#[inline]
fn may_end(interface: &Interface, state: u16) -> bool {
    interface.state(state) & Interface::MAY_END != 0
}

#[inline]
unsafe fn sender(interface: &Interface, message: u32) -> Side {
    (*interface.messages.first.add(message as usize)).sender
}

#[inline]
unsafe fn wait(c: *mut Communication, p: *mut Process, status: u8) {
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

/// Whether a message may be put into the buffer without another look: it is empty, nobody has closed, and the protocol
/// allows it.
#[inline(always)]
unsafe fn is_usual(c: *mut Communication, interface: &Interface, message: u32) -> bool {
    let word = (*c).word;
    word.tag == 0 && word.flags == 0 && next(interface, word.state, message).is_some()
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
        return unless_slice_is_over(w, p, payload(c));
    }
    if word.tag != 0 && word.flags & FOR_CLIENT != 0 {
        violation(w, p, interface, location);
        return null_mut();
    }
    if word.flags & SERVICE_ENDED != 0 {
        if next(interface, 0, message).is_none() {
            violation(w, p, interface, location);
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
        } else {
            (*c).word = START;
            restart_service(w, c);
            return payload(c);
        }
        return null_mut();
    }
    if next(interface, word.state, message).is_none()
        && !(may_end(interface, word.state) && next(interface, 0, message).is_some())
    {
        violation(w, p, interface, location);
        return null_mut();
    }
    // The buffer is full, or only the next communication can begin with this message.
    wait(c, p, ROOM);
    null_mut()
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
    if next(interface, word.state, message).is_none() || (word.tag != 0 && word.flags & FOR_CLIENT == 0) {
        violation(w, p, interface, location);
        return null_mut();
    }
    if word.tag == 0 {
        // The client has closed: nobody will read it.
        return payload(c);
    }
    wait(c, p, ROOM);
    null_mut()
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
    }
    wake(w, c);
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
    let word = &mut (*c).word;
    if word.tag != 0 {
        let message = word.tag as u32 - 1;
        word.tag = 0;
        word.seen = word.state;
        word.flags &= !FOR_CLIENT;
        drop_words(w, payload(c), interface, message);
    }
}

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
        Side::Client => (word.flags & FOR_CLIENT == 0, word.flags & (CLIENT_CLOSED | GONE) != 0),
    };
    if word.tag != 0 && mine {
        if word.tag as u32 == message + 1 {
            return payload(c);
        }
    } else if !closed && next(interface, word.state, message).is_some() {
        wait(c, p, NEWS);
        return null_mut();
    }
    violation(w, p, interface, location);
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
        (*c).waiter = null_mut();
        ready(w, waiter);
    }
}

/// What a test answers now: `LEAVE` if it isn't known.
#[inline]
unsafe fn answer(c: *mut Communication, side: u32, pattern: i32) -> u32 {
    let word = (*c).word;
    let (mine, closed) = if side == Side::Client as u32 {
        (word.flags & FOR_CLIENT != 0, word.flags & (SERVICE_ENDED | GONE) != 0)
    } else {
        (word.flags & FOR_CLIENT == 0, word.flags & (CLIENT_CLOSED | GONE) != 0)
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

/// What has become of a service whose body has run to its end.
pub enum Finished {
    /// Its protocol may not end here.
    Failed,
    /// The process has ended.
    Ended,
    /// The same, and this one waits for it, to delete its component.
    Left(*mut Process),
}

/// A service's body has run to its end.
pub unsafe fn finish(
    w: *mut Worker,
    c: *mut Communication,
    interface: &Interface,
    location: u32,
) -> Finished {
    let p = c.cast::<Process>();
    let word = (*c).word;
    if word.tag != 0 && word.flags & FOR_CLIENT == 0 {
        // What it leaves unreceived begins the next communication.
        let next = next(interface, 0, word.tag as u32 - 1);
        let Some(state) = next.filter(|_| may_end(interface, word.seen)) else {
            violation(w, p, interface, location);
            return Finished::Failed;
        };
        (*c).word.seen = 0;
        (*c).word.state = state;
        restart_service(w, c);
        return Finished::Ended;
    }
    if !may_end(interface, word.state) {
        violation(w, p, interface, location);
        return Finished::Failed;
    }
    if word.flags & CLIENT_CLOSED == 0 {
        (*c).word.flags |= SERVICE_ENDED;
        wake(w, c);
        return Finished::Ended;
    }
    let deleting = (*c).waiter;
    if deleting.is_null() {
        (*rare_of((*p).instance)).orphans.remove(c as usize);
    }
    free(w, c);
    if deleting.is_null() { Finished::Ended } else { Finished::Left(deleting) }
}

/// Whether the client may close now.
pub unsafe fn may_close(c: *mut Communication) -> bool {
    may_close_as(c, interface_of(c))
}

/// The same, where its interface is at hand.
#[inline]
pub unsafe fn may_close_as(c: *mut Communication, interface: &Interface) -> bool {
    let word = (*c).word;
    let state = if word.flags & FOR_CLIENT != 0 { word.seen } else { word.state };
    word.flags & GONE != 0 || may_end(interface, state)
}

/// The client lets go.
pub unsafe fn close(w: *mut Worker, c: *mut Communication) {
    if (*c).word.flags & SERVICE_ENDED != 0 {
        drop_buffered(w, c, interface_of(c));
        wake(w, c);
        return free(w, c);
    }
    let_go(w, c);
    (*rare_of((*c).process.instance)).orphans.insert(c as usize);
}

/// The client of a service that runs lets go, and sees to it that somebody knows the service still.
#[inline]
pub unsafe fn let_go(w: *mut Worker, c: *mut Communication) {
    if (*c).word.flags & FOR_CLIENT != 0 {
        drop_buffered(w, c, interface_of(c));
    }
    (*c).word.flags |= CLIENT_CLOSED;
    wake(w, c);
    let p = c.cast::<Process>();
    if (*p).status == PLATFORM {
        (*(*home(w)).platform).forget(p);
        ready(w, p);
    }
}

/// The server is no more, and no service runs: what it has sent can still be read. `slot` is the client's; null if
/// that is the holder of a dead component.
pub unsafe fn detach(c: *mut Communication, slot: *mut RequiredSlot) {
    let p = c.cast::<Process>();
    let body = body_of(p);
    (*p).score = body.size;
    (*p).resume = body.interface.cast();
    (*p).next = slot.cast();
    (*p).instance = null_mut();
}

/// The interface, of a detached communication too.
pub unsafe fn interface_of(c: *mut Communication) -> &'static Interface {
    let p = c.cast::<Process>();
    &*if (*p).instance.is_null() { (*p).resume.cast() } else { body_of(p).interface }
}

/// A communication whose service has been ended by a fault before it began. Null: no memory.
pub unsafe fn make_gone(w: *mut Worker, interface: &Interface) -> *mut Communication {
    let size = PAYLOAD + 8 * interface.payload_words;
    let c = (*heap_of(w)).allocate_zeroed(size) as *mut Communication;
    if !c.is_null() {
        (*c).process.score = size as u32;
        (*c).process.resume = (&raw const *interface).cast();
        (*c).word.flags = GONE | SERVICE_ENDED;
    }
    c
}

/// Frees the block of an ended service whose client has let go.
pub unsafe fn free(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let size = if (*p).instance.is_null() { (*p).score } else { body_of(p).size };
    (*heap_of(w)).free(c.cast(), size as usize);
}
