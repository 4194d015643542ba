//! Devices, which deliver and transmit frames.

use std::io::Result;
use std::os::fd::AsFd;

use drystone_extension::handler::Frame;

/// What is done with a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is transmitted, as it is now.
    Transmit,
    /// It is dropped.
    Done,
}

/// A source and sink of frames: a network interface, or the end of a wire.
pub trait Device: AsFd {
    /// Its interface's number.
    fn interface(&self) -> u32;

    /// Passes received frames to `each`, up to a bound, without waiting. Returns how many.
    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize>;

    /// Sends a message, which may be lost, as on a wire.
    fn send(&mut self, message: &[u8]) -> Result<()>;

    /// Flushes sent frames.
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

/// Room in front of a message and behind it, for handlers that lengthen it.
pub(crate) const ROOM: usize = 256;

/// Bytes of the longest frame.
pub(crate) const LONGEST: usize = 2048;

/// The most frames of one batch.
pub(crate) const MANY: usize = 64;
