//! A TCP connection: the library's part of it.

use std::io::ErrorKind;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use smoltcp::wire::{TcpControl, TcpRepr, TcpSeqNumber};

use super::block::{Block, Word};
use super::segment::{self, End};

/// Most bytes of data in a segment.
pub(super) const LONGEST: usize = 1460;

/// The first time-out of a retransmission. Below: how many retransmissions there are before the connection is given up.
pub(super) const PAUSE: Duration = Duration::from_millis(200);
pub(super) const TRIES: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Waits for a peer to connect (LISTEN).
    Awaits,
    /// Has sent SYN.
    Asks,
    /// Has received SYN, and answered it.
    Agrees,
    Open,
    /// Closed: both sides have ended it, or there was an error.
    Over(Option<ErrorKind>),
}

/// A connection with a fast path.
pub(crate) struct Connection {
    pub(super) block: Block,
    pub(super) state: State,
    pub(super) own: End,
    /// The other end, once it is known.
    pub(super) peer: Option<End>,
    /// The initial sequence number.
    pub(super) first: u32,
    /// Frames to send.
    pub(super) out: Vec<Vec<u8>>,
    /// When something is retransmitted, its time-out, and how often it has been retransmitted.
    pub(super) timer: Option<Instant>,
    pub(super) pause: Duration,
    pub(super) tries: u32,
    /// The sequence number from which on data is retransmitted.
    pub(super) again: Option<u32>,
    /// The last acknowledgement that the library has seen.
    pub(super) seen: u32,
    /// No more data will be sent; and FIN has been sent.
    pub(super) wants_end: bool,
    pub(super) end_sent: bool,
    /// The other side has sent FIN.
    pub(super) their_end: bool,
    /// Since when no application has held it.
    pub(super) left: Option<Instant>,
}

impl Connection {
    /// Connects to a peer, or waits for one if it is `None`.
    pub(super) fn new(block: Block, own: End, peer: Option<End>, first: u32) -> Connection {
        let mut connection = Connection {
            block,
            state: if peer.is_some() { State::Asks } else { State::Awaits },
            own,
            peer,
            first,
            out: Vec::new(),
            timer: None,
            pause: PAUSE,
            tries: 0,
            again: None,
            seen: first,
            wants_end: false,
            end_sent: false,
            their_end: false,
            left: None,
        };
        if peer.is_some() {
            connection.greet();
        }
        connection
    }

    /// Whether a frame is for this connection: to its own address and port, and from its peer's if that is known.
    pub fn is_for(&self, frame: &[u8]) -> bool {
        let (Some(kind), Some(ends)) = (frame.get(12..15), frame.get(23..38)) else { return false };
        let is = |end: &End, address: &[u8], port: &[u8]| {
            end.address.ip().octets() == address && end.address.port().to_be_bytes() == port
        };
        kind == [8, 0, 0x45]
            && ends[0] == 6
            && is(&self.own, &ends[7..11], &ends[13..15])
            && self.peer.is_none_or(|peer| is(&peer, &ends[3..7], &ends[11..13]))
    }

    /// Processes a frame that no handler has consumed.
    pub fn arrive(&mut self, frame: &[u8]) {
        let Some((from, _, segment)) = segment::read(frame) else { return };
        let answers_greeting = segment.ack_number == Some(TcpSeqNumber(self.first.wrapping_add(1) as i32));
        match (self.state, segment.control) {
            (State::Awaits, TcpControl::Syn) if segment.ack_number.is_none() => {
                self.peer = Some(from);
                self.state = State::Agrees;
                self.block.set(Word::Next, number(segment.seq_number).wrapping_add(1).into());
                self.greet();
            }
            (State::Asks, TcpControl::Rst) if answers_greeting => {
                self.over(Some(ErrorKind::ConnectionRefused))
            }
            (State::Asks, TcpControl::Syn) if answers_greeting => {
                self.block.set(Word::Next, number(segment.seq_number).wrapping_add(1).into());
                self.open(segment.window_len);
                self.acknowledge();
            }
            (State::Agrees, TcpControl::Rst) => {
                (self.state, self.peer, self.timer, self.tries) = (State::Awaits, None, None, 0);
            }
            (State::Agrees, TcpControl::Syn) => self.greet(),
            (State::Agrees, _) if answers_greeting => {
                self.open(segment.window_len);
                self.receive(&segment);
            }
            (State::Open, _) => self.receive(&segment),
            _ => {}
        }
    }

