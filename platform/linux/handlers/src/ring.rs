//! What a handler in the kernel says to its application: a ring of Linux's kind RINGBUF, as its reader has it.
//!
//! `unsafe` here: the ring's pages are mapped and read. That is sound because only what the kernel says is there is read, it is checked
//! to lie in the ring, and nobody writes there until this says that it has been read.

use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PAGE: usize = 4096;
/// What stands before each message: its length, and where it stands.
const HEAD: usize = 8;
const IS_BUSY: u32 = 1 << 31;
const IS_DISCARDED: u32 = 1 << 30;

/// See the head of this file.
#[derive(Debug)]
pub struct Ring {
    map: OwnedFd,
    /// How far it has been read; then how far it has been written, and the ring twice.
    consumer: NonNull<u8>,
    producer: NonNull<u8>,
    bytes: usize,
}

// SAFETY: there is one reader, who has all of this.
unsafe impl Send for Ring {}

impl Ring {
    /// The reader of a ring of so many bytes. There may be only one.
    pub fn new(map: &OwnedFd, bytes: usize) -> Result<Ring> {
        let map = map.try_clone()?;
        let consumer = pages(&map, 0, PAGE, libc::PROT_READ | libc::PROT_WRITE)?;
        let producer = match pages(&map, PAGE, PAGE + 2 * bytes, libc::PROT_READ) {
            Ok(pages) => pages,
            Err(error) => {
                unmap(consumer, PAGE);
                return Err(error);
            }
        };
        Ok(Ring { map, consumer, producer, bytes })
    }

    /// The first message, if there is one.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        loop {
            // SAFETY: both pages begin with such a number.
            let (read, written) = unsafe {
                (
                    AtomicU64::from_ptr(self.consumer.cast().as_ptr()),
                    AtomicU64::from_ptr(self.producer.cast().as_ptr()),
                )
            };
            let begin = read.load(Ordering::Relaxed);
            if begin >= written.load(Ordering::Acquire) {
                return None;
            }
            let place = PAGE + (begin as usize & (self.bytes - 1));
            // SAFETY: messages begin at multiples of 8 within the ring.
            let head = unsafe { AtomicU32::from_ptr(self.producer.add(place).cast().as_ptr()) }
                .load(Ordering::Acquire);
            if head & IS_BUSY != 0 {
                return None;
            }
            let length = (head & !IS_DISCARDED) as usize;
            assert!(length <= self.bytes, "a message of {length} bytes in a ring of {}", self.bytes);
            // SAFETY: the ring stands there twice, so that no message has a break in it.
            let message =
                unsafe { slice::from_raw_parts(self.producer.add(place + HEAD).as_ptr(), length) }.to_vec();
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

impl Drop for Ring {
    fn drop(&mut self) {
        unmap(self.consumer, PAGE);
        unmap(self.producer, PAGE + 2 * self.bytes);
    }
}

fn pages(map: &OwnedFd, from: usize, length: usize, protection: i32) -> Result<NonNull<u8>> {
    // SAFETY: nothing that is mapped already is replaced.
    let pages = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            protection,
            libc::MAP_SHARED,
            map.as_raw_fd(),
            from as libc::off_t,
        )
    };
    match NonNull::new(pages.cast::<u8>()) {
        Some(begin) if pages != libc::MAP_FAILED => Ok(begin),
        _ => Err(Error::last_os_error()),
    }
}

fn unmap(pages: NonNull<u8>, length: usize) {
    // SAFETY: they were mapped by `pages`, and nobody looks there any more.
    unsafe { libc::munmap(pages.as_ptr().cast(), length) };
}
