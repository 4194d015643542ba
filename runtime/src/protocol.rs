//! What an interface allows: its protocol as a state machine over messages (paper 004, section 3.1). States and
//! messages have the numbers that the checker gave them.

use drystone_component::{Interface, Side};

/// The state after a message; `None`: it may not be sent in this one.
#[inline]
pub fn next(interface: &Interface, state: u16, message: u32) -> Option<u16> {
    // SAFETY: states and messages have the numbers that the checker gave them.
    let next =
        unsafe { *interface.next.first.add(state as usize * interface.messages.length + message as usize) };
    (next != Interface::NONE).then_some(next)
}

/// Whether a communication may end in a state.
#[inline]
pub fn may_end(interface: &Interface, state: u16) -> bool {
    interface.state(state) & Interface::MAY_END != 0
}

/// Whether all that can follow in a state is how a communication begins.
pub fn is_beginning(interface: &Interface, state: u16) -> bool {
    let messages = 0..interface.messages.length as u32;
    messages
        .map(|message| (next(interface, state, message), message))
        .all(|(after, message)| after.is_none() || after == next(interface, 0, message))
}

/// Which side sends a message.
#[inline]
pub fn sender(interface: &Interface, message: u32) -> Side {
    // SAFETY: as for `next`.
    unsafe { (*interface.messages.first.add(message as usize)).sender }
}
