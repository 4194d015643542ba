//! Writes to the memory of another program. A write that isn't acknowledged is sent again: writes are idempotent.

use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::MOST;

/// Bytes of a request before its data.
pub const HEAD: usize = 24;
/// How long to wait for an acknowledgement before sending again.
const PATIENCE: Duration = Duration::from_millis(20);

/// The head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The slot.
    pub slot: u32,
    /// The offset in the slot, in bytes.
    pub offset: u32,
    /// Bytes of data.
    pub bytes: u32,
    /// The last write of the round.
    pub is_last: bool,
    /// The round; writes of earlier rounds are ignored.
    pub round: u64,
}

impl Request {
    /// Parses a request; returns its data, too. `None` if it is too short.
    pub fn read(datagram: &[u8]) -> Option<(Request, &[u8])> {
        let (head, data) = datagram.split_at_checked(HEAD)?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let round = u64::from(word(16)) << 32 | u64::from(word(20));
        let request =
            Request { slot: word(0), offset: word(4), bytes: word(8), is_last: word(12) != 0, round };
        Some((request, data))
    }

    fn head(&self) -> Vec<u8> {
        let words = [self.slot, self.offset, self.bytes, self.is_last.into()].map(u32::to_be_bytes);
        [words.as_flattened(), &self.round.to_be_bytes()].concat()
    }
}

/// Another program's memory.
pub struct Peer {
    socket: UdpSocket,
    /// How long the other program may be silent: it may begin later, or have ended.
    longest: Duration,
}

impl Peer {
    /// The program at an address, which may be silent for so long.
    ///
    /// # Errors
    /// There are no sockets left.
    pub fn new(address: SocketAddr, longest: Duration) -> Result<Peer> {
        let any: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect(address)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Peer { socket, longest })
    }

    /// Writes words to the beginning of a slot, as all of its data of this round.
    ///
    /// # Errors
    /// No acknowledgement came.
    pub fn write(&self, slot: usize, round: u64, words: &[u64]) -> Result<()> {
        let parts = words.chunks(MOST / 8);
        let last = parts.len().saturating_sub(1);
        for (number, part) in parts.enumerate() {
            let (offset, bytes) = ((number * MOST) as u32, 8 * part.len() as u32);
            let request = Request { slot: slot as u32, offset, bytes, is_last: number == last, round };
            let data: Vec<u8> = part.iter().flat_map(|word| word.to_ne_bytes()).collect();
            self.have_done(&request, &data)?;
        }
        Ok(())
    }

    fn have_done(&self, request: &Request, data: &[u8]) -> Result<()> {
        let (head, begin) = (request.head(), Instant::now());
        let datagram = [&head, data].concat();
        let mut answer = [0; 2 * MOST];
        while begin.elapsed() < self.longest {
            // If nobody listens there yet, the next call returns an error.
            let _ = self.socket.send(&datagram);
            let sent = Instant::now();
            while sent.elapsed() < PATIENCE {
                match self.socket.recv(&mut answer) {
                    Ok(length) if answer[..length] == head => return Ok(()),
                    // The acknowledgement of an earlier write that was sent twice.
                    Ok(_) => {}
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                        break;
                    }
                    Err(_) => {
                        std::thread::sleep(PATIENCE);
                        break;
                    }
                }
            }
        }
        let who = self.socket.peer_addr()?;
        Err(Error::new(ErrorKind::TimedOut, format!("{who} acknowledges nothing for {:?}", self.longest)))
    }
}
