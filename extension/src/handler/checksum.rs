//! The Internet checksum (RFC 1071), also in the same pass as a copy. Words are added in the machine's byte order: the
//! sum then has the byte order of the words in the message.
//!
//! `unsafe` here: memory is accessed by pointers, because the region may be shared with an application that changes it.

/// Bytes that are summed at once: they fit into vector registers, and partial sums don't overflow.
const BLOCK: usize = 32;

/// The checksum of bytes.
///
/// # Safety
/// `length` bytes can be read at `from`.
pub(super) unsafe fn of(from: *const u8, length: usize) -> u16 {
    // SAFETY: the caller promises that `length` bytes can be read.
    unsafe { passed(from, length, |_, _| {}) }
}

/// The checksum of bytes that it copies.
///
/// # Safety
/// `length` bytes can be read at `from` and written at `to`, and they don't overlap.
pub(super) unsafe fn copied(to: *mut u8, from: *const u8, length: usize) -> u16 {
    // SAFETY: so many bytes can be read; each part is written at the same distance from `to`.
    unsafe {
        passed(from, length, |at, bytes| to.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()))
    }
}

/// The checksum of bytes, which are passed to `take` in parts, with the distance of each.
///
/// # Safety
/// `length` bytes can be read at `from`.
#[inline(always)]
unsafe fn passed(from: *const u8, length: usize, mut take: impl FnMut(usize, &[u8])) -> u16 {
    let mut sums = [0u64; BLOCK / 4];
    let mut at = 0;
    while at + BLOCK <= length {
        // SAFETY: the block ends before `length`.
        let block = unsafe { from.add(at).cast::<[u8; BLOCK]>().read_unaligned() };
        take(at, &block);
        add(&mut sums, &block);
        at += BLOCK;
    }
    let (mut block, left) = ([0; BLOCK], length - at);
    // SAFETY: so many bytes are left, fewer than a block.
    unsafe { block.as_mut_ptr().copy_from_nonoverlapping(from.add(at), left) };
    take(at, &block[..left]);
    add(&mut sums, &block);
    folded(sums.iter().sum())
}

#[inline(always)]
fn add(sums: &mut [u64; BLOCK / 4], block: &[u8; BLOCK]) {
    for (sum, word) in sums.iter_mut().zip(block.as_chunks::<4>().0) {
        *sum += u64::from(u32::from_ne_bytes(*word));
    }
}

fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Word by word, as in the RFC.
    fn naive(bytes: &[u8]) -> u16 {
        let word = |pair: &[u8]| u64::from(u16::from_ne_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        folded(bytes.chunks(2).map(word).sum())
    }

    #[test]
    fn it_is_that_of_words_at_all_lengths_and_places() {
        let bytes: Vec<u8> = (0..400u32).map(|at| (at * at * 7 + 200) as u8).collect();
        for length in 0..300 {
            for begin in [0, 1, 2, 7, 31] {
                let part = &bytes[begin..begin + length];
                let mut to = vec![0xaa; length + 1];
                // SAFETY: both have so many bytes.
                let sums =
                    unsafe { (of(part.as_ptr(), length), copied(to.as_mut_ptr(), part.as_ptr(), length)) };
                assert_eq!(sums, (naive(part), naive(part)));
                assert_eq!((&to[..length], to[length]), (part, 0xaa));
            }
        }
    }
}
