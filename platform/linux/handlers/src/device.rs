//! What frames come from, and go to.

use std::io::Result;
use std::os::fd::AsFd;

use drystone_extension::handler::Frame;

/// What is to be done with a frame that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes out again, as it is now.
    Transmit,
    /// It is done with.
    Done,
}

/// Something that gives frames and takes them: a network interface, or one end of a wire.
pub trait Device: AsFd {
    /// Its interface's number.
    fn interface(&self) -> u32;

    /// Hands over what has come, frame after frame, some at most; how many. It doesn't wait.
    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize>;

    /// Sends a message, or loses it, as a wire does.
    fn send(&mut self, message: &[u8]) -> Result<()>;

    /// Has what was sent go out.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn interface(&self) -> u32 {
        (**self).interface()
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        (**self).receive(take)
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        (**self).send(message)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }
}

/// Room before and behind a message, in which handlers may make it longer.
pub(crate) const ROOM: usize = 256;

/// The longest frame.
pub(crate) const LONGEST: usize = 2048;

/// Frames that are handed over in one go.
pub(crate) const MANY: usize = 64;
