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

/// Whoever needs memory beyond the limit gets no more than that: otherwise others would live on what is left.
#[test]
fn what_must_not_fail_lets_nobody_else_beyond_the_limit() {
    let limit = 500_000;
    let memory = Memory::new(limit, None);
    let mut heap = Heap::new(memory.clone());
    let mut blocks = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..20_000 {
        let block = heap.allocate(96);
        if !block.is_null() {
            blocks.push(block);
        }
        kept.push(heap.keep([0u64; 20]));
    }
    let records = kept.len() * size_of::<[u64; 20]>();
    assert!(blocks.len() * 96 <= limit, "{} blocks", blocks.len());
    assert!(memory.granted() <= limit + records + 2 * CREDIT as usize, "{}", memory.granted());
    for block in blocks {
        // SAFETY: live.
        unsafe { heap.free(block, 96) };
    }
    for record in kept {
        // SAFETY: live.
        unsafe { heap.take_back(record) };
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
    let bytes = memory.chunk_bytes();
    assert!(bytes < 500_000, "{bytes} bytes of chunks");
}

/// A block in use, with a mark in its first and last byte.
struct Marked(*mut u8, usize, u8);

impl Marked {
    fn new(heap: &mut Heap, dice: &mut Dice) -> Marked {
        let (bytes, mark) = (1 + dice.below(SMALL.max(300)), dice.below(256) as u8);
        let block = heap.allocate(bytes);
        assert!(!block.is_null());
        // SAFETY: ours.
        unsafe {
            block.write(mark);
            block.add(bytes - 1).write(mark);
        }
        Marked(block, bytes, mark)
    }

    fn free(self, heap: &mut Heap) {
        // SAFETY: live.
        unsafe {
            assert_eq!((*self.0, *self.0.add(self.1 - 1)), (self.2, self.2));
            heap.free(self.0, self.1);
        }
    }
}

const MANY: usize = if cfg!(miri) { 2000 } else { 50_000 };

#[test]
fn chunks_without_blocks_in_use_go_back_and_those_of_survivors_stay() {
    let (mut heap, mut dice) = (heap(), Dice(3));
    let blocks: Vec<Marked> = (0..MANY).map(|_| Marked::new(&mut heap, &mut dice)).collect();
    let full = heap.memory().chunk_bytes();
    // All that survive are among the first, so they share few chunks.
    let mut survivors = Vec::new();
    for (index, block) in blocks.into_iter().enumerate() {
        if index % 10 == 0 && index < MANY / 10 { survivors.push(block) } else { block.free(&mut heap) }
    }
    assert!(heap.sweep(&mut || false));
    let left = heap.memory().chunk_bytes();
    assert!(left <= full / 2 && (SMALL == 0 || left >= heap.live()), "{left} of {full}");
    // Nothing is gained where something survives, and what is free there is found again.
    assert!(heap.sweep(&mut || false));
    assert_eq!(heap.memory().chunk_bytes(), left);
    let more: Vec<Marked> = (0..MANY / 50).map(|_| Marked::new(&mut heap, &mut dice)).collect();
    assert!(heap.memory().chunk_bytes() <= left + LARGEST_CHUNK);
    more.into_iter().chain(survivors).for_each(|block| block.free(&mut heap));
    assert_eq!(heap.live(), 0);
    assert!(heap.sweep(&mut || false));
    assert!(heap.memory().chunk_bytes() <= LARGEST_CHUNK, "only what hasn't been carved yet");
}

#[test]
fn blocks_come_and_go_while_others_are_swept() {
    let memory = Memory::new(usize::MAX, None);
    let (mut heap, mut other, mut dice) = (Heap::new(memory.clone()), Heap::new(memory.clone()), Dice(4));
    let mut live: Vec<Marked> = Vec::new();
    let (mut ended, mut most) = (0, 0);
    for round in 0..ROUNDS {
        // Full and empty by turns.
        let wanted = if (round / (ROUNDS / 10)).is_multiple_of(2) { MANY / 4 } else { 100 };
        let from = if dice.below(4) == 0 { &mut other } else { &mut heap };
        if live.len() < wanted {
            (0..4).for_each(|_| live.push(Marked::new(from, &mut dice)));
        } else {
            for _ in 0..live.len().min(4) {
                live.swap_remove(dice.below(live.len())).free(from);
            }
        }
        most = most.max(memory.chunk_bytes());
        let mut steps = dice.below(5);
        let mut is_over = || {
            steps = steps.saturating_sub(1);
            steps == 0
        };
        if dice.below(5) == 0 && heap.sweep(&mut is_over) {
            ended += 1;
            other.retire();
        }
    }
    assert!(ended > 0);
    live.into_iter().for_each(|block| block.free(&mut heap));
    other.retire();
    while !heap.sweep(&mut || true) {}
    assert!(heap.sweep(&mut || false));
    drop(other);
    assert_eq!(heap.live(), 0);
    assert!(
        memory.chunk_bytes() <= 2 * LARGEST_CHUNK && (SMALL == 0 || most > 2 * LARGEST_CHUNK || cfg!(miri))
    );
}
