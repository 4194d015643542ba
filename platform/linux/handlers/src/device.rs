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

/// Room before and behind a message, in which handlers may make it longer.
pub(crate) const ROOM: usize = 256;

/// The longest frame.
pub(crate) const LONGEST: usize = 2048;

/// Frames that are handed over in one go.
pub(crate) const MANY: usize = 64;

/// Receives by a call that fills a buffer, and sends by another one.
pub(crate) fn receive(
    mut read: impl FnMut(&mut [u8]) -> rustix::io::Result<usize>,
    mut write: impl FnMut(&[u8]) -> rustix::io::Result<()>,
    take: &mut dyn FnMut(&mut Frame<'_>) -> Decision,
) -> Result<usize> {
    let mut buffer = [0; LONGEST + 2 * ROOM];
    for count in 0..MANY {
        let length = match read(&mut buffer[ROOM..][..LONGEST]) {
            Ok(length) => length,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(count),
            Err(error) => return Err(error.into()),
        };
        let mut frame = Frame::new(&mut buffer, ROOM, ROOM + length);
        if take(&mut frame) == Decision::Transmit {
            lost_at_most(write(frame.bytes()))?;
        }
    }
    Ok(MANY)
}

/// What there is no room for is lost, as on a wire.
pub(crate) fn lost_at_most(result: rustix::io::Result<()>) -> Result<()> {
    use rustix::io::Errno;
    match result {
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(()),
        result => result.map_err(Into::into),
    }
}
