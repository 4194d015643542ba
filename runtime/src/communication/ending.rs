//! How communications end, from either side.
//!
//! # Why this is sound
//! See the communication module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use drystone_component::{Interface, Side};

use super::{Act, drop_buffered, free, interface_of, rebinding, violation, wake};
use crate::home::home;
use crate::instance::natives::wake_parked;
use crate::instance::{body_of, rare_of};
use crate::layout::*;
use crate::process::restart_service;
use crate::protocol::{may_end, next};
use crate::worker::heap_of;

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
    if is_refused(w, c, interface, location) {
        return Finished::Failed;
    }
    let word = (*c).word;
    if let Some(state) = begun_by_unread(word, interface).filter(|_| word.flags & GONE == 0) {
        (*c).word = CommunicationWord { state, seen: 0, flags: word.flags & !ENDING, ..word };
        restart_service(w, c);
        return Finished::Ended;
    }
    if is_unread(word) {
        drop_buffered(w, c, interface);
    }
    over(w, c, SERVICE_ENDED)
}

/// Whether a service leaves a message unreceived if it ends now.
fn is_unread(word: CommunicationWord) -> bool {
    word.tag != 0 && word.flags & FOR_CLIENT == 0
}

/// What a service leaves unreceived begins the next communication: the state after it. `None`: there is nothing, or it
/// can't.
fn begun_by_unread(word: CommunicationWord, interface: &Interface) -> Option<u16> {
    if is_unread(word) { next(interface, 0, word.tag as u32 - 1) } else { None }
}

/// Whether a service may not end now, which is its error then. One whose client is lost may anywhere.
#[inline(always)]
unsafe fn is_refused(w: *mut Worker, c: *mut Communication, interface: &Interface, location: u32) -> bool {
    let word = (*c).word;
    let may_end = match is_unread(word) {
        true => may_end(interface, word.seen) && begun_by_unread(word, interface).is_some(),
        false => may_end(interface, word.state),
    };
    let is_refused = !may_end && word.flags & GONE == 0;
    if is_refused {
        violation(w, c.cast(), c, interface, Act::End(Side::Server), location);
    }
    is_refused
}

/// The statements of a service have come to their end, and its FINALLY begins.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_ending(w: *mut Worker, p: *mut Process, location: u32) -> Status {
    let c = p.cast::<Communication>();
    if is_refused(w, c, interface_of(c), location) {
        return Status::Leave;
    }
    (*c).word.flags |= ENDING;
    Status::Done
}

/// A binding has lost what serves its client: the service has ended, wherever it was. What came before can still be
/// received; sends are dropped, unless they begin the protocol anew.
pub unsafe fn lose(w: *mut Worker, c: *mut Communication) -> Finished {
    if (*c).word.flags & FOR_CLIENT == 0 {
        drop_buffered(w, c, interface_of(c));
    }
    over(w, c, SERVICE_ENDED | GONE)
}

/// No service runs any more.
#[inline(always)]
unsafe fn over(w: *mut Worker, c: *mut Communication, flags: u16) -> Finished {
    if (*c).word.flags & CLIENT_CLOSED == 0 {
        (*c).word.flags = (*c).word.flags & !ENDING | flags;
        wake(w, c);
        return Finished::Ended;
    }
    let deleting = (*c).waiter;
    if deleting.is_null() {
        (*rare_of(w, (*c).process.instance)).orphans.remove(c as usize);
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
    if (*c).word.flags & LEAVES != 0 {
        rebinding::forget(w, c);
    }
    if (*c).word.flags & SERVICE_ENDED != 0 {
        drop_buffered(w, c, interface_of(c));
        wake(w, c);
        return free(w, c);
    }
    let_go(w, c);
    (*rare_of(w, (*c).process.instance)).orphans.insert(c as usize);
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
        wake_parked(w, p);
    }
}

/// The client is lost, wherever it was: its service goes on. What came before can still be received.
///
/// # Safety
/// Nobody leads to the communication any more but the service, if that runs.
pub unsafe fn lose_client(w: *mut Worker, c: *mut Communication) {
    if (*c).waiter != c.cast() {
        // It was the client, who waits no more.
        (*c).waiter = null_mut();
    }
    (*c).word.flags |= GONE;
    close(w, c);
}

/// The server is no more, and no service runs: what it has sent can still be read. `slot` is the client's; null if
/// that is the holder of a dead component.
pub unsafe fn detach(w: *mut Worker, c: *mut Communication, slot: *mut RequiredSlot) {
    if (*c).word.flags & LEAVES != 0 {
        rebinding::forget(w, c);
    }
    let p = c.cast::<Process>();
    let body = body_of(p);
    (*p).score = body.size;
    (*p).resume = body.interface.cast();
    (*p).next = slot.cast();
    (*p).instance = null_mut();
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
