//! Sending: room for a message, and what happens once it is there.

use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::Ordering::Relaxed;

use drystone_component::{Interface, Side};

use super::moving::at_once;
use super::{Act, connection, drop_buffered, drop_words, free, payload, rebinding, violation, wait, wake};
use crate::failure::stop;
use crate::home::team;
use crate::home::team::Answer;
use crate::instance::body_of;
use crate::instance::natives::run_native;
use crate::instance::natives::wake_parked;
use crate::layout::*;
use crate::process::{restart_parked, restart_service};
use crate::protocol::{may_end, next, sender};
use crate::queue::ready;
use crate::visiting::{answer, leave_for};

/// Whether a message may be put into the buffer without another look: it is empty, neither side has closed, and the
/// protocol allows it.
#[inline(always)]
fn is_usual(word: CommunicationWord, interface: &Interface, message: u32) -> bool {
    word.tag == 0
        && word.flags & !(LEAVES | STREAMS | SELECTED) == 0
        && next(interface, word.state, message).is_some()
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
    // SAFETY: `p` is a side of `c`, so `c` is live; it leaves wherever this is null.
    unsafe {
        let word = (*c).word;
        if word.flags & APART != 0 {
            leave_for(w, p, c);
            return null_mut();
        }
        if word.flags & LEAVES != 0 && leaves_here(word, interface, message) {
            // The process begins with what it is bound to now.
            rebinding::leave(w, c);
            ready(w, p);
            return null_mut();
        }
        if is_usual(word, interface, message) {
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
    // SAFETY: as in `ds_send`.
    unsafe {
        let mut word = (*c).word;
        // The client of a lent team's service waits for the answer, and doesn't look into the buffer.
        word.flags &= !APART;
        if is_usual(word, interface, message) {
            return payload(c);
        }
        send_as_server(w, p, c, interface, message, location)
    }
}

/// Room for a message that will be dropped; null if the time slice is over. A process that sends only such messages
/// never waits, and generated code doesn't look at the time slice there.
///
/// # Safety
/// `p` runs on `w`, the home worker, and leaves if this is null.
unsafe fn unless_slice_is_over(w: *mut Worker, p: *mut Process, room: *mut u64) -> *mut u64 {
    // SAFETY: the process that runs stands in no queue.
    unsafe {
        if (*w).attention.load(Relaxed) == 0 {
            return room;
        }
        ready(w, p);
    }
    null_mut()
}

/// # Safety
/// As for [`ds_send`]; the client sends the message.
#[cold]
unsafe fn send_as_client(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    // SAFETY: `p` is the client of `c`, and leaves wherever this is null.
    unsafe {
        let word = (*c).word;
        let goes_on = || next(interface, word.state, message).is_some();
        let may_begin = || next(interface, 0, message).is_some();
        if word.flags & GONE != 0 {
            // By sending, it gives up what it has not received.
            drop_buffered(w, c, interface);
            let instance = (*c).process.instance;
            if may_begin() && !instance.is_null() && (*instance).live & CLOSED == 0 {
                (*c).word = CommunicationWord::START;
                restart_service(w, c);
                return payload(c);
            }
            return unless_slice_is_over(w, p, payload(c));
        }
        if word.holds_for(Side::Client) {
            violation(w, p, c, interface, Act::Send(message), location);
            return null_mut();
        }
        if word.flags & SERVICE_ENDED != 0 {
            if may_begin() {
                return begin_anew(w, p, c);
            }
            violation(w, p, c, interface, Act::Send(message), location);
            return null_mut();
        }
        let has_room = match word.flags & !(LEAVES | STREAMS | SELECTED) {
            CALLS => word.tag == 0 && goes_on(),
            // The service is in its FINALLY: the message begins what follows on that.
            ENDING => word.tag == 0 && goes_on() && may_begin(),
            _ => false,
        };
        if has_room {
            return payload(c);
        }
        let ends_first = || may_end(interface, word.state) && may_begin();
        if !goes_on() && !ends_first() {
            violation(w, p, c, interface, Act::Send(message), location);
            return null_mut();
        }
        // The buffer is full, or only the next communication can begin with this message.
        wait(c, p, ROOM);
    }
    null_mut()
}

/// The service has ended, and the client begins the next communication: room, if that can be at once.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is the client of `c`; it leaves if this is null.
unsafe fn begin_anew(w: *mut Worker, p: *mut Process, c: *mut Communication) -> *mut u64 {
    // SAFETY: `c` is live; without an instance it is detached, and its `next` is its client's slot.
    unsafe {
        let CommunicationWord { tag, flags, .. } = (*c).word;
        let instance = (*c).process.instance;
        if instance.is_null() {
            // The server has been deleted: without a message left to read the interface is unconnected.
            let slot = (*c).process.next as *mut RequiredSlot;
            (*slot).communication = null_mut();
            free(w, c);
            ready(w, p);
            return null_mut();
        }
        if (*instance).live & CLOSED != 0 {
            connection::wait(w, p);
            return null_mut();
        }
        if flags & CALLS != 0 && tag == 0 {
            (*c).word = CommunicationWord { flags: CALLS, ..CommunicationWord::START };
            restart_parked(w, c);
        } else {
            (*c).word = CommunicationWord::START;
            restart_service(w, c);
        }
    }
    payload(c)
}

/// Whether a client that is to leave may do so instead of sending this: the message begins a communication, and goes
/// on with no other.
fn leaves_here(word: CommunicationWord, interface: &Interface, message: u32) -> bool {
    let CommunicationWord { state, flags, .. } = word;
    let begun = next(interface, 0, message);
    let goes_on = next(interface, state, message);
    sender(interface, message) == Side::Client
        && flags & FOR_CLIENT == 0
        && begun.is_some()
        && (flags & GONE != 0 || may_end(interface, state) && (goes_on.is_none() || goes_on == begun))
}

/// # Safety
/// As for [`ds_send`]; the server sends the message.
#[cold]
unsafe fn send_as_server(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    message: u32,
    location: u32,
) -> *mut u64 {
    // SAFETY: `p` is the server of `c`, and leaves wherever this is null.
    unsafe {
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
            // A block that has the lock is finished, though nobody receives what it sends. By sending, it gives up what
            // it has not received.
            drop_buffered(w, c, interface);
            return payload(c);
        }
        if next(interface, word.state, message).is_none() || word.is_unread() {
            violation(w, p, c, interface, Act::Send(message), location);
            return null_mut();
        }
        if word.tag == 0 {
            // The client has closed: the message will be dropped.
            return payload(c);
        }
        wait(c, p, ROOM);
    }
    null_mut()
}

/// Keeps what is in the buffer while a message is put there that will be dropped.
///
/// # Safety
/// At home; `c` is live and of this interface.
unsafe fn keep(w: *mut Worker, c: *mut Communication, interface: &Interface) {
    // SAFETY: the buffer has as many words; nobody else looks at the home's.
    unsafe {
        let kept = &mut (*team(w)).communications.kept;
        kept.clear();
        kept.extend_from_slice(slice::from_raw_parts(payload(c), interface.payload_words));
    }
}

/// A service in its FINALLY has sent a message, which is dropped: what was in the buffer is there again.
///
/// # Safety
/// As for [`ds_sent`], after [`keep`].
#[cold]
unsafe fn drop_said(w: *mut Worker, c: *mut Communication, interface: &Interface, message: u32) {
    // SAFETY: the buffer owns the message, and has as many words as were kept of it.
    unsafe {
        drop_words(w, payload(c), interface, message);
        let kept = &(*team(w)).communications.kept;
        payload(c).copy_from_nonoverlapping(kept.as_ptr(), kept.len());
    }
}

/// The payload is there.
///
/// # Safety
/// At home; the words that [`ds_send`] answered hold the message's parameters, which the buffer now owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sent(w: *mut Worker, c: *mut Communication, interface: &Interface, message: u32) {
    // SAFETY: `c` is live, for the process that runs is one of its sides.
    unsafe {
        let word = &mut (*c).word;
        if word.flags & APART != 0 {
            return answer(w, Answer { communication: c, interface, message });
        }
        (*w).messages += 1;
        let from_client = sender(interface, message) == Side::Client;
        if word.flags & ENDING != 0 && !from_client {
            return drop_said(w, c, interface, message);
        }
        if let Some(next) = next(interface, word.state, message) {
            word.seen = word.state;
            word.state = next;
        }
        if word.flags & (GONE | CLIENT_CLOSED) != 0 {
            // Nobody will receive it. (A client that has closed doesn't send.)
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
}

/// A native service is parked, and its client has sent it a request: it runs within the client's process. If the time
/// slice is over, the service's process goes on in its turn, so that a client of many calls leaves time for others.
///
/// # Safety
/// At home; `c` is live, and its service native.
unsafe fn call(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    // SAFETY: a communication is its service's process.
    unsafe {
        if (*p).status == PLATFORM && (*w).attention.load(Relaxed) == 0 {
            (*p).status = CALLED;
            return run_native(w, p);
        }
        (*c).word.flags &= !CALLS;
        if (*p).status == PLATFORM {
            wake_parked(w, p);
        }
    }
}
