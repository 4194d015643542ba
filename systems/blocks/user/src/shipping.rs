//! Requests about programs, and how they are passed to a server through the channel: the request at its beginning, then
//! the program's values, and from the middle on its results. A program or a hash lies there by itself.
//!
//! A server may lie, and may change the channel at any time: its answers are copied once, then checked, and are only
//! numbers.

use core::slice;

pub use users::calls::REFUSED;
use users::calls::{self, Number};

/// The server's method that lets other threads run before it answers.
pub const SLOWLY: u64 = 16;
/// Runs the block of calls in the caller's channel.
pub const BLOCK: u64 = 17;
/// Begins the server's lies of one kind.
pub const LIES: u64 = 18;
/// As `BLOCK`, of a server that may lie.
pub const LYING_BLOCK: u64 = 19;

/// The server's answer to a refused request; the kernel's `REFUSED` means that the server wasn't reached.
pub const DECLINED: i64 = i64::MIN + 1;

/// The first of the numbers for requests about programs; the kernel's number of the same request is added.
pub const PROGRAMS: u64 = 32;

pub const ENDED: i64 = 0;
pub const UNFINISHED: i64 = 1;
pub const FAILED: i64 = 2;
pub const BUDGET: i64 = 3;
pub const CANCELLED: i64 = 4;

/// The address of a client's channel, and its size in words.
pub const CHANNEL: u64 = 0x80_0000_0000 + (160 << 30);
pub const WORDS: usize = 512;
pub const CHANNEL_BYTES: usize = 4096;
/// Clients of a server that have channels, at most.
pub const CLIENTS: usize = 64;

/// Which of the two runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Kernel,
    Server,
}

/// A request about a run, in the layout that the kernel or the server reads and writes; the last field is the user's
/// own.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Request {
    pub values: u64,
    pub values_bytes: u64,
    pub results: u64,
    pub room: u64,
    pub rounds: u64,
    pub run: u64,
    pub bytes: u64,
    pub error: u64,
    pub by: By,
}

/// The place of values and results in the channel, in words.
pub const VALUES: usize = 64;
pub const RESULTS: usize = 2048;

/// Words of a request.
const REQUEST_WORDS: usize = 8;

/// What a call of a server that lies answers here.
pub const LIE: i64 = i64::MIN + 2;

/// Bytes of the channel, from one on.
fn bytes(from: usize, count: usize) -> impl Iterator<Item = *mut u8> {
    assert!(from + count <= CHANNEL_BYTES);
    (from..from + count).map(|at| (CHANNEL as usize + at) as *mut u8)
}

pub fn put(to: usize, what: &[u8]) {
    // SAFETY: bytes of the channel.
    bytes(to, what.len()).zip(what).for_each(|(to, byte)| unsafe { to.write_volatile(*byte) });
}

pub fn get(from: usize, to: &mut [u8]) {
    // SAFETY: likewise.
    bytes(from, to.len()).zip(to).for_each(|(from, byte)| *byte = unsafe { from.read_volatile() });
}

/// Makes a request about a program or a run.
pub fn ask(what: Number, number: u64) -> i64 {
    match calls::ask(PROGRAMS + what as u64, number) {
        DECLINED => REFUSED,
        answer => answer,
    }
}

/// Ships a program to the server, and returns its number.
pub fn learn(program: &[u8]) -> i64 {
    if program.len() > CHANNEL_BYTES {
        return REFUSED;
    }
    put(0, program);
    ask(Number::Learn, program.len() as u64)
}

/// The number of a program in the server's cache, by its hash.
pub fn know(hash: &[u8; 32]) -> i64 {
    put(0, hash);
    ask(Number::Know, 0)
}

/// Ships a request with its values, and takes the results.
pub fn send(what: Number, number: u64, request: &mut Request) -> i64 {
    let (count, room) = (request.values_bytes as usize, request.room.min((CHANNEL_BYTES - RESULTS) as u64));
    if count > RESULTS - VALUES {
        return REFUSED;
    }
    let sent = [VALUES as u64, count as u64, RESULTS as u64, room, request.rounds, request.run, 0, 0];
    sent.iter().enumerate().for_each(|(index, word)| put(8 * index, &word.to_le_bytes()));
    // SAFETY: who made the request says that these are its values.
    put(VALUES, unsafe { slice::from_raw_parts(request.values as *const u8, count) });
    let status = ask(what, number);
    let mut told = [[0; 8]; REQUEST_WORDS];
    get(0, told.as_flattened_mut());
    let [.., run, bytes, error] = told.map(u64::from_le_bytes);
    (request.run, request.bytes, request.error) = (run, bytes, error);
    match status {
        UNFINISHED => {
            // Other clients may need the server, and another thread of this domain may stop the run.
            calls::give_way();
            status
        }
        0.. if status > CANCELLED || bytes > room => LIE,
        0.. => {
            // SAFETY: who made the request says that so much room is there.
            get(RESULTS, unsafe { slice::from_raw_parts_mut(request.results as *mut u8, bytes as usize) });
            status
        }
        _ => status,
    }
}
