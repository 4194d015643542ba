//! Long calls into the runtime, such as copying a long text, are done in parts: between two parts other processes run
//! if the time slice is over. The calling process keeps its place on the processor's stack meanwhile.
//! [`Ground::let_others_run`](crate::worker::Ground) knows what the other processes may do then.
//!
//! They can't change what the calling process works on: no other process changes a variable that it may read or write
//! until it gives up its lock, and texts that it was given have holders.

use core::cmp::Ordering;
use core::ops::Range;
use core::ptr::{self, null_mut};

use crate::layout::{Process, Worker};
use crate::worker::let_others_run;

/// Up to so many bytes are done at once.
pub const PART: usize = if cfg!(miri) { 1 << 10 } else { 1 << 18 };

/// Who calls the runtime: whether other processes may run within the call.
#[derive(Clone, Copy)]
pub struct Caller {
    worker: *mut Worker,
    process: *mut Process,
}

impl Caller {
    /// All is done at once.
    pub const HASTY: Caller = Caller { worker: null_mut(), process: null_mut() };

    /// A process: others run between parts.
    ///
    /// # Safety
    /// `process` runs on `worker`, the one of this thread, or `worker` tests its condition. As long as the result is
    /// used, no reference is held to anything that other processes may change.
    pub unsafe fn new(worker: *mut Worker, process: *mut Process) -> Caller {
        Caller { worker, process }
    }

    /// Other processes may run now.
    pub fn pause(self) {
        if !self.worker.is_null() {
            // SAFETY: the process runs here, and nothing is borrowed: see `Caller::new`.
            unsafe { let_others_run(self.worker, self.process) };
        }
    }

    /// The parts of so many bytes. Other processes may run before each but the first.
    fn parts(self, length: usize) -> impl Iterator<Item = Range<usize>> {
        (0..length).step_by(PART).map(move |start| {
            if start > 0 {
                self.pause();
            }
            start..length.min(start + PART)
        })
    }

    /// Copies bytes.
    ///
    /// # Safety
    /// `from` may be read and `to` written for so many bytes, also while other processes run. They don't overlap.
    #[inline]
    pub unsafe fn copy(self, from: *const u8, to: *mut u8, length: usize) {
        // SAFETY: that many bytes may be read and written.
        unsafe {
            if length <= PART {
                return ptr::copy_nonoverlapping(from, to, length);
            }
            self.copy_in_parts(from, to, length);
        }
    }

    /// The same for more bytes than a part.
    ///
    /// # Safety
    /// As for [`Caller::copy`].
    #[cold]
    #[inline(never)]
    unsafe fn copy_in_parts(self, from: *const u8, to: *mut u8, length: usize) {
        for part in self.parts(length) {
            // SAFETY: the part lies within the bytes.
            unsafe { ptr::copy_nonoverlapping(from.add(part.start), to.add(part.start), part.len()) };
        }
    }

    /// The order of bytes.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        if a.len() <= PART || b.len() <= PART { a.cmp(b) } else { self.compare_in_parts(a, b) }
    }

    #[cold]
    #[inline(never)]
    fn compare_in_parts(self, a: &[u8], b: &[u8]) -> Ordering {
        let common = a.len().min(b.len());
        let different =
            self.parts(common).map(|part| a[part.clone()].cmp(&b[part])).find(|order| order.is_ne());
        different.unwrap_or_else(|| a.len().cmp(&b.len()))
    }

    /// Whether bytes are equal; both are as many.
    #[inline]
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        if a.len() <= PART { a == b } else { self.compare_in_parts(a, b).is_eq() }
    }

    /// Where the first byte is for which `is` holds.
    #[inline]
    pub fn position(self, all: &[u8], is: impl Fn(u8) -> bool + Copy) -> Option<usize> {
        self.parts(all.len()).find_map(|part| {
            let start = part.start;
            all[part].iter().position(|&byte| is(byte)).map(|found| start + found)
        })
    }

    /// Where `wanted` first begins in `all`.
    #[inline]
    pub fn find(self, all: &[u8], wanted: &[u8]) -> Option<usize> {
        if all.len() <= PART { find(all, wanted) } else { self.find_in_parts(all, wanted) }
    }

    #[cold]
    #[inline(never)]
    fn find_in_parts(self, all: &[u8], wanted: &[u8]) -> Option<usize> {
        if wanted.len() > PART {
            return self.find_long(all, wanted);
        }
        // What begins in a part may end in the next one.
        let beyond = wanted.len().saturating_sub(1);
        self.parts(all.len()).find_map(|part| {
            let end = all.len().min(part.end + beyond);
            find(&all[part.start..end], wanted).map(|found| part.start + found)
        })
    }

    /// Finds what is longer than a part by a rolling hash (Rabin and Karp), a part at a time and without memory: bytes
    /// are compared only where the hash is that of `wanted`. Unless an input is made to collide, that takes time in
    /// proportion to the length.
    fn find_long(self, all: &[u8], wanted: &[u8]) -> Option<usize> {
        let last = all.len().checked_sub(wanted.len())?;
        let (sought, power) = self.remainder(wanted);
        let (mut here, _) = self.remainder(&all[..wanted.len()]);
        self.parts(last + 1).flatten().find(|&at| {
            let is_found = here == sought && self.equal(&all[at..at + wanted.len()], wanted);
            if let Some(&next) = all.get(at + wanted.len()) {
                let first = product(u64::from(all[at]), power);
                here = (product(here, BASE) + PRIME - first + u64::from(next)) % PRIME;
            }
            is_found
        })
    }

    /// The hash of bytes, that is, the remainder of the number of which they are the digits; and the remainder of the
    /// value of one more digit in front of them.
    fn remainder(self, bytes: &[u8]) -> (u64, u64) {
        self.parts(bytes.len()).flatten().fold((0, 1), |(sum, power), at| {
            ((product(sum, BASE) + u64::from(bytes[at])) % PRIME, product(power, BASE))
        })
    }
}

