//! A connection's bytes, enciphered or not, for those who know nothing of the reactor: hyper, which is polled, and
//! tungstenite, which tries.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::ReadBufCursor;

use crate::bindings::secure::Channel;
use crate::network::socket::{FULL, Socket};
use crate::reactor::Reactor;

/// See the head of this file. Whoever uses it is called again whenever the kernel has something to say.
pub(super) struct Io {
    pub(super) reactor: Rc<Reactor>,
    pub(super) socket: Rc<Socket>,
    /// What was read before, to see who it is for.
    early: Vec<u8>,
    /// What is said goes through it, if the two sides talk by TLS.
    channel: Option<Channel>,
}

impl Io {
    pub(super) fn new(reactor: &Rc<Reactor>, socket: Rc<Socket>, channel: Option<Channel>) -> Io {
        Io { reactor: reactor.clone(), socket, early: Vec::new(), channel }
    }

    /// This will be read once more, before all else.
    pub(super) fn unread(&mut self, early: &[u8]) {
        self.early.splice(..0, early.iter().copied());
    }

    /// Goes on with the beginning of TLS; whether there is nothing more to do for it.
    pub(super) fn greet(&mut self) -> io::Result<bool> {
        self.channel.as_mut().map_or(Ok(true), |channel| channel.greet(&mut Wire(&self.socket)))
    }

    /// Nothing more will be written.
    pub(super) fn finish(&mut self) {
        if let Some(channel) = &mut self.channel {
            // It may be gone already.
            let _ = channel.finish(&mut Wire(&self.socket));
        }
        self.socket.finish();
    }
}

/// What carries the bytes. It takes all that is enciphered.
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

    /// What was written is sent when the program has nothing else to do.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Io {
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

impl Write for Io {
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
        let Some(complaint) = complaint(bytes) else { return polled(self.write(bytes)) };
        polled(self.write(&complaint).map(|_| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Io>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Io>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.finish();
        Poll::Ready(Ok(()))
    }
}

/// hyper answers what is no request by a status alone. This is what is sent in its place. All other answers with such a
/// status say what is wrong.
fn complaint(head: &[u8]) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let reason = match status {
        b"400" => "this is no request of HTTP/1.1",
        b"414" => "the request's target is too long",
        b"431" => "the request's head has more than 65536 bytes, or more than 100 fields",
        _ => return None,
    };
    let empty = "content-length: 0\r\n";
    let head = std::str::from_utf8(head).ok().filter(|head| head.ends_with("\r\n\r\n"))?;
    let (before, after) = head.split_once(empty)?;
    let body = super::requests::problem(reason);
    let fields = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    Some([before.as_bytes(), fields.as_bytes(), after.as_bytes(), &body].concat())
}
