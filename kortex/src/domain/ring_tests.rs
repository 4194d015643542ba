//! A ring in this process's own memory, so that Miri sees every access. `-Zmiri-many-seeds` tries schedules.

use std::vec::Vec;
use std::{format, thread};

use super::strangers::Memory;
use super::*;

/// Goes to another thread.
struct Sent<T>(T);
// SAFETY: each side is used by one thread.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn open(self) -> T {
        self.0
    }
}

fn read(reader: &mut Reader) -> Vec<u8> {
    let mut read = Vec::new();
    while reader.look().unwrap() > 0 {
        // SAFETY: the writer is in this process.
        let piece = unsafe { reader.bytes() }.to_vec();
        reader.skip(piece.len());
        read.extend(piece);
    }
    read
}

#[test]
fn what_is_written_is_seen_when_it_is_published() {
    let mut memory = Memory::new(16);
    let (mut writer, mut reader) = memory.sides();
    assert_eq!(writer.write(b"frame").unwrap(), 5);
    assert_eq!(reader.look(), Ok(0));
    assert_ne!(writer.publish(), 0);
    assert_eq!(writer.publish(), 0);
    assert!(reader.has_changed());
    assert_eq!(read(&mut reader), b"frame");
    assert!(!reader.has_changed());
}

#[test]
fn a_full_ring_takes_no_more_until_it_is_read() {
    let mut memory = Memory::new(16);
    let (mut writer, mut reader) = memory.sides();
    assert_eq!(writer.write(b"0123456789abcdefgh").unwrap(), 16);
    assert!(writer.room(1).unwrap().is_empty());
    writer.publish();
    writer.starve(true);
    assert!(reader.writer_starves());
    assert_eq!(reader.look(), Ok(16));
    reader.skip(10);
    assert!(writer.has_changed());
    assert_eq!(writer.write(b"ghijklmnopqrst").unwrap(), 10);
    writer.publish();
    assert_eq!(read(&mut reader), b"abcdefghijklmnop");
}

#[test]
fn bytes_come_in_order_from_another_thread() {
    let mut memory = Memory::new(64);
    let (mut writer, mut reader) = memory.sides();
    let total = if cfg!(miri) { 600 } else { 4_000_000 };
    let bytes = |from: usize, to: usize| (from..to).map(|i| (i % 251) as u8).collect::<Vec<u8>>();
    let sent = Sent(move || {
        let mut written = 0;
        while written < total {
            let batch = bytes(written, (written + written % 97 + 1).min(total));
            written += writer.write(&batch).unwrap();
            if written % 3 != 0 || written == total || writer.room(1).unwrap().is_empty() {
                writer.publish();
            }
            thread::yield_now();
        }
        writer.publish();
    });
    thread::scope(|scope| {
        scope.spawn(move || sent.open()());
        let mut got = 0;
        while got < total {
            let piece = read(&mut reader);
            assert_eq!(piece, bytes(got, got + piece.len()));
            got += piece.len();
            thread::yield_now();
        }
    });
}

/// See the fuzzer `ring`, which begins with the same seeds.
#[test]
#[cfg_attr(
    miri,
    ignore = "the stranger writes to the same memory through a way of its own, as another process does"
)]
fn nonsense_from_the_other_side_is_found_out() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for _ in 0..100_000 {
        let mut bytes = Vec::new();
        for _ in 0..8 {
            let wrong = match next() % 3 {
                0 => next(),
                1 => next() % 80,
                _ => u64::MAX - next() % 40,
            };
            bytes.extend([next() as u8, next() as u8]);
            bytes.extend(wrong.to_be_bytes());
        }
        strangers::talk(&bytes);
    }
    for seed in ["good", "wrong"] {
        let seed = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/ring/{}"), seed);
        let seed = std::fs::read(seed).expect("it can be read");
        for _ in 0..20_000 {
            let mut bytes = seed.clone();
            for _ in 0..next() % 8 {
                let at = next() as usize % bytes.len();
                bytes[at] = next() as u8;
            }
            strangers::talk(&bytes);
        }
    }
}
