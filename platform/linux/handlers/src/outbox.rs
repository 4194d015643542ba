//! Sends the additional frames of a handler in the kernel. XDP can't send them, so they come to this process through a
//! ring.

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd};

use drystone_extension::handler::tables::kind;

use crate::{Device, Line, Ring, Xdp};

/// The name of the ring that `OUTBOX` in `drystone/handler.h` makes.
const NAME: &str = "outbox";

/// The outbox of a handler.
#[derive(Debug)]
pub struct Outbox {
    ring: Ring,
    line: Line,
}

impl Outbox {
    /// The outbox of a handler, for an interface; `None` if the handler has none.
    ///
    /// # Errors
    /// The interface doesn't exist, or permission to send is missing.
    pub fn of(xdp: &Xdp, interface: &str) -> Result<Option<Outbox>> {
        if xdp.table(NAME).is_none_or(|map| map.definition().kind != kind::RINGBUF) {
            return Ok(None);
        }
        Ok(Some(Outbox { ring: xdp.ring(NAME)?, line: Line::out_of(interface)? }))
    }

    /// Sends the frames in the ring. Returns how many there were.
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

/// Readable when there are frames to send.
impl AsFd for Outbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}
