//! Single calls, without shipping: a communication with an exported name, one message at a time.

use drystone_component::wire::Handle;

use crate::error::Error;
use crate::line::Line;

/// A communication.
pub struct Calls<'a> {
    line: &'a mut Line,
    handle: Handle,
}

impl<'a> Calls<'a> {
    pub(crate) fn begin(line: &'a mut Line, name: &str) -> Result<Calls<'a>, Error> {
        let interface = line.interface(name)?;
        let handle = line.open(name.as_bytes(), interface)?;
        Ok(Calls { line, handle })
    }

    /// Sends a message, by its number and with its values in the bytes of docs/src/wire.md, and waits for the next one:
    /// its number and the bytes of its values.
    ///
    /// # Errors
    /// The protocol doesn't allow it, or the connection is lost.
    pub fn call(
        &mut self,
        message: usize,
        values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(usize, Vec<u8>), Error> {
        self.line.ask(self.handle, message, values)
    }
}

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        self.line.abandon(self.handle);
    }
}
