//! What a handler in the kernel says to its application: a ring of Linux's kind RINGBUF, as its reader has it.
//!
//! `unsafe` here: the ring's pages are read. That is sound because only what the kernel says is there is read, it is
//! checked to lie in the ring, and nobody writes there until this says that it has been read.

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::mapping::{Mapping, PAGE};

/// What stands before each message: its length, and where it stands.
const HEAD: usize = 8;
const IS_BUSY: u32 = 1 << 31;
const IS_DISCARDED: u32 = 1 << 30;

/// See the head of this file.
#[derive(Debug)]
pub struct Ring {
    map: OwnedFd,
    /// How far it has been read.
    consumer: Mapping,
    /// How far it has been written, and the ring twice.
    producer: Mapping,
    bytes: usize,
}

impl Ring {
    /// The reader of a ring of so many bytes. There may be only one.
    pub fn new(map: &OwnedFd, bytes: usize) -> Result<Ring> {
        let map = map.try_clone()?;
        let consumer = Mapping::shared(map.as_fd(), None, (0, PAGE), true)?;
        let producer = Mapping::shared(map.as_fd(), None, (PAGE, PAGE + 2 * bytes), false)?;
        Ok(Ring { map, consumer, producer, bytes })
    }

    /// The first message, if there is one.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        loop {
            // SAFETY: both pages begin with such a number.
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
            // SAFETY: messages begin at multiples of 8 within the ring.
            let head = unsafe { AtomicU32::from_ptr(self.producer.begin().add(place).cast().as_ptr()) }
                .load(Ordering::Acquire);
            if head & IS_BUSY != 0 {
                return None;
            }
            let length = (head & !IS_DISCARDED) as usize;
            assert!(length <= self.bytes, "a message of {length} bytes in a ring of {}", self.bytes);
            // SAFETY: the ring stands there twice, so that no message has a break in it.
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

/// Ready to be read when the handler has said something and wakes.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}
