//! Blocks of calls that a user ships to a server, which is a user as well: one call of another address space for all of them.
//!
//! A block lies in the channel between both. For each call there are four words: its number in the server's interface and, in the upper half,
//! the word of the channel where its answer goes, which may be one of a later call; then the three words that are passed, as with a call alone.
//!
//! The client may change all of it meanwhile. The server reads each word once, and takes whatever it is: a number that isn't in its interface is
//! refused, and answers stay in the channel.

use core::hint::black_box;

use users::calls::{Number, call};
use users::measures::measure;
use users::say;

use crate::BLOCK;
use crate::programs::REFUSED;

/// Where a client has its channel, and how many words that is.
const CHANNEL: u64 = 0x80_0000_0000 + (160 << 30);
const WORDS: usize = 512;
/// So many calls a block makes at most.
const MOST: u64 = 100;

type Method = fn(u64, u64, u64) -> i64;

/// The server's interface.
static METHODS: [Method; 2] = [nothing, next];

fn nothing(_: u64, _: u64, _: u64) -> i64 {
    42
}

fn next(number: u64, _: u64, _: u64) -> i64 {
    number as i64 + 1
}

/// A channel, on either side.
struct Channel(*mut u64);

impl Channel {
    fn get(&self, word: usize) -> u64 {
        assert!(word < WORDS);
        // SAFETY: a word of a page that is there for ever.
        unsafe { self.0.add(word).read_volatile() }
    }

    fn set(&self, word: usize, value: u64) {
        assert!(word < WORDS);
        // SAFETY: likewise.
        unsafe { self.0.add(word).write_volatile(value) };
    }
}

/// Of the server: how many calls of a block weren't made; the first of those was refused.
pub fn serve(channel: u64, count: u64) -> i64 {
    if channel == 0 || count > MOST {
        return REFUSED;
    }
    let words = channel as *mut u64;
    for left in (1..=count).rev() {
        // SAFETY: words of the channel, because there aren't more calls.
        unsafe {
            let call = words.add(4 * (count - left) as usize);
            let what = call.read_volatile();
            let [a, b, c] =
                [call.add(1).read_volatile(), call.add(2).read_volatile(), call.add(3).read_volatile()];
            let (number, answer) = (what as u32 as usize, (what >> 32) as usize);
            if number >= METHODS.len() || answer >= WORDS {
                return left as i64;
            }
            words.add(answer).write_volatile(METHODS[number](a, b, c) as u64);
        }
    }
    0
}

/// The client's side.
const OWN: Channel = Channel(CHANNEL as *mut u64);

fn pass(number: usize, method: u64, answer: u64, words: [u64; 3]) {
    OWN.set(4 * number, method | answer << 32);
    (0..3).for_each(|word| OWN.set(4 * number + 1 + word, words[word]));
}

fn ship(count: usize) -> i64 {
    call(Number::Server, BLOCK, count as u64)
}

/// What calls of a server cost one by one, and as a block.
pub fn measures() {
    for count in [1, 10, 100] {
        (0..count).for_each(|number| pass(number, 0, 400, [0; 3]));
        assert_eq!((ship(count), OWN.get(400)), (0, 42));
        let single = measure(|| {
            for _ in 0..count {
                black_box(call(Number::Server, 0, 0));
            }
        });
        say!("single lrpc {count} {single}");
        say!("interp lrpc {count} {}", measure(|| _ = ship(count)));
    }
}

/// Blocks that are none, and one whose answers go to later calls.
pub fn checks() {
    (0..100).for_each(|number| pass(number, 1, (4 * (number as u64 + 1) + 1) % 400, [7, 0, 0]));
    assert_eq!((ship(100), OWN.get(1)), (0, 107));
    for (method, answer) in [(2, 0), (u32::MAX as u64, 0), (0, 512), (1, u32::MAX as u64), (1 << 31, 1 << 31)]
    {
        pass(1, method, answer, [0; 3]);
        assert_eq!(ship(3), 2, "{method} {answer}");
    }
    for count in [101, 512, u64::MAX] {
        assert_eq!(call(Number::Server, BLOCK, count), REFUSED);
    }
    for (at, pages) in [(CHANNEL, 1), (CHANNEL - 4096, 2), (CHANNEL + 4096, 1), (CHANNEL, 64)] {
        assert_eq!((call(Number::Unmap, at, pages), call(Number::Map, at, pages)), (REFUSED, REFUSED));
    }
    say!("blocks for a server are made, or refused");
    // Channels of servers: there are none of this one's.
    users::attacks::touch(CHANNEL + 4096);
}
