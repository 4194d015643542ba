//! What a handler has while it runs, besides its memory: the message, its tables, and what it sends.

use alloc::vec::Vec;
use core::ptr::{self, NonNull};

use super::frame::Frame;
use super::pipes::Through;
use super::tables::Table;
use crate::engine::Memory;
use crate::verifier::Region;

/// The regions that handlers are given, by the verifier's numbers: what they see of a message, and the message.
pub(super) const CONTEXT: Region = 0;
pub(super) const PACKET: Region = 1;

/// A message that a handler sends, as the device shall have it.
pub type Sent = Vec<u8>;

/// What programs see of a message: Linux's `struct xdp_md`, and behind it, where the verifier has loads of pointers go,
/// these pointers with all their bits.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub data: u32,
    pub data_end: u32,
    pub data_meta: u32,
    pub interface: u32,
    pub queue: u32,
    pub egress: u32,
    pub begin: u64,
    pub end: u64,
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Arrival {
    pub seen: Seen,
    /// The message, while there is one.
    frame: Option<NonNull<Frame<'static>>>,
    pub tables: Vec<Table>,
    pub pipes: Vec<Through>,
    pub sent: Vec<Sent>,
    /// When it arrived, in nanoseconds of the machine's clock.
    pub now: u64,
    /// What numbers that nobody should guess are made of.
    random: u64,
}

// SAFETY: the frame is there only while somebody runs, who has all of it.
unsafe impl Send for Arrival {}

impl Arrival {
    pub fn new(tables: Vec<Table>, pipes: Vec<Through>, random: u64) -> Arrival {
        Arrival { seen: Seen::default(), frame: None, tables, pipes, sent: Vec::new(), now: 0, random }
    }

    /// Has the program see a message from now on.
    ///
    /// # Safety
    /// Until [`Arrival::leave`], the frame is nobody else's.
    pub unsafe fn enter(&mut self, frame: &mut Frame<'_>, memory: &Memory) {
        self.frame = Some(NonNull::from(frame).cast());
        self.show(memory);
    }

    pub fn leave(&mut self) {
        self.frame = None;
    }

    /// The message.
    pub fn frame(&mut self) -> Option<&mut Frame<'_>> {
        // SAFETY: it is this one's until it leaves, and lent no longer than this is.
        self.frame.map(|frame| unsafe { &mut *ptr::from_mut(frame.cast::<Frame<'_>>().as_mut()) })
    }

    /// Says where the message is.
    pub fn show(&mut self, memory: &Memory) {
        let Some(frame) = self.frame() else { return };
        let bytes = frame.bytes_mut();
        let begin = memory.address_of(bytes.as_mut_ptr());
        let end = begin.wrapping_add(bytes.len() as u64);
        (self.seen.begin, self.seen.end) = (begin, end);
    }

    /// Another number.
    pub fn random(&mut self) -> u32 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.random;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ number >> 31) as u32
    }
}
