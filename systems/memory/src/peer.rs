//! Writes to the memory of another program. A write that isn't acknowledged is sent again: doing it twice is doing it
//! once.

use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::MOST;

/// Bytes of a request before its data.
pub const HEAD: usize = 24;
/// What isn't acknowledged by then is sent again.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a request says, before its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where.
    pub slot: u32,
    /// Bytes from its beginning.
    pub offset: u32,
    /// Bytes of data.
    pub bytes: u32,
    /// Nothing else belongs to the round.
    pub is_last: bool,
    /// Those of earlier rounds change nothing any more.
    pub round: u64,
}

impl Request {
    /// And what follows; None if it is too short.
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
    /// Another program may begin later, or end, which is noticed by its silence.
    longest: Duration,
}

impl Peer {
    /// The memory of who has it at that address, who may be silent for so long.
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

    /// Writes words to the beginning of a slot, as what it is in this round.
    ///
    /// # Errors
    /// Nobody acknowledges it.
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
            // As long as nobody is there, that is an error of the next call.
            let _ = self.socket.send(&datagram);
            let sent = Instant::now();
            while sent.elapsed() < PATIENCE {
                match self.socket.recv(&mut answer) {
                    Ok(length) if answer[..length] == head => return Ok(()),
                    // Of an earlier one that was sent twice.
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
