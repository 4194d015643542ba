//! What a handler sends besides its answer, where it is Linux's kernel that runs it: that can't, so the frames come to
//! this process by a ring, and it sends them.

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd};

use drystone_extension::handler::tables::kind;

use crate::{Device, Line, Ring, Xdp};

/// The ring's name, as `OUTBOX` in `drystone/handler.h` makes it.
const NAME: &str = "outbox";

/// See the head of this file.
#[derive(Debug)]
pub struct Outbox {
    ring: Ring,
    line: Line,
}

impl Outbox {
    /// A handler's, whose frames go out at an interface. None if the handler has none.
    ///
    /// # Errors
    /// There is no such interface, or no right to send there.
    pub fn of(xdp: &Xdp, interface: &str) -> Result<Option<Outbox>> {
        if xdp.table(NAME).is_none_or(|map| map.definition().kind != kind::RINGBUF) {
            return Ok(None);
        }
        Ok(Some(Outbox { ring: xdp.ring(NAME)?, line: Line::out_of(interface)? }))
    }

    /// Sends what is there; gives how many frames.
    ///
    /// # Errors
    /// The interface has gone.
    pub fn send(&mut self) -> Result<usize> {
        let mut count = 0;
        while let Some(frame) = self.ring.hear() {
            self.line.send(&frame)?;
            count += 1;
        }
        Ok(count)
    }
}

/// Ready to be read when there is something to be sent.
impl AsFd for Outbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}
