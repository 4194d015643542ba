//! A connection's bytes, for those who know nothing of the reactor: hyper, which is polled, and tungstenite, which tries.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::ReadBufCursor;

use crate::network::socket::{FULL, Socket};
use crate::reactor::Reactor;

/// See the head of this file. Whoever uses it is called again whenever the kernel has something to say.
pub(super) struct Io {
    reactor: Rc<Reactor>,
    pub(super) socket: Rc<Socket>,
    /// What was read before, to see who it is for.
    early: Vec<u8>,
}

impl Io {
    pub(super) fn new(reactor: &Rc<Reactor>, socket: Rc<Socket>, early: Vec<u8>) -> Io {
        Io { reactor: reactor.clone(), socket, early }
    }
}

impl Read for Io {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.early.is_empty() {
            return self.socket.read(bytes);
        }
        let length = self.early.len().min(bytes.len());
        bytes[..length].copy_from_slice(&self.early[..length]);
        self.early.drain(..length);
        Ok(length)
    }
}

impl Write for Io {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.socket.failure().is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.socket.unsent() >= FULL {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.socket.write(bytes);
        Ok(bytes.len())
    }

    /// What was written is sent when the program has nothing else to do.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn polled<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        other => Poll::Ready(other),
    }
}

impl hyper::rt::Read for Io {
    fn poll_read(
        mut self: Pin<&mut Io>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let reactor = self.reactor.clone();
        let scratch = &mut *reactor.scratch.borrow_mut();
        let room = buffer.remaining().min(scratch.len());
        let read = self.read(&mut scratch[..room]);
        polled(read.map(|length| buffer.put_slice(&scratch[..length])))
    }
}

impl hyper::rt::Write for Io {
    fn poll_write(mut self: Pin<&mut Io>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        polled(self.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Io>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Io>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.finish();
        Poll::Ready(Ok(()))
    }
}
