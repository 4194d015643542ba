//! How communications end, from either side.

use core::ptr::null_mut;

use drystone_component::{Interface, Side};

use super::{Act, drop_buffered, free, interface_of, more, violation, wake};
use crate::home::{home, team};
use crate::instance::natives::wake_parked;
use crate::instance::{body_of, rare_of};
use crate::layout::*;
use crate::process::restart_service;
use crate::protocol::may_end;
use crate::visiting::leave_for;
use crate::worker::heap_of;

/// What has become of a service whose body has run to its end.
pub enum Finished {
    /// Its protocol may not end here.
    Failed,
    /// The process has ended.
    Ended,
    /// The process has ended; this one waits for that, to delete its component.
    Left(*mut Process),
}

/// A service's body has run to its end.
///
/// # Safety
/// At home; the service of `c` runs, and leaves for good. The interface is its own.
pub unsafe fn finish(
    w: *mut Worker,
    c: *mut Communication,
    interface: &Interface,
    location: u32,
) -> Finished {
    // SAFETY: `c` is live, for its service runs.
    unsafe {
        if is_refused(w, c, interface, location) {
            return Finished::Failed;
        }
        let word = (*c).word;
        if word.is_unread() {
            if word.flags & GONE == 0
                && let Some(state) = more::after_beginning(c, interface)
            {
                more::begin(c, interface);
                (*c).word = CommunicationWord { state, seen: 0, flags: word.flags & !ENDING, ..word };
                restart_service(w, c);
                return Finished::Ended;
            }
            drop_buffered(w, c, interface);
        }
        over(w, c, SERVICE_ENDED)
    }
}

/// Whether a service may not end now, which then is its error.
///
/// # Safety
/// At home; the service of `c` runs, and leaves if it is refused. The interface is its own.
#[inline(always)]
unsafe fn is_refused(w: *mut Worker, c: *mut Communication, interface: &Interface, location: u32) -> bool {
    // SAFETY: `c` is live, for its service runs.
    unsafe {
        let is_refused = !may_finish(c, interface);
        if is_refused {
            violation(w, c.cast(), c, interface, Act::End(Side::Server), location);
        }
        is_refused
    }
}

/// Whether the service may end now: what it leaves unreceived begins the next communication. Where its client is lost
/// it may end anywhere.
///
/// # Safety
/// `c` is live and of this interface.
#[inline(always)]
unsafe fn may_finish(c: *mut Communication, interface: &Interface) -> bool {
    // SAFETY: `c` is live.
    unsafe {
        let word = (*c).word;
        let may = match word.is_unread() {
            true => may_end(interface, word.seen) && more::after_beginning(c, interface).is_some(),
            false => may_end(interface, word.state),
        };
        may || word.flags & GONE != 0
    }
}

/// The statements of a service have come to their end, and its FINALLY begins.
///
/// # Safety
/// `p` runs on `w`, the home worker, and is a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_ending(w: *mut Worker, p: *mut Process, location: u32) -> Status {
    let c = p.cast::<Communication>();
    // SAFETY: a service's process is its communication.
    unsafe {
        if (*c).word.flags & APART != 0 {
            leave_for(w, p, c);
            return Status::Leave;
        }
        if is_refused(w, c, interface_of(c), location) {
            return Status::Leave;
        }
        (*c).word.flags |= ENDING;
    }
    Status::Done
}

/// A binding has lost what serves its client: the service has ended, wherever it was. What came before can still be
/// received; sends are dropped, unless they begin the protocol anew.
///
/// # Safety
/// At home; the service of `c` runs, and leaves for good.
pub unsafe fn lose(w: *mut Worker, c: *mut Communication) -> Finished {
    // SAFETY: `c` is live, for its service runs.
    unsafe {
        if (*c).word.flags & FOR_CLIENT == 0 {
            drop_buffered(w, c, interface_of(c));
        }
        over(w, c, SERVICE_ENDED | GONE)
    }
}

/// No service runs any more.
///
/// # Safety
/// At home; `c` is live, and its instance alive. If the client has let go, nobody uses `c` afterwards.
#[inline(always)]
unsafe fn over(w: *mut Worker, c: *mut Communication, flags: u16) -> Finished {
    // SAFETY: `c` is live until it is freed, which is last.
    unsafe {
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
}

/// Whether the client may close now.
///
/// # Safety
/// `c` is live.
pub unsafe fn may_close(c: *mut Communication) -> bool {
    // SAFETY: `c` is live.
    unsafe { (*c).word.may_close(interface_of(c)) }
}

/// The client lets go.
///
/// # Safety
/// At home; `c` is live, and its client uses it no more. If its service runs, the service's instance is alive.
pub unsafe fn close(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live until it is freed, which is last.
    unsafe {
        stay(w, c);
        if (*c).word.flags & SERVICE_ENDED != 0 {
            drop_buffered(w, c, interface_of(c));
            wake(w, c);
            return free(w, c);
        }
        let_go(w, c);
        (*rare_of(w, (*c).process.instance)).orphans.insert(c as usize);
    }
}

/// The client of a service that runs lets go.
///
/// # Safety
/// At home; `c` is live, and its client uses it no more. Something else leads to it from now on, until its service has
/// ended: its instance's orphans, or a process that deletes the instance.
#[inline(always)]
pub unsafe fn let_go(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live, and its service's process.
    unsafe {
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
}

/// The client is lost, wherever it was: its service goes on. What came before can still be received.
///
/// # Safety
/// At home; `c` is live, and nothing leads to it any more but the service, if that runs.
pub unsafe fn lose_client(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live, and its client uses it no more.
    unsafe {
        if (*c).waiter != c.cast() {
            // It was the client, who waits no more.
            (*c).waiter = null_mut();
        }
        (*c).word.flags |= GONE;
        close(w, c);
    }
}

/// The server is no more, and no service runs: what it has sent can still be read. `slot` is the client's; null if
/// that is the holder of a dead component.
///
/// # Safety
/// At home; `c` is live, and the block of its instance still there. The slot outlives `c`.
pub unsafe fn detach(w: *mut Worker, c: *mut Communication, slot: *mut RequiredSlot) {
    // SAFETY: no service runs in the block, so its head is free for what is needed later.
    unsafe {
        stay(w, c);
        let p = c.cast::<Process>();
        let body = body_of(p);
        (*p).score = body.size;
        (*p).resume = body.interface.cast();
        (*p).next = slot.cast();
        (*p).instance = null_mut();
    }
}

/// A client that is to be bound to another server stays where it is: its communication has ended before it could
/// leave, or it is to leave for somewhere else.
///
/// # Safety
/// At home; `c` is live.
pub unsafe fn stay(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live; the home's data are not used while the change is told.
    unsafe {
        if (*c).word.flags & LEAVES != 0 {
            (*c).word.flags &= !LEAVES;
            if let Some(leaving) = (*team(w)).communications.leaving.remove(&c) {
                (leaving.change)(w, None);
            }
        }
    }
}

/// A communication whose service has been ended by a fault before it began. Null: no memory.
///
/// # Safety
/// At home; the interface lives for ever.
pub unsafe fn make_gone(w: *mut Worker, interface: &Interface) -> *mut Communication {
    let size = PAYLOAD + 8 * interface.buffer();
    // SAFETY: the block is new and zeroed, and large enough for its head.
    unsafe {
        let c = (*heap_of(w)).allocate_zeroed(size) as *mut Communication;
        if !c.is_null() {
            (*c).process.score = size as u32;
            (*c).process.resume = (&raw const *interface).cast();
            (*c).word.flags = GONE | SERVICE_ENDED;
        }
        c
    }
}
