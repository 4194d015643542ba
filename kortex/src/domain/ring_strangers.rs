//! A ring in this process's own memory, with a peer that does anything.
//!
//! # Soundness
//!
//! See `ring`. The memory stays as long as both sides, which one thread uses.

use alloc::boxed::Box;
use alloc::vec;

use super::*;

/// A ring that isn't mirrored.
pub(super) struct Memory {
    indices: Indices,
    bytes: Box<[u8]>,
}

impl Memory {
    pub(super) fn new(capacity: usize) -> Memory {
        Memory { indices: Indices::default(), bytes: vec![0; capacity].into() }
    }

    fn place(&mut self) -> Place {
        let (bytes, capacity) = (self.bytes.as_mut_ptr(), self.bytes.len());
        Place { indices: &raw const self.indices, bytes, capacity, mirrored: false }
    }

    pub(super) fn sides(&mut self) -> (Writer, Reader) {
        let place = self.place();
        // SAFETY: the memory outlives both in each test.
        unsafe { (Writer::new(place), Reader::new(place)) }
    }
}

/// Steps of two sides. The peer writes anything where it may; this side reads and writes as in a channel. This side
/// must find the error, or stay inside its rings.
///
/// # Panics
/// This side does neither.
pub fn talk(steps: &[u8]) {
    const CAPACITY: usize = 32;
    let (mut from, mut to) = (Memory::new(CAPACITY), Memory::new(CAPACITY));
    let (theirs, ours) = (from.place(), to.place());
    let ((_, mut reader), (mut writer, _)) = (from.sides(), to.sides());
    for step in steps.chunks_exact(10) {
        let (count, index) =
            (usize::from(step[1]), u64::from_be_bytes(step[2..].try_into().expect("eight bytes")));
        match step[0] % 8 {
            0 => theirs.indices().tail.0.store(index, Release),
            1 => drop(theirs.indices().tail.0.fetch_add(count as u64, Release)),
            2 => ours.indices().head.0.store(index, Release),
            3 => drop(ours.indices().head.0.fetch_add(count as u64, Release)),
            4 => theirs.indices().starved.0.store(index as u32, Relaxed),
            // SAFETY: inside the ring.
            5 => unsafe { *theirs.bytes.add(count % CAPACITY) = index as u8 },
            6 => {
                let Ok(there) = reader.look() else { return };
                assert!(there <= CAPACITY);
                let mut room = vec![0; count];
                let copied = reader.copy_to(&mut room);
                assert!(copied <= there.min(count));
                reader.skip(copied);
            }
            _ => {
                let Ok(written) = writer.write(&vec![step[2]; count]) else { return };
                assert!(written <= CAPACITY.min(count));
                writer.publish();
            }
        }
    }
}
