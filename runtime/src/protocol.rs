//! The protocol of an interface: a state machine over its messages (*structured concurrent programs*, section 3.1).
//! States and messages have the numbers that the checker gave them.

use drystone_component::{Interface, Side};

/// The state after a message; `None`: it may not be sent in this state.
#[inline]
pub fn next(interface: &Interface, state: u16, message: u32) -> Option<u16> {
    let index = state as usize * interface.messages.length + message as usize;
    // SAFETY: the checker numbered states and messages, and made an entry for each pair.
    let next = unsafe { *interface.next.first.add(index) };
    (next != Interface::NONE).then_some(next)
}

/// Whether a communication may end in a state.
#[inline]
pub fn may_end(interface: &Interface, state: u16) -> bool {
    interface.state(state) & Interface::MAY_END != 0
}

/// Whether each message that may be sent in a state may also begin a communication, with the same effect.
pub fn is_beginning(interface: &Interface, state: u16) -> bool {
    let messages = 0..interface.messages.length as u32;
    messages
        .map(|message| (next(interface, state, message), message))
        .all(|(after, message)| after.is_none() || after == next(interface, 0, message))
}

/// Which side sends a message.
#[inline]
pub fn sender(interface: &Interface, message: u32) -> Side {
    // SAFETY: the checker numbered the messages.
    unsafe { (*interface.messages.first.add(message as usize)).sender }
}
