//! Regions: memory that a handler and its application share, at the same addresses for both (*ASHs*, section III-A).
//!
//! `unsafe` here: a mapping is lent, and accessed by address. It stays mapped while a [`Region`] or the handler has it.
//! All accesses are of single bytes or words, and atomic, because the handler may change them at the same time, here or
//! in the kernel.

use std::hint::black_box;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use drystone_extension::engine::Memory;
use drystone_extension::handler::{Handler, Image, Settings};

use crate::mapping::{Mapping, PAGE};

/// The application's handle of a region. Clones are the same region.
#[derive(Clone, Debug)]
pub struct Region(Arc<Mapped>);

#[derive(Debug)]
struct Mapped {
    /// The mapping, with the room around the region.
    pages: Mapping,
    /// Bytes that are mapped in front of the region and behind it.
    around: usize,
    length: usize,
    /// Whether a handler has it.
    is_taken: AtomicBool,
}

impl Mapped {
    fn begin(&self) -> NonNull<u8> {
        // SAFETY: the mapping has `around` bytes in front of the region.
        unsafe { self.pages.begin().add(self.around) }
    }
}

impl Region {
    /// The region of a handler in the kernel: the memory of an arena map. All pages are allocated now, because a
    /// handler can't wait for page faults.
    pub fn of_map(map: &OwnedFd, address: Option<u64>, length: usize) -> Result<Region> {
        let pages = at_or_anywhere(address, length, |address| {
            Mapping::shared(map.as_fd(), Some(address), (0, length), true)
        })?;
        let region = Region::with(pages, 0, length, true);
        for page in (0..length).step_by(PAGE) {
            // The compiler leaves out what changes nothing, if it isn't told that somebody looks at it.
            black_box(region.byte(page).load(Ordering::Relaxed));
        }
        Ok(region)
    }

    /// A region of zeros for a handler in this process, at an address, or anywhere.
    pub fn new(address: Option<u64>, length: usize) -> Result<Region> {
        let pages = at_or_anywhere(address, length, |address| {
            let begin = address.checked_sub(PAGE).ok_or(ErrorKind::InvalidInput)?;
            Mapping::new(Some(begin), length + 2 * PAGE)
        })?;
        Ok(Region::with(pages, PAGE, length, false))
    }

    fn with(pages: Mapping, around: usize, length: usize, is_taken: bool) -> Region {
        Region(Arc::new(Mapped { pages, around, length, is_taken: AtomicBool::new(is_taken) }))
    }

    /// The handler's memory, if no handler has it yet.
    fn memory(&self) -> Option<Memory> {
        let is_taken = self.0.is_taken.swap(true, Ordering::Relaxed);
        // SAFETY: `around` bytes, a page at least, are mapped in front of the region and behind it while the lender
        // lives. Nobody else gets them, and the region itself is only accessed by atomics here.
        (!is_taken).then(|| unsafe { Memory::lent(self.0.begin().cast(), self.0.length, self.0.clone()) })
    }

    /// Its address, for application and handler.
    pub fn address(&self) -> u64 {
        self.0.begin().as_ptr().expose_provenance() as u64
    }

    /// Its bytes.
    pub fn length(&self) -> usize {
        self.0.length
    }

    fn byte(&self, offset: usize) -> &AtomicU8 {
        assert!(offset < self.0.length, "byte {offset} of a region of {}", self.0.length);
        // SAFETY: the byte is within the region, which is mapped as long as this is borrowed, and only accessed
        // atomically.
        unsafe { AtomicU8::from_ptr(self.0.begin().add(offset).as_ptr()) }
    }

    /// A number in it, which the handler may change too.
    ///
    /// # Panics
    /// If it isn't within the region, or the offset isn't a multiple of 8.
    pub fn number(&self, offset: usize) -> &AtomicU64 {
        assert!(
            offset.is_multiple_of(8) && offset < self.0.length,
            "number {offset} of a region of {}",
            self.0.length
        );
        // SAFETY: the word is within the region, whose length is a multiple of 8, too, and which is mapped as long as
        // this is borrowed.
        unsafe { AtomicU64::from_ptr(self.0.begin().add(offset).cast().as_ptr()) }
    }

    /// Copies bytes out of it.
    ///
    /// # Panics
    /// If they don't lie in the region.
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        for (at, to) in to.iter_mut().enumerate() {
            *to = self.byte(offset + at).load(Ordering::Relaxed);
        }
    }

    /// Copies bytes into it.
    ///
    /// # Panics
    /// If they don't lie in the region.
    pub fn write(&self, offset: usize, from: &[u8]) {
        for (at, from) in from.iter().enumerate() {
            self.byte(offset + at).store(*from, Ordering::Relaxed);
        }
    }
}

/// Maps a region at an address, or at some free multiple of its length below 4 GiB.
fn at_or_anywhere(
    wish: Option<u64>,
    length: usize,
    at: impl Fn(usize) -> Result<Mapping>,
) -> Result<Mapping> {
    const LOWEST: usize = 1 << 28;
    const END: usize = 1 << 32;
    if let Some(wish) = wish {
        return at(wish as usize);
    }
    let step = length.max(1 << 20);
    let tried = (LOWEST.next_multiple_of(step)..END - length).step_by(step).map(at);
    let is_taken = |error: &Error| error.kind() == ErrorKind::AlreadyExists;
    let mut tried = tried.skip_while(|tried| tried.as_ref().is_err_and(is_taken));
    tried.next().unwrap_or_else(|| Err(Error::other("there is no room below 4 GiB")))
}

/// Makes a handler for this process, whose region the application shares. Only one handler may have a region.
///
/// # Errors
/// As for [`Handler::with_region`].
pub fn handler(image: &Image, region: &Region, settings: Settings) -> std::result::Result<Handler, String> {
    let memory = region.memory().ok_or("this region is another handler's")?;
    Handler::with_region(image, memory, region.address(), settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of them are mapped at once.
    #[test]
    fn a_region_is_given_back_with_the_last_who_has_it() {
        for round in 0..5000 {
            let region = Region::new(None, 1 << 12).expect("there is room");
            let memory = region.memory().expect("nobody has it");
            assert!(region.memory().is_none());
            region.write(0, &[7]);
            // Either may be the last one.
            if round % 2 == 0 {
                drop(region);
                assert_eq!(memory.own()[0], 7);
            } else {
                drop(memory);
                assert_eq!(region.byte(0).load(Ordering::Relaxed), 7);
            }
        }
    }
}
