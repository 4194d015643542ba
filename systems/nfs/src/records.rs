//! Record marking (RFC 5531, section 11). A reply comes in any number of fragments. The NFS library expects one, and
//! allocates as much memory as its header says; so this module joins fragments and limits replies.

use std::io::{self, ErrorKind, Read};
use std::time::Instant;

use nfs3_client::io::{AsyncRead, AsyncWrite};

use crate::stream::{ANSWERED, Stream};

/// The most bytes of a reply, with the fragments' headers: more than any request needs.
const LONGEST: usize = 2 << 20;

const HEADER: usize = 4;
/// In a header: no fragment follows.
const LAST: u32 = 1 << 31;

/// A connection whose replies have one fragment each.
#[derive(Debug)]
pub struct Records {
    stream: Stream,
    /// Bytes to return before the stream's, and how many of them have been read.
    ready: Vec<u8>,
    given: usize,
    /// Bytes left of a reply's only fragment: they are read directly from the stream.
    left: usize,
}

impl Records {
    /// The replies of a connection.
    #[must_use]
    pub fn new(stream: Stream) -> Records {
        Records { stream, ready: Vec::new(), given: 0, left: 0 }
    }

    /// Reads a fragment's header; if more fragments follow, reads them all.
    fn begin(&mut self) -> io::Result<()> {
        let begin = Instant::now();
        let (mut is_last, mut length) = self.header()?;
        self.ready.clear();
        self.given = 0;
        if is_last {
            self.left = length.min(LONGEST);
            self.ready.extend(bounded(length)?.to_be_bytes());
            return Ok(());
        }
        let mut headers = HEADER;
        self.ready.extend([0; HEADER]);
        loop {
            let at = self.ready.len();
            bounded(at + headers + length)?;
            self.ready.resize(at + length, 0);
            self.stream.read_exact(&mut self.ready[at..])?;
            // A limit also for servers that send a little now and then.
            if begin.elapsed() > ANSWERED {
                return Err(io::Error::new(ErrorKind::TimedOut, "its reply doesn't end"));
            }
            if is_last {
                let whole = bounded(self.ready.len() - HEADER)?;
                self.ready[..HEADER].copy_from_slice(&whole.to_be_bytes());
                return Ok(());
            }
            headers += HEADER;
            (is_last, length) = self.header()?;
        }
    }

    fn header(&mut self) -> io::Result<(bool, usize)> {
        let mut header = [0; HEADER];
        self.stream.read_exact(&mut header)?;
        let header = u32::from_be_bytes(header);
        Ok((header & LAST != 0, (header & !LAST) as usize))
    }
}

/// The header of a reply that is one fragment of that length.
fn bounded(length: usize) -> io::Result<u32> {
    match u32::try_from(length) {
        Ok(short) if length <= LONGEST => Ok(short | LAST),
        _ => Err(io::Error::other("its reply is longer than any that was asked for")),
    }
}

impl AsyncRead for Records {
    async fn async_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() && self.left == 0 {
            self.begin()?;
        }
        let mut ready = &self.ready[self.given..];
        if !ready.is_empty() {
            let count = ready.read(buffer)?;
            self.given += count;
            return Ok(count);
        }
        let most = buffer.len().min(self.left);
        let count = self.stream.read(&mut buffer[..most])?;
        self.left -= count;
        Ok(count)
    }
}

impl AsyncWrite for Records {
    async fn async_write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.stream.write(data)
    }
}
