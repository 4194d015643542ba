//! What a WebSocket's bytes come through: it sees where a message ends, and how much of the next one has come.

use std::cell::RefCell;
use std::io::{self, Cursor, Read, Write};
use std::rc::Rc;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::OpCode;

use super::io::Io;
use crate::network::socket::Socket;

/// Most bytes of a frame's head.
const LONGEST_HEAD: usize = 14;

/// See the head of this file. It may be had by several, one of which reads it.
#[derive(Clone)]
pub(super) struct Framed(Rc<RefCell<Wire>>);

struct Wire {
    io: Io,
    /// `None`: their beginning wasn't seen.
    frames: Option<Frames>,
}

#[derive(Default)]
struct Frames {
    /// A frame's head, as far as it has come.
    head: Vec<u8>,
    /// Bytes of a frame that have still to come.
    left: u64,
    /// More frames of the same message follow.
    is_begun: bool,
    /// Bytes that have come since the last end of a message.
    unfinished: usize,
}

impl Framed {
    /// All bytes that come belong to frames.
    pub(super) fn new(io: Io) -> Framed {
        Framed(Rc::new(RefCell::new(Wire { io, frames: Some(Frames::default()) })))
    }

    /// Some bytes may have come already.
    pub(super) fn begun(io: Io) -> Framed {
        Framed(Rc::new(RefCell::new(Wire { io, frames: None })))
    }

    pub(super) fn socket(&self) -> Rc<Socket> {
        self.0.borrow().io.socket.clone()
    }

    /// Nothing more will be written.
    pub(super) fn finish(&self) {
        self.0.borrow_mut().io.finish();
    }

    /// Whether all that has come are whole messages.
    pub(super) fn is_between(&self) -> bool {
        self.0.borrow().frames.as_ref().is_some_and(|frames| frames.unfinished == 0)
    }
}

impl Frames {
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = if self.left > 0 { self.pass_payload(bytes) } else { self.pass_head(bytes) };
            self.unfinished += taken;
            bytes = &bytes[taken..];
            if self.left == 0 && self.head.is_empty() && !self.is_begun {
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
            // Who reads it says what is wrong, and ends.
            Err(_) => {
                self.left = u64::MAX;
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
