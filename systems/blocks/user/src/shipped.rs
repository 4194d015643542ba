//! Programs that a user ships to a server, which runs them against its own methods. What is asked for lies in the
//! channel: a request at its beginning and behind it the values that the program gets, from the middle on those that it
//! gives; a program or a hash by itself.
//!
//! A server may lie, and may change the channel whenever it likes: what comes from there is copied once and looked at
//! then, and is numbers only.

use core::slice;

use users::calls::{self, Number, call};
use counting::{measure, now};
use users::say;

use crate::endless::{self, FOR_EVER};
use crate::hostile;
use crate::programs::{
    BYTECODE, By, CANCELLED, COUNT, ENDED, FAILED, NOTHING, REFUSED, Request, UNFINISHED, wire,
};
use crate::remote::{CHANNEL, CHANNEL_BYTES};
use crate::server::{DECLINED, PROGRAMS};

const VALUES: usize = 64;
const RESULTS: usize = 2048;

/// Words of a request.
const WORDS: usize = 8;

/// What a call of a server that lies answers here.
pub const LIE: i64 = i64::MIN + 2;

/// Bytes of the channel that begin somewhere.
fn bytes(from: usize, count: usize) -> impl Iterator<Item = *mut u8> {
    assert!(from + count <= CHANNEL_BYTES);
    (from..from + count).map(|at| (CHANNEL as usize + at) as *mut u8)
}

fn put(to: usize, what: &[u8]) {
    // SAFETY: bytes of the channel.
    bytes(to, what.len()).zip(what).for_each(|(to, byte)| unsafe { to.write_volatile(*byte) });
}

fn get(from: usize, to: &mut [u8]) {
    // SAFETY: likewise.
    bytes(from, to.len()).zip(to).for_each(|(from, byte)| *byte = unsafe { from.read_volatile() });
}

/// Asks for something that is done with a program or a run.
pub fn ask(what: Number, number: u64) -> i64 {
    match calls::ask(PROGRAMS + what as u64, number) {
        DECLINED => REFUSED,
        answer => answer,
    }
}

/// Has the server know a program: its number.
pub fn learn(program: &[u8]) -> i64 {
    if program.len() > CHANNEL_BYTES {
        return REFUSED;
    }
    put(0, program);
    ask(Number::Learn, program.len() as u64)
}

/// The number of a program that the server remembers, by its hash.
fn know(hash: &[u8; 32]) -> i64 {
    put(0, hash);
    ask(Number::Know, 0)
}

/// Sends a request and what belongs to it, and takes what comes.
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
    let mut told = [[0; 8]; WORDS];
    get(0, told.as_flattened_mut());
    let [.., run, bytes, error] = told.map(u64::from_le_bytes);
    (request.run, request.bytes, request.error) = (run, bytes, error);
    match status {
        UNFINISHED => {
            // Others may want the server, and another thread of this domain to stop the run.
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

/// What programs cost by LRPC.
pub fn measures() {
    assert_eq!(know(&HASH), REFUSED);
    let start = now();
    let nothing = learn(NOTHING);
    say!("ship a program of {} bytes {}", NOTHING.len(), now() - start);
    let start = now();
    assert_eq!(know(&HASH), nothing);
    say!("ship its hash {}", now() - start);
    for count in [1, 10, 100] {
        let (values, mut results) = (wire([count]), [[0; 8]]);
        let mut request = Request::of(By::Server, &values, &mut results);
        assert_eq!(request.run(nothing).0, ENDED);
        // The same as by single calls.
        let sum: i64 = (0..count).map(|_| call(Number::Server, 0, 0)).sum();
        assert_eq!(i64::from_be_bytes(results[0]), sum);
        let run = || Request::of(By::Server, &values, &mut [[0; 8]]).run(nothing);
        // The clock may interrupt it once.
        assert!(run().1 <= 2);
        say!("interp lrpc {count} program {}", measure(|| _ = run()));
    }
}

/// Of the program that does nothing.
static HASH: [u8; 32] = *include_bytes!(concat!(env!("PROGRAMS"), "/nothing.hash"));

/// The server runs what the kernel does, and refuses what that does.
pub fn checks() {
    users::wait_for_server();
    // Another client has sent it.
    let nothing = know(&HASH);
    assert!(nothing >= 0);
    assert_eq!((learn(NOTHING), know(&[1; 32])), (nothing, REFUSED));
    let told = learn(BYTECODE);
    assert!(told < -1 && told != REFUSED, "bytecode isn't taken");
    hostile::refuses(
        By::Server,
        &[
            (0, ENDED),
            (1, ENDED),
            (2, ENDED),
            (3, FAILED),
            (4096, FAILED),
            (i64::MAX, FAILED),
            (-1, FAILED),
            (1 << 32 | 2, FAILED),
        ],
    );
    hostile::deep(By::Server);
    hostile::requests(By::Server);
    strange_requests(nothing);
    endless::out_of_budget(By::Server);
    hostile::changed(By::Server);
    assert_eq!(calls::ask(1, 6), 7, "the server is there");
    say!("a server runs programs, or refuses them");
    // Runs and programs are left behind.
    let count = learn(COUNT);
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    while Request::of(By::Server, &values, &mut results).begin(count) == UNFINISHED {}
    users::attacks::touch(0);
}

/// What stands in the channel is no request.
fn strange_requests(program: i64) {
    for strange in [1 << 12, (1 << 12) - 1, 1 << 13, 1 << 47, u64::MAX, u64::MAX - 7] {
        let fine = [VALUES as u64, 8, RESULTS as u64, 8, 1000, 0, 0, 0];
        for word in 0..4 {
            let mut words = fine;
            words[word] = strange;
            words.iter().enumerate().for_each(|(index, word)| put(8 * index, &word.to_le_bytes()));
            put(VALUES, &[0; 8]);
            let status = ask(Number::Run, program as u64);
            // There may be more room than is needed.
            let expected = if word == 3 { ENDED } else { REFUSED };
            assert_eq!(status, expected, "{word} {strange:#x}");
            // What had no room for its results is kept.
            (0..8).for_each(|run| _ = ask(Number::Discard, run));
        }
    }
}
