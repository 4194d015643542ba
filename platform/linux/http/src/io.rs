//! A connection for libraries that don't know the reactor: hyper, which polls, and tungstenite, which gets
//! `WouldBlock`.

use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::ReadBufCursor;

use drystone_net::stream::Stream;

/// See the head of this file. Its user runs again when the connection's source is ready.
pub(super) struct Io(pub(super) Stream);

impl Deref for Io {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.0
    }
}

impl DerefMut for Io {
    fn deref_mut(&mut self) -> &mut Stream {
        &mut self.0
    }
}

impl Read for Io {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Io {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
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

/// hyper answers what is no request by a status without a body. This is sent in its place. All other answers with such
/// a status have a body already.
fn complaint(head: &[u8]) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let reason = match status {
        b"400" => "this is no request of HTTP/1.1",
        b"414" => "the request's target is too long",
        b"431" => super::reply::LONG_HEAD,
        _ => return None,
    };
    let empty = "content-length: 0\r\n";
    let head = std::str::from_utf8(head).ok().filter(|head| head.ends_with("\r\n\r\n"))?;
    let (before, after) = head.split_once(empty)?;
    let body = super::reply::problem(reason);
    let fields = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    Some([before.as_bytes(), fields.as_bytes(), after.as_bytes(), &body].concat())
}
