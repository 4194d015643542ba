//! Counts the frames of a WebSocket as they are read: where a message ends, and how much of the next one has come.

use std::cell::RefCell;
use std::io::{self, Cursor, Read, Write};
use std::rc::Rc;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::OpCode;

use super::io::Io;
use drystone_net::socket::Socket;

/// Most bytes of a frame's head.
const LONGEST_HEAD: usize = 14;

/// A connection whose frames are counted. Clones share it, and one of them reads.
#[derive(Clone)]
pub(super) struct Framed(Rc<RefCell<Wire>>);

struct Wire {
    io: Io,
    /// `None`: bytes were read before, so frames can't be counted.
    frames: Option<Frames>,
}

#[derive(Default)]
struct Frames {
    /// A frame's head, as far as it has come.
    head: Vec<u8>,
    /// Bytes of a frame's payload that have still to come.
    left: u64,
    /// More frames of the same message follow.
    is_begun: bool,
    /// The bytes are no frames: their reader will say so, and end.
    are_broken: bool,
    /// Bytes that have come since the last end of a message.
    unfinished: usize,
}

impl Framed {
    /// Counts frames, from the first byte on.
    pub(super) fn new(io: Io) -> Framed {
        Framed(Rc::new(RefCell::new(Wire { io, frames: Some(Frames::default()) })))
    }

    /// Doesn't count frames, as bytes of them may have come already.
    pub(super) fn begun(io: Io) -> Framed {
        Framed(Rc::new(RefCell::new(Wire { io, frames: None })))
    }

    /// The connection.
    pub(super) fn socket(&self) -> Rc<Socket> {
        self.0.borrow().io.socket.clone()
    }

    /// Nothing more will be written.
    pub(super) fn finish(&self) {
        self.0.borrow_mut().io.finish();
    }

    /// Bytes that have come of an unfinished message.
    pub(super) fn unfinished(&self) -> usize {
        self.0.borrow().frames.as_ref().map_or(0, |frames| frames.unfinished)
    }

    /// Whether no unfinished message has come.
    pub(super) fn is_between(&self) -> bool {
        self.0.borrow().frames.as_ref().is_some_and(|frames| frames.unfinished == 0)
    }
}

impl Frames {
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = match self.left {
                _ if self.are_broken => bytes.len(),
                0 => self.pass_head(bytes),
                _ => self.pass_payload(bytes),
            };
            self.unfinished += taken;
            bytes = &bytes[taken..];
            if self.left == 0 && self.head.is_empty() && !self.is_begun && !self.are_broken {
                self.unfinished = 0;
            }
        }
    }

    fn pass_payload(&mut self, bytes: &[u8]) -> usize {
        let taken = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.left -= taken as u64;
        taken
    }

    fn pass_head(&mut self, bytes: &[u8]) -> usize {
        let before = self.head.len();
        let more = bytes.len().min(LONGEST_HEAD - before);
        self.head.extend_from_slice(&bytes[..more]);
        let mut cursor = Cursor::new(&self.head);
        match FrameHeader::parse(&mut cursor) {
            Ok(None) => more,
            Ok(Some((head, length))) => {
                let taken = cursor.position() as usize - before;
                self.head.clear();
                self.left = length;
                if matches!(head.opcode, OpCode::Data(_)) {
                    self.is_begun = !head.is_final;
                }
                taken
            }
            Err(_) => {
                self.are_broken = true;
                self.head.clear();
                more
            }
        }
    }
}

impl Read for Framed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let wire = &mut *self.0.borrow_mut();
        let length = wire.io.read(bytes)?;
        if let Some(frames) = &mut wire.frames {
            frames.pass(&bytes[..length]);
        }
        Ok(length)
    }
}

impl Write for Framed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().io.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts the frames in bytes that may be anything, for fuzzing.
///
/// # Panics
/// The count depends on how the bytes were cut.
pub(super) fn feed(bytes: &[u8]) {
    let fed = |piece: usize| {
        let mut frames = Frames::default();
        bytes.chunks(piece).for_each(|piece| frames.pass(piece));
        (frames.head, frames.left, (frames.is_begun, frames.are_broken), frames.unfinished)
    };
    let whole = fed(bytes.len().max(1));
    assert!(whole.3 <= bytes.len());
    for piece in [1, 3, 14] {
        assert_eq!(fed(piece), whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_message_is_seen() {
        let mut frames = Frames::default();
        let mut pass = |bytes: &[u8]| {
            frames.pass(bytes);
            frames.unfinished
        };
        // Two frames of one text, with a ping in between.
        assert_eq!(pass(b"\x01\x83\0\0\0\0ab"), 8);
        assert_eq!(pass(b"c"), 9);
        assert_eq!(pass(b"\x89\x80\0\0\0\0"), 15);
        assert_eq!(pass(b"\x80\x81\0\0\0\0"), 21);
        assert_eq!(pass(b"d"), 0);
        assert_eq!(pass(b"\x81\xfe\x01"), 3);
        assert_eq!(pass(b"\x00\0\0\0\0"), 8);
        assert_eq!(pass(&[b'x'; 255]), 263);
        assert_eq!(pass(b"x\x81\x80\0\0\0\0\x81"), 1);
    }
}
