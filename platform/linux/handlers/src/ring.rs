//! Reads messages of a handler in the kernel: the reader's side of a map of kind RINGBUF.
//!
//! `unsafe` here: the ring's pages are read. A message is read only after the kernel has published it, within the
//! bounds of the ring, and the kernel doesn't overwrite it before this has advanced the consumer position.

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::mapping::{Mapping, PAGE};

/// The bytes in front of each message: its length, and its page.
const HEAD: usize = 8;
const IS_BUSY: u32 = 1 << 31;
const IS_DISCARDED: u32 = 1 << 30;

/// The reader of a ring.
#[derive(Debug)]
pub struct Ring {
    map: OwnedFd,
    /// The mapping of the consumer position.
    consumer: Mapping,
    /// The mapping of the producer position, and of the ring twice in a row.
    producer: Mapping,
    bytes: usize,
}

impl Ring {
    /// The reader of a ring of so many bytes. A ring may have only one.
    pub fn new(map: &OwnedFd, bytes: usize) -> Result<Ring> {
        let map = map.try_clone()?;
        let consumer = Mapping::shared(map.as_fd(), None, (0, PAGE), true)?;
        let producer = Mapping::shared(map.as_fd(), None, (PAGE, PAGE + 2 * bytes), false)?;
        Ok(Ring { map, consumer, producer, bytes })
    }

    /// The first message, if there is one.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        loop {
            // SAFETY: both pages are mapped, and begin with a number that the kernel accesses atomically.
            let (read, written) = unsafe {
                (
                    AtomicU64::from_ptr(self.consumer.begin().cast().as_ptr()),
                    AtomicU64::from_ptr(self.producer.begin().cast().as_ptr()),
                )
            };
            let begin = read.load(Ordering::Relaxed);
            if begin >= written.load(Ordering::Acquire) {
                return None;
            }
            let place = PAGE + (begin as usize & (self.bytes - 1));
            // SAFETY: the place is within the ring, and a multiple of 8, as all messages are.
            let head = unsafe { AtomicU32::from_ptr(self.producer.begin().add(place).cast().as_ptr()) }
                .load(Ordering::Acquire);
            if head & IS_BUSY != 0 {
                return None;
            }
            let length = (head & !IS_DISCARDED) as usize;
            assert!(length <= self.bytes, "a message of {length} bytes in a ring of {}", self.bytes);
            // SAFETY: the ring is mapped twice in a row, so that a message is contiguous. The kernel has published it.
            let message =
                unsafe { slice::from_raw_parts(self.producer.begin().add(place + HEAD).as_ptr(), length) }
                    .to_vec();
            read.store(begin + (HEAD + length.next_multiple_of(8)) as u64, Ordering::Release);
            if head & IS_DISCARDED == 0 {
                return Some(message);
            }
        }
    }
}

/// Readable when the handler has sent a message and woken the application.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}
