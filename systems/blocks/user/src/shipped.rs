//! Programs that a user ships to a server, which runs them against its own methods. The channel holds a request at its
//! beginning, then the program's values, and from the middle on its results; a program or a hash lies there by itself.
//!
//! A server may lie, and may change the channel at any time: its answers are copied once, then checked, and are only
//! numbers.

use counting::{measure, now};
use users::calls::{self, Number, call};
use users::say;

use crate::endless::{self, FOR_EVER};
use crate::hostile;
use crate::programs::{BYTECODE, COUNT, NOTHING, wire};
use crate::shipping::{
    By, ENDED, FAILED, REFUSED, RESULTS, Request, UNFINISHED, VALUES, ask, know, learn, put,
};

/// Measures programs by LRPC.
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
        // Single calls give the same.
        let sum: i64 = (0..count).map(|_| call(Number::Server, 0, 0)).sum();
        assert_eq!(i64::from_be_bytes(results[0]), sum);
        let run = || Request::of(By::Server, &values, &mut [[0; 8]]).run(nothing);
        // The clock may interrupt it once.
        assert!(run().1 <= 2);
        say!("interp lrpc {count} program {}", measure(|| _ = run()));
    }
}

/// The hash of the empty program.
static HASH: [u8; 32] = *include_bytes!(concat!(env!("PROGRAMS"), "/nothing.hash"));

/// The server runs and refuses the same programs as the kernel.
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
    // Runs and programs are left behind, for the server to drop.
    let count = learn(COUNT);
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    while Request::of(By::Server, &values, &mut results).begin(count) == UNFINISHED {}
    users::attacks::touch(0);
}

/// Requests that make no sense.
fn strange_requests(program: i64) {
    for strange in [1 << 12, (1 << 12) - 1, 1 << 13, 1 << 47, u64::MAX, u64::MAX - 7] {
        let fine = [VALUES as u64, 8, RESULTS as u64, 8, 1000, 0, 0, 0];
        for word in 0..4 {
            let mut words = fine;
            words[word] = strange;
            words.iter().enumerate().for_each(|(index, word)| put(8 * index, &word.to_le_bytes()));
            put(VALUES, &[0; 8]);
            let status = ask(Number::Run, program as u64);
            // The place for results may be larger than needed.
            let expected = if word == 3 { ENDED } else { REFUSED };
            assert_eq!(status, expected, "{word} {strange:#x}");
            // Runs whose results had no room are kept.
            (0..8).for_each(|run| _ = ask(Number::Discard, run));
        }
    }
}
