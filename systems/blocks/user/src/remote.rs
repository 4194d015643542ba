//! Blocks of calls that a user ships to a server, which is a user as well: one crossing of address spaces for all of
//! them.
//!
//! A block lies in the channel of the two. Each call has four words. The first is its number in the server's interface
//! and, in the upper half, the word of the channel for its answer, which may be an argument of a later call. The other
//! three are the arguments, as with a single call.
//!
//! The client may change all of it meanwhile. The server reads each word once, and any value is safe: an unknown number
//! is refused, and answers stay in the channel.

use core::hint::black_box;

use counting::measure;
use users::calls::{self, Number, call};
use users::say;

use crate::programs::{self, wire};
use crate::shipping::{
    self, BLOCK, BUDGET, By, CHANNEL, CHANNEL_BYTES, DECLINED, LIE, REFUSED, Request, WORDS,
};

/// Calls of a block, at most.
const MOST: u64 = 100;

type Method = fn(u64, u64, u64) -> i64;

/// The server's interface.
pub static METHODS: [Method; 3] = [slowly, next, nothing];

/// The number of the empty method: the same as the kernel's, so that the same programs call either.
const NOTHING: u64 = Number::Nothing as u64;

/// Answers after other threads have had some turns.
pub fn slowly(number: u64, _: u64, _: u64) -> i64 {
    (0..20).for_each(|_| calls::give_way());
    number as i64 + 1
}

fn nothing(_: u64, _: u64, _: u64) -> i64 {
    42
}

fn next(number: u64, _: u64, _: u64) -> i64 {
    number as i64 + 1
}

/// A channel, on either side.
pub struct Channel(*mut u64);

impl Channel {
    pub fn get(&self, word: usize) -> u64 {
        assert!(word < WORDS);
        // SAFETY: a word of a page that is there for ever.
        unsafe { self.0.add(word).read_volatile() }
    }

    pub fn set(&self, word: usize, value: u64) {
        assert!(word < WORDS);
        // SAFETY: likewise.
        unsafe { self.0.add(word).write_volatile(value) };
    }
}

/// The server's address of the channel that the kernel names.
pub fn channel_of(this: u64) -> u64 {
    CHANNEL + CHANNEL_BYTES as u64 * (this & 4095)
}

/// The server's side: makes a block's calls, and returns how many weren't made; the first of those was refused.
pub fn serve(this: u64, count: u64) -> i64 {
    if this == 0 || count > MOST {
        return DECLINED;
    }
    let words = channel_of(this) as *mut u64;
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

/// The client's own channel.
pub const OWN: Channel = Channel(CHANNEL as *mut u64);

pub fn pass(number: usize, method: u64, answer: u64, words: [u64; 3]) {
    OWN.set(4 * number, method | answer << 32);
    (0..3).for_each(|word| OWN.set(4 * number + 1 + word, words[word]));
}

/// Ships a block, and returns how many of its calls weren't made.
#[inline(always)]
pub fn ship(count: usize) -> i64 {
    ship_as(BLOCK, count)
}

/// As above, by the number of the method that runs blocks.
#[inline(always)]
pub fn ship_as(what: u64, count: usize) -> i64 {
    let count = count as u64;
    match call(Number::Server, what, count) {
        left if left as u64 <= count => left,
        strange => not_shipped(what, count, strange),
    }
}

/// It couldn't be asked just now, or isn't what it is to be.
#[cold]
#[inline(never)]
fn not_shipped(what: u64, count: u64, answer: i64) -> i64 {
    match if answer == REFUSED { calls::ask(what, count) } else { answer } {
        REFUSED | DECLINED => REFUSED,
        left if left as u64 <= count => left,
        _ => LIE,
    }
}

/// Measures calls of a server one by one, and as a block.
pub fn measures() {
    for count in [1, 10, 100] {
        (0..count).for_each(|number| pass(number, NOTHING, 400 + number as u64, [0; 3]));
        assert_eq!(ship(count), 0);
        let answers: i64 = (0..count).map(|number| OWN.get(400 + number) as i64).sum();
        assert_eq!(answers, (0..count).map(|_| call(Number::Server, 0, 0)).sum());
        let single = measure(|| {
            for _ in 0..count {
                black_box(call(Number::Server, 0, 0));
            }
        });
        say!("single lrpc {count} {single}");
        say!("interp lrpc {count} {}", measure(|| _ = ship(count)));
    }
}

/// Opens or closes this domain's channel to its server.
pub fn channel(is_wanted: u64) -> i64 {
    call(Number::Channel, is_wanted, 0)
}

/// Opens many more channels than a server has places, one after the other: each is a page of zeros, and not taken for a
/// former client's.
fn given_back() {
    let program = shipping::learn(programs::NOTHING);
    for _ in 0..3000 {
        assert_eq!((channel(1), channel(1), channel(0), channel(0)), (CHANNEL as i64, CHANNEL as i64, 0, 0));
        assert_eq!((ship(1), shipping::ask(Number::Run, 0)), (REFUSED, REFUSED), "without a channel");
        assert_eq!(channel(1), CHANNEL as i64);
        assert!((0..WORDS).all(|word| OWN.get(word) == 0), "what another channel had is seen");
        OWN.set(511, 7);
        pass(0, 1, 400, [6, 0, 0]);
        assert_eq!((ship(1), OWN.get(400)), (0, 7));
    }
    for strange in [2, 1 << 32, u64::MAX] {
        assert_eq!(channel(strange), REFUSED);
    }
    let request = Request::of(By::Server, &wire([1]), &mut [[0; 8]]).run(program);
    assert_eq!(request.0, REFUSED, "the program was sent by another channel");
    say!("thousands of channels were had, and given back");
}

/// Checks that channel and server hold nothing of former clients, leaves something there, and dies.
pub fn passing() {
    users::wait_for_server();
    assert!((0..WORDS).all(|word| OWN.get(word) == 0), "what another client had is seen");
    assert_eq!(shipping::ask(Number::Discard, 0), REFUSED, "another client's run is there");
    pass(0, 1, 400, [6, 0, 0]);
    assert_eq!((ship(1), OWN.get(400)), (0, 7));
    let program = shipping::learn(programs::COUNT);
    let (values, mut results) = (wire([i64::MAX]), [[0; 8]]);
    let mut request = Request { rounds: 10, ..Request::of(By::Server, &values, &mut results) };
    assert_eq!(request.run(program).0, BUDGET);
    users::attacks::touch(0);
}

/// Malformed blocks, and a block whose answers are arguments of later calls.
pub fn checks() {
    users::wait_for_server();
    (0..100).for_each(|number| pass(number, 1, (4 * (number as u64 + 1) + 1) % 400, [7, 0, 0]));
    assert_eq!((ship(100), OWN.get(1)), (0, 107));
    for (method, answer) in [(3, 0), (u32::MAX as u64, 0), (0, 512), (1, u32::MAX as u64), (1 << 31, 1 << 31)]
    {
        pass(1, method, answer, [0; 3]);
        assert_eq!(ship(3), 2, "{method} {answer}");
    }
    for count in [101, 512, u64::MAX] {
        assert_eq!(calls::ask(BLOCK, count), DECLINED);
    }
    for (at, pages) in [(CHANNEL, 1), (CHANNEL - 4096, 2), (CHANNEL + 4096, 1), (CHANNEL, 64)] {
        assert_eq!((call(Number::Unmap, at, pages), call(Number::Map, at, pages)), (REFUSED, REFUSED));
    }
    say!("blocks for a server are made, or refused");
    given_back();
    // This domain is no server, so it has no clients' channels.
    users::attacks::touch(CHANNEL + 4096);
}
