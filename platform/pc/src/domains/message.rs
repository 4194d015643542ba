//! Messages of domains for people. The home writes one message after the other, each whole.
//!
//! # Soundness
//!
//! There is one processor. A handler, which isn't interrupted, fills the buffer only while it is empty. The home reads
//! the buffer only while it is full, and marks it empty last.

use core::cell::Cell;

use drystone_calls::{DONE, MOST_BYTES, SOON, Stream};
use drystone_machine::Console;
use kortex_binding::REFUSED;
use kortex_hal::Shared;
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;

use crate::serial_line;

/// A domain's message that hasn't been written yet.
pub(super) struct Message {
    /// The stream and the number of bytes, if there is a message.
    there: Cell<Option<(Stream, usize)>>,
    bytes: Shared<[u8; MOST_BYTES]>,
}

impl Message {
    pub(super) const fn new() -> Message {
        Message { there: Cell::new(None), bytes: Shared::new([0; MOST_BYTES]) }
    }

    /// Takes a message of `count` bytes, which `read` copies if it can. Returns the domain's answer.
    ///
    /// # Safety
    /// Called in a handler.
    pub(super) unsafe fn take(
        &self,
        stream: Stream,
        count: usize,
        read: impl FnOnce(&mut [u8]) -> bool,
    ) -> i64 {
        if self.there.get().is_some() {
            return SOON;
        }
        // SAFETY: see the head of this file.
        let bytes = unsafe { &mut *self.bytes.get() };
        if !bytes.get_mut(..count).is_some_and(read) {
            return REFUSED;
        }
        self.there.set(Some((stream, count)));
        DONE
    }

    /// Writes the message. Called in the home.
    pub(super) fn write(&self) {
        let Some((stream, count)) = without_interrupts(|| self.there.get()) else { return };
        // SAFETY: see the head of this file.
        let bytes = unsafe { &(&*self.bytes.get())[..count] };
        match stream {
            Stream::Errors => Console.write_bytes(bytes),
            Stream::Output => serial_line::send(bytes),
        }
        without_interrupts(|| self.there.set(None));
    }
}
