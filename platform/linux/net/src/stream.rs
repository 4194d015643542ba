//! A connection with or without TLS.

use std::io::{self, Read, Write};
use std::rc::Rc;

use drystone_reactor::Reactor;

use crate::secure::Channel;
use crate::socket::{FULL, Socket};

/// See the head of this file. It never blocks: the socket's handler runs when there may be more to do.
pub struct Stream {
    /// The reactor that watches it.
    pub reactor: Rc<Reactor>,
    /// What carries the bytes.
    pub socket: Rc<Socket>,
    /// Bytes that were put back.
    early: Vec<u8>,
    /// `None`: without TLS.
    channel: Option<Channel>,
}

impl Stream {
    /// A connection that is made; with a channel, it uses TLS.
    pub fn new(reactor: &Rc<Reactor>, socket: Rc<Socket>, channel: Option<Channel>) -> Stream {
        Stream { reactor: reactor.clone(), socket, early: Vec::new(), channel }
    }

    /// Puts back bytes: they will be read next.
    pub fn unread(&mut self, early: &[u8]) {
        self.early.splice(..0, early.iter().copied());
    }

    /// Goes on with the TLS handshake, if there is one; whether it is done.
    ///
    /// # Errors
    /// It has failed, or the connection is lost.
    pub fn greet(&mut self) -> io::Result<bool> {
        self.channel.as_mut().map_or(Ok(true), |channel| channel.greet(&mut Wire(&self.socket)))
    }

    /// Nothing more will be written.
    pub fn finish(&mut self) {
        if let Some(channel) = &mut self.channel {
            // The other side may have gone.
            let _ = channel.finish(&mut Wire(&self.socket));
        }
        self.socket.finish();
    }
}

/// The socket, as the channel uses it. It takes all encrypted bytes, whatever their number.
struct Wire<'a>(&'a Socket);

impl Read for Wire<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read_in_turn(bytes)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.failure().is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0.write(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: bytes are sent when the program has nothing else to do.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if !self.early.is_empty() {
            let length = self.early.len().min(bytes.len());
            bytes[..length].copy_from_slice(&self.early[..length]);
            self.early.drain(..length);
            if self.early.is_empty() {
                self.early = Vec::new();
            }
            return Ok(length);
        }
        let mut wire = Wire(&self.socket);
        let Some(channel) = &mut self.channel else { return wire.read(bytes) };
        let read = channel.read(&mut wire, bytes);
        channel.flush(&mut wire)?;
        read
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.socket.unsent() >= FULL {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut wire = Wire(&self.socket);
        let Some(channel) = &mut self.channel else { return wire.write(bytes) };
        let written = channel.write(&mut wire, bytes)?;
        channel.flush(&mut wire)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
