//! Reports of protocol violations: what a side tried, and what the protocol expects instead.

use alloc::format;
use alloc::string::String;

use drystone_component::{Interface, Side};

use super::interface_of;
use crate::failure::fail;
use crate::layout::*;
use crate::protocol::{next, sender};
use crate::worker::Failure;

/// What a side tried. A number is a message's in the interface.
#[derive(Clone, Copy)]
pub enum Act {
    /// To send a message.
    Send(u32),
    /// To receive a message.
    Receive(u32),
    /// To end its part: which side.
    End(Side),
}

/// A process has violated the protocol of a communication.
///
/// # Safety
/// As for [`fail`]; `c` is live and of this interface.
#[cold]
pub unsafe fn violation(
    w: *mut Worker,
    p: *mut Process,
    c: *mut Communication,
    interface: &Interface,
    act: Act,
    location: u32,
) {
    // SAFETY: `c` is live, so the block that it begins with is a process, and `p` is alive.
    unsafe {
        let reason = reason(&(*c).word, interface, act);
        let service = &(*c).process;
        // What was ended by force has no component any more.
        let is_lost = (*c).word.flags & GONE != 0 && !service.instance.is_null();
        let lost = is_lost.then_some((service.instance, service.body as usize));
        fail(w, Failure { interface, reason, lost, ..Failure::of(p, Fault::ProtocolViolation, location) });
    }
}

/// The failure of `instance`: its end, or that of its connection, meets a communication that may not end now.
///
/// # Safety
/// `c` is live; `instance` is alive as long as the failure is kept.
#[cold]
pub unsafe fn refused_end(c: *mut Communication, instance: *mut Instance, location: u32) -> Failure {
    // SAFETY: `c` is live.
    let (interface, word) = unsafe { (interface_of(c), (*c).word) };
    let reason = reason(&word, interface, Act::End(Side::Client));
    Failure { interface, reason, ..Failure::of_end(instance, Fault::ProtocolViolation, location) }
}

fn reason(word: &CommunicationWord, interface: &Interface, act: Act) -> String {
    let unread = (word.tag as u32).checked_sub(1);
    match (act, unread) {
        (Act::Receive(wanted), _)
            if word.flags & ENDING != 0 && sender(interface, wanted) == Side::Client =>
        {
            format!("{} can't be received in FINALLY: the communication is over", spelled(interface, wanted))
        }
        (Act::Receive(wanted), Some(sent)) if next(interface, word.seen, wanted).is_some() => {
            format!(
                "{} was to be received, but {} has come",
                spelled(interface, wanted),
                spelled(interface, sent)
            )
        }
        (Act::Receive(wanted), None) if next(interface, word.state, wanted).is_some() => {
            format!("{} was to be received, but the other side has ended", spelled(interface, wanted))
        }
        (Act::Receive(wanted), _) => {
            format!("{} can't come here: {}", spelled(interface, wanted), expects(interface, word.seen))
        }
        (Act::Send(message), Some(sent)) if sender(interface, sent) != sender(interface, message) => {
            format!(
                "{} has come and is to be received before {} is sent",
                spelled(interface, sent),
                spelled(interface, message)
            )
        }
        (Act::Send(message), _) => {
            format!("{} can't be sent here: {}", spelled(interface, message), expects(interface, word.state))
        }
        (Act::End(side), Some(sent)) if sender(interface, sent) != side => {
            format!("it can't end here: {} has been sent, and not received", spelled(interface, sent))
        }
        (Act::End(_), _) => format!("it can't end here: {}", expects(interface, word.state)),
    }
}

/// A message as interfaces declare it.
fn spelled(interface: &Interface, message: u32) -> String {
    let direction = match sender(interface, message) {
        Side::Client => "IN",
        Side::Server => "OUT",
    };
    format!("{direction} {}", interface.messages.get()[message as usize].name.get())
}

/// What may follow in a state.
fn expects(interface: &Interface, state: u16) -> String {
    let messages = 0..interface.messages.length as u32;
    let allowed = messages.filter(|&message| next(interface, state, message).is_some());
    let mut all = String::new();
    for message in allowed {
        all += if all.is_empty() { "" } else { " or " };
        all += &spelled(interface, message);
    }
    if all.is_empty() {
        "the protocol has come to its end".into()
    } else {
        format!("the protocol expects {all}")
    }
}
