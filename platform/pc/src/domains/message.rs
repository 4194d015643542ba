//! What domains say to people: the home writes it, one message after the other, so that each is whole.
//!
//! # Soundness
//!
//! There is one processor. A handler, which nothing interrupts, writes the bytes only while there are none, the home
//! reads them only while there are some: it says last that they are written.

use core::cell::Cell;

use drystone_calls::{DONE, MOST_BYTES, SOON, Stream};
use drystone_machine::Console;
use kortex_binding::REFUSED;
use kortex_hal::Shared;
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;

use crate::line;

/// What one of them has said that isn't written yet.
pub(super) struct Message {
    /// To whom, and how many bytes, if there are some.
    there: Cell<Option<(Stream, usize)>>,
    bytes: Shared<[u8; MOST_BYTES]>,
}

impl Message {
    pub(super) const fn new() -> Message {
        Message { there: Cell::new(None), bytes: Shared::new([0; MOST_BYTES]) }
    }

    /// Takes so many bytes, which are read by a function, if they can be; the answer to who says them.
    ///
    /// # Safety
    /// In a handler.
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

    /// Writes it. In the home.
    pub(super) fn write(&self) {
        let Some((stream, count)) = without_interrupts(|| self.there.get()) else { return };
        // SAFETY: see the head of this file.
        let bytes = unsafe { &(&*self.bytes.get())[..count] };
        match stream {
            Stream::Errors => Console.write_bytes(bytes),
            Stream::Output => line::send(bytes),
        }
        without_interrupts(|| self.there.set(None));
    }
}