const PRIME: u64 = (1 << 61) - 1;
/// Any large number below the prime.
const BASE: u64 = 0x0B5A_D4EC_EDA1_CE2A;

/// A product's remainder.
fn product(a: u64, b: u64) -> u64 {
    let whole = u128::from(a) * u128::from(b);
    let sum = (whole as u64 & PRIME) + (whole >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline]
fn find(all: &[u8], wanted: &[u8]) -> Option<usize> {
    match *wanted {
        [byte] => memchr::memchr(byte, all),
        _ => memchr::memmem::find(all, wanted),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn what_is_found_may_lie_across_parts() {
        let mut all = vec![b'.'; 3 * PART + 5];
        assert_eq!(Caller::HASTY.find(&all, b"xyz"), None);
        for place in [0, PART - 2, PART - 1, PART, 2 * PART - 1, 3 * PART + 2] {
            all[place..place + 3].copy_from_slice(b"xyz");
            assert_eq!(Caller::HASTY.find(&all, b"xyz"), Some(place));
            assert_eq!(Caller::HASTY.find(&all, b"z"), Some(place + 2));
            all[place..place + 3].copy_from_slice(b"...");
        }
        assert_eq!(Caller::HASTY.find(&all, b""), Some(0));
    }

    #[test]
    fn what_is_longer_than_a_part_is_found() {
        let mut all: vec::Vec<u8> = (0..4 * PART).map(|place| (place % 7) as u8).collect();
        let wanted = all[3..PART + 20].to_vec();
        assert_eq!(Caller::HASTY.find(&all, &wanted), Some(3));
        // Almost the same stands before it, again and again.
        for place in [0, 5 * 7 + 3, 2 * PART + 1, 3 * PART - 17] {
            all[place + wanted.len() - 1] = 9;
            let marked = all[place..place + wanted.len()].to_vec();
            assert_eq!(Caller::HASTY.find(&all, &marked), find(&all, &marked), "{place}");
            all[place + wanted.len() - 1] = ((place + wanted.len() - 1) % 7) as u8;
        }
        assert_eq!(Caller::HASTY.find(&all, &[&wanted[..], b"x"].concat()), None);
        assert_eq!(Caller::HASTY.find(&wanted, &all), None);
        assert_eq!(Caller::HASTY.find(&all, &all), Some(0));
    }

    #[test]
    fn parts_are_compared_in_order() {
        let all = vec![5; 2 * PART + 5];
        for place in [0, PART - 1, PART, 2 * PART, 2 * PART + 4] {
            let mut other = all.clone();
            other[place] = 6;
            assert_eq!(Caller::HASTY.compare(&all, &other), Ordering::Less);
            assert!(!Caller::HASTY.equal(&all, &other) && Caller::HASTY.equal(&all, &all.clone()));
            assert_eq!(Caller::HASTY.compare(&all, &other[..=place]), Ordering::Less);
            assert_eq!(Caller::HASTY.compare(&all, &all[..=place]), (all.len()).cmp(&(place + 1)));
        }
    }

    #[test]
    fn parts_are_copied_to_the_last_byte() {
        let all: vec::Vec<u8> = (0..2 * PART + 5).map(|place| place as u8).collect();
        let mut copied = vec![0; all.len()];
        // SAFETY: both are that long.
        unsafe { Caller::HASTY.copy(all.as_ptr(), copied.as_mut_ptr(), all.len()) };
        assert!(copied == all);
    }
}
