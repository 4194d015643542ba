//! Tests of giving memory back.

use alloc::vec::Vec;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::heap::Memory;

/// A clock that each look at it moves on; nothing else of a platform is asked for.
struct Clock(AtomicU64);

impl Threads for Clock {
    fn clock(&self) -> u64 {
        self.0.fetch_add(1000, Relaxed)
    }

    fn processors(&self) -> usize {
        1
    }

    fn start_worker(&self, _: usize, _: unsafe fn(usize), _: usize) -> bool {
        false
    }

    fn park(&self, _: usize) {}
    fn unpark(&self, _: usize) {}
    fn start_ticker(&self, _: crate::platform::Tick) {}
    fn wake_ticker(&self) {}
    fn notify(&self) {}

    fn allocate(&self, _: usize) -> *mut u8 {
        unreachable!("the heap has its own memory")
    }

    unsafe fn free(&self, _: *mut u8, _: usize) {
        unreachable!("the heap has its own memory")
    }
}

const BLOCKS: usize = 60_000;
const BYTES: usize = 256;

#[test]
#[cfg_attr(any(miri, feature = "exact-memory"), ignore = "small blocks are what it is about")]
fn what_is_freed_while_memory_is_given_back_is_given_back_too() {
    let (mut heap, clock, mut surplus) =
        (Heap::new(Memory::new(usize::MAX, None)), Clock(AtomicU64::new(0)), Surplus::new());
    let mut blocks: Vec<*mut u8> = (0..BLOCKS).map(|_| heap.allocate(BYTES)).collect();
    // Of each chunk something is in use when the sweep begins.
    let others = blocks.split_off(BLOCKS / 3);
    let (kept, freed): (Vec<_>, Vec<_>) = others.into_iter().enumerate().partition(|(i, _)| i % 4 == 0);
    let freed = freed.into_iter().map(|(_, block)| block);
    // SAFETY: they were allocated above with as many bytes, and nothing uses them any more.
    freed.chain(blocks).for_each(|block| unsafe { heap.free(block, BYTES) });
    while !heap.is_swept() {
        surplus.look(&mut heap, &clock, 1);
        clock.0.fetch_add(PATIENCE, Relaxed);
    }
    for (_, block) in kept {
        surplus.look(&mut heap, &clock, 1);
        // SAFETY: ours, and no more used.
        unsafe { heap.free(block, BYTES) };
    }
    for _ in 0..100_000 {
        surplus.look(&mut heap, &clock, WHEN_IDLE);
        clock.0.fetch_add(PATIENCE, Relaxed);
    }
    let unused = heap.unused();
    assert!(unused < BLOCKS * BYTES / 4, "{unused} bytes of {} are kept", BLOCKS * BYTES);
}
