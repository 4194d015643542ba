//! The state of a handler while it runs, besides its memory: the message, its tables and pipes, and what it sends.

use alloc::vec::Vec;
use core::mem::offset_of;
use core::ptr::{self, NonNull};

use super::frame::Frame;
use super::pipes::Through;
use super::tables::Table;
use crate::engine::Memory;
use crate::verifier::Region;
use crate::xdp;

/// The verifier's numbers of the regions that all handlers have: the context and the message.
pub(super) const CONTEXT: Region = 0;
pub(super) const PACKET: Region = 1;

/// A message that a handler sends, as the device transmits it.
pub type Sent = Vec<u8>;

/// The context: Linux's `struct xdp_md`, and behind it its pointers with all their bits. The verifier rewrites loads of
/// pointers to load these.
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

const _: () = {
    assert!(offset_of!(Seen, data) == xdp::context::DATA as usize);
    assert!(offset_of!(Seen, data_end) == xdp::context::DATA_END as usize);
    assert!(offset_of!(Seen, interface) == xdp::context::INTERFACE as usize);
    assert!(offset_of!(Seen, queue) == xdp::context::QUEUE as usize);
    assert!(offset_of!(Seen, egress) == xdp::context::EGRESS as usize);
};

/// The host's part of a run of a handler.
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
    /// The state of the random number generator.
    random: u64,
}

// SAFETY: the frame is there only during `Handler::run`, which borrows it on the thread that runs.
unsafe impl Send for Arrival {}

impl Arrival {
    pub fn new(tables: Vec<Table>, pipes: Vec<Through>, random: u64) -> Arrival {
        Arrival { seen: Seen::default(), frame: None, tables, pipes, sent: Vec::new(), now: 0, random }
    }

    /// Shows the program a message.
    ///
    /// # Safety
    /// Until [`Arrival::leave`], the frame lives, and is only accessed through this.
    pub unsafe fn enter(&mut self, frame: &mut Frame<'_>, memory: &Memory) {
        self.frame = Some(NonNull::from(frame).cast());
        self.show(memory);
    }

    pub fn leave(&mut self) {
        self.frame = None;
    }

    /// The message.
    pub fn frame(&mut self) -> Option<&mut Frame<'_>> {
        // SAFETY: until `leave` the frame lives, and is only accessed through this, which is borrowed mutably.
        self.frame.map(|frame| unsafe { &mut *ptr::from_mut(frame.cast::<Frame<'_>>().as_mut()) })
    }

    /// Updates the context: where the message is.
    pub fn show(&mut self, memory: &Memory) {
        let Some(frame) = self.frame() else { return };
        let bytes = frame.bytes_mut();
        let begin = memory.address_of(bytes.as_mut_ptr());
        let end = begin.wrapping_add(bytes.len() as u64);
        (self.seen.begin, self.seen.end) = (begin, end);
    }

    /// The next random number.
    pub fn random(&mut self) -> u32 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.random;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ number >> 31) as u32
    }
}