    /// Establishes the connection, and lets the handler predict segments.
    fn open(&mut self, window: u16) {
        let Some(peer) = self.peer else { return };
        let (block, own) = (self.block.clone(), self.own);
        let address = |end: &End| u64::from(u32::from_ne_bytes(end.address.ip().octets()));
        let port = |end: &End| u64::from(u16::from_ne_bytes(end.address.port().to_be_bytes()));
        block.set(Word::Addresses, address(&own) << 32 | address(&peer));
        block.set(Word::Ports, port(&own) << 16 | port(&peer));
        self.seen = self.first.wrapping_add(1);
        for word in [Word::Acknowledged, Word::Sent, Word::Said] {
            block.set(word, self.seen.into());
        }
        block.set(Word::Window, window.into());
        block.set(Word::IsOpen, 1);
        (self.state, self.timer, self.tries, self.pause) = (State::Open, None, 0, PAUSE);
    }

    /// Sends SYN, or the answer to one.
    pub(super) fn greet(&mut self) {
        let ack_number = (self.state == State::Agrees).then(|| sequence(self.block.number(Word::Next)));
        let window = self.block.window();
        let greeting = TcpRepr {
            control: TcpControl::Syn,
            seq_number: sequence(self.first),
            ack_number,
            max_seg_size: Some(LONGEST as u16),
            ..plain(window)
        };
        self.send(&greeting);
        self.timer = Some(Instant::now() + self.pause);
    }

    pub(super) fn acknowledge(&mut self) {
        let sent = self.block.number(Word::Sent);
        self.send_from(sent, TcpControl::None, &[]);
    }

    /// Sends a segment with this sequence number, and an acknowledgement.
    pub(super) fn send_from(&mut self, from: u32, control: TcpControl, payload: &[u8]) {
        let (next, window) = (self.block.number(Word::Next), self.block.window());
        self.block.set(Word::Told, next.wrapping_add(window.into()).into());
        let (seq_number, ack_number) = (sequence(from), Some(sequence(next)));
        self.send(&TcpRepr { control, seq_number, ack_number, payload, ..plain(window) });
    }

    fn send(&mut self, segment: &TcpRepr<'_>) {
        if let Some(peer) = self.peer {
            self.out.push(segment::frame(&self.own, &peer, segment));
        }
    }

    /// Closes the connection.
    pub(super) fn over(&mut self, why: Option<ErrorKind>) {
        self.block.set(Word::IsOpen, 0);
        self.state = State::Over(why);
        self.timer = None;
    }

    /// Its own port.
    pub fn port(&self) -> u16 {
        self.own.address.port()
    }

    /// The other end's address, once it is known.
    pub fn peer_address(&self) -> Option<SocketAddrV4> {
        self.peer.map(|peer| peer.address)
    }

    /// Whether the connection can be removed.
    pub fn is_forgotten(&self) -> bool {
        let is_over = matches!(self.state, State::Over(_) | State::Awaits);
        self.left.is_some_and(|since| is_over || since.elapsed() > 10 * PAUSE * TRIES)
    }

    /// Takes the frames to be sent.
    pub fn take_out(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.out)
    }

    /// When there is something to do, even if nothing arrives.
    pub fn timer(&self) -> Option<Instant> {
        self.timer
    }
}

pub(super) fn number(sequence: TcpSeqNumber) -> u32 {
    sequence.0 as u32
}

pub(super) fn sequence(number: u32) -> TcpSeqNumber {
    TcpSeqNumber(number as i32)
}

/// Whether one sequence number comes before another.
pub(super) fn before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

/// A segment without data.
fn plain(window_len: u16) -> TcpRepr<'static> {
    TcpRepr {
        src_port: 0,
        dst_port: 0,
        control: TcpControl::None,
        seq_number: TcpSeqNumber(0),
        ack_number: None,
        window_len,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: &[],
    }
}
