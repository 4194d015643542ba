//! The messages of a buffer behind the first, where an interface's capacity is more than 1 (*structured concurrent
//! programs*, section 3.1: the buffer is a circular list, and its capacity may vary).
//!
//! A receiver finds the first message where it always is. Behind it are a [`Ring`] and its places, whose number is a
//! power of two. A place has one word with the tag and the state in which the message was sent, as the communication's
//! word has them, then the message's words. All messages go one way, because the other side may send only after it has
//! received them all. Only generated code puts messages there; while any is there, the flag [`MORE`] is set.

use drystone_component::Interface;

use super::{drop_words, payload};
use crate::layout::*;
use crate::protocol::next;

/// The first message of the buffer has been taken: the next one is the first.
///
/// # Safety
/// At home; `c` is live and of this interface, and the first message's words own nothing any more.
pub unsafe fn advance(c: *mut Communication, interface: &Interface) {
    // SAFETY: the buffer has room for a message, a ring and its places; a place that is taken holds a message.
    unsafe {
        let word = &mut (*c).word;
        if word.flags & MORE == 0 {
            return word.empty();
        }
        let ring = ring(c, interface);
        let from = place(ring, interface, 0);
        payload(c).copy_from_nonoverlapping(from.add(1), interface.payload_words);
        (word.seen, word.tag) = Ring::sent(*from);
        (*ring).first = (*ring).first.wrapping_add(1);
        if (*ring).first == (*ring).next {
            word.flags &= !MORE;
        }
    }
}

/// Each message in the buffer, the first one too: its number and its words.
///
/// # Safety
/// `c` is live and of this interface; `visit` leaves the buffer as it is, but for the words.
pub unsafe fn each(c: *mut Communication, interface: &Interface, mut visit: impl FnMut(u32, *mut u64)) {
    // SAFETY: as in `advance`.
    unsafe {
        if (*c).word.tag != 0 {
            visit(u32::from((*c).word.tag) - 1, payload(c));
        }
        for index in 0..count(c, interface) {
            let place = place(ring(c, interface), interface, index);
            visit(u32::from(Ring::sent(*place).1) - 1, place.add(1));
        }
    }
}

/// The state after all messages in the buffer, if they begin a communication.
///
/// # Safety
/// `c` is live and of this interface.
pub unsafe fn after_beginning(c: *mut Communication, interface: &Interface) -> Option<u16> {
    let mut state = Some(0);
    // SAFETY: as this function's.
    unsafe {
        each(c, interface, |message, _| state = state.and_then(|it| next(interface, it, message)));
    }
    state
}

/// The messages in the buffer begin a communication: says so in each place.
///
/// # Safety
/// At home; `c` is live and of this interface, and [`after_beginning`] has a state.
pub unsafe fn begin(c: *mut Communication, interface: &Interface) {
    let mut state = 0;
    // SAFETY: the word before a message's is its place's, except for the first message's.
    unsafe {
        each(c, interface, |message, words| {
            if words != payload(c) {
                *words.sub(1) = Ring::place(state, message as u16 + 1);
            }
            state = next(interface, state, message).unwrap_or(state);
        });
    }
}

/// Drops the messages in the buffer.
///
/// # Safety
/// At home; `c` is live and of this interface.
pub unsafe fn drop_buffered(w: *mut Worker, c: *mut Communication, interface: &Interface) {
    // SAFETY: the tag says which message's words the buffer owns.
    unsafe {
        each(c, interface, |message, words| drop_words(w, words, interface, message));
        forget(c, interface);
    }
}

/// Forgets what is in the buffer.
///
/// # Safety
/// At home; `c` is live and of this interface, and the messages' words own nothing any more.
pub unsafe fn forget(c: *mut Communication, interface: &Interface) {
    // SAFETY: as in `advance`.
    unsafe {
        if (*c).word.flags & MORE != 0 {
            let ring = ring(c, interface);
            (*ring).first = (*ring).next;
            (*c).word.flags &= !MORE;
        }
        (*c).word.empty();
    }
}

/// How many messages are behind the first.
///
/// # Safety
/// `c` is live and of this interface.
unsafe fn count(c: *mut Communication, interface: &Interface) -> u32 {
    // SAFETY: where the flag is set, the buffer has a ring.
    unsafe {
        if (*c).word.flags & MORE == 0 {
            return 0;
        }
        let ring = ring(c, interface);
        (*ring).next.wrapping_sub((*ring).first)
    }
}

/// # Safety
/// The interface is that of `c`, and its capacity more than 1.
unsafe fn ring(c: *mut Communication, interface: &Interface) -> *mut Ring {
    payload(c).wrapping_add(interface.payload_words).cast()
}

/// A place that is taken, counted from the second message's.
///
/// # Safety
/// `ring` is that of a communication of this interface.
unsafe fn place(ring: *mut Ring, interface: &Interface, index: u32) -> *mut u64 {
    // SAFETY: the ring is there.
    let index = unsafe { (*ring).first.wrapping_add(index) } as usize % interface.queued;
    ring.wrapping_add(1).cast::<u64>().wrapping_add(index * (1 + interface.payload_words))
}
