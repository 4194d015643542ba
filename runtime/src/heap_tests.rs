//! Tests of the heap. Under Miri they run with small sizes.

use alloc::vec::Vec;
use std::sync::mpsc;
use std::thread;

use super::*;

const ROUNDS: usize = if cfg!(miri) { 300 } else { 200_000 };

/// A repeatable stream of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

fn heap() -> Heap {
    Heap::new(Memory::new(usize::MAX, None))
}

#[test]
fn blocks_keep_what_is_written_to_them() {
    let (mut heap, mut dice) = (heap(), Dice(1));
    let mut live: Vec<(*mut u8, usize, u8)> = Vec::new();
    for round in 0..ROUNDS {
        if live.len() < 200 && dice.below(2) == 0 {
            let bytes = if dice.below(20) == 0 { 1 + dice.below(5000) } else { 1 + dice.below(300) };
            let mark = round as u8;
            let block = heap.allocate(bytes);
            assert!(!block.is_null() && (block as usize).is_multiple_of(8));
            // SAFETY: ours.
            unsafe { ptr::write_bytes(block, mark, bytes) };
            live.push((block, bytes, mark));
        } else if !live.is_empty() {
            let chosen = dice.below(live.len());
            let (block, bytes, mark) = live.swap_remove(chosen);
            // SAFETY: live.
            unsafe {
                assert!((0..bytes).all(|i| *block.add(i) == mark));
                heap.free(block, bytes);
            }
        }
    }
    for (block, bytes, _) in live {
        // SAFETY: live.
        unsafe { heap.free(block, bytes) };
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn zeroed_blocks_are_zero_though_used_before() {
    let mut heap = heap();
    for bytes in [1, 16, 100, 1024, 5000] {
        // SAFETY: each block is live until freed.
        unsafe {
            let block = heap.allocate(bytes);
            ptr::write_bytes(block, 7, bytes);
            heap.free(block, bytes);
            let block = heap.allocate_zeroed(bytes);
            assert!((0..bytes).all(|i| *block.add(i) == 0));
            heap.free(block, bytes);
        }
    }
}

#[test]
fn reallocation_keeps_contents_across_all_sizes() {
    let mut heap = heap();
    let sizes = [10, 30, 1024, 1025, 3000, 100_000, 2000, 900, 20];
    let mut block = heap.allocate(10);
    // SAFETY: the block is live and at least 10 bytes all the time.
    unsafe {
        ptr::write_bytes(block, 9, 10);
        for pair in sizes.windows(2) {
            block = heap.reallocate(block, pair[0], pair[1]);
            assert!((0..10).all(|i| *block.add(i) == 9));
        }
        heap.free(block, 20);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn the_limit_holds_and_memory_is_there_again_after_freeing() {
    let limit = 500_000;
    let mut heap = Heap::new(Memory::new(limit, None));
    for bytes in [96, 1000, 5000] {
        let mut blocks = Vec::new();
        loop {
            let block = heap.allocate(bytes);
            if block.is_null() {
                break;
            }
            blocks.push(block);
        }
        assert!(blocks.len() * bytes <= limit && (blocks.len() + 2) * bytes > limit);
        for block in blocks {
            // SAFETY: live.
            unsafe { heap.free(block, bytes) };
        }
    }
    assert!(heap.memory().peak() <= limit);
    assert!(heap.allocate(limit + 1).is_null());
    assert!(heap.allocate(usize::MAX - 3).is_null());
}

#[test]
fn blocks_that_are_forgotten_are_returned_with_the_memory() {
    let mut heap = heap();
    for bytes in [16, 500, 2000, 70_000] {
        assert!(!heap.allocate(bytes).is_null());
    }
}

/// A block on its way to another thread.
struct Sent(*mut u8);

// SAFETY: the sender forgets it.
unsafe impl Send for Sent {}

#[test]
fn a_producer_and_its_consumer_do_not_use_more_and_more() {
    let memory = Memory::new(usize::MAX, None);
    let (mut producer, mut consumer) = (Heap::new(memory.clone()), Heap::new(memory.clone()));
    let (send, receive) = mpsc::sync_channel::<Sent>(100);
    let count = if cfg!(miri) { 1000 } else { 1_000_000 };
    let thread = thread::spawn(move || {
        for Sent(block) in receive {
            // SAFETY: the producer gave it away.
            unsafe { consumer.free(block, 96) };
        }
    });
    for _ in 0..count {
        send.send(Sent(producer.allocate(96))).unwrap();
    }
    drop(send);
    thread.join().unwrap();
    drop(producer);
    assert_eq!(memory.granted(), 0);
    let mut chunk = *memory.chunks.lock();
    let mut bytes = 0;
    while !chunk.is_null() {
        // SAFETY: chunks live as long as the memory.
        unsafe { (bytes, chunk) = (bytes + (*chunk).bytes, (*chunk).next) };
    }
    assert!(bytes < 500_000, "{bytes} bytes of chunks");
}
