//! Malformed programs, and requests that make no sense.

use core::arch::asm;

use crate::arrays::{Array, command};
use crate::programs::{ANY, BYTECODE, CARELESS, COUNT, DEEP, NOTHING, learn, learn_or_why, wire};
use crate::shipping::{BUDGET, By, ENDED, FAILED, REFUSED, Request};
use users::attacks::PLACES;
use users::calls::{self, Number, call, call_anything};
use users::say;

pub fn all() {
    users::wait_for_server();
    let mut why = [0; 256];
    let text = learn_or_why(BYTECODE, &mut why).expect_err("bytecode isn't taken");
    say!("the kernel says: {}", core::str::from_utf8(text).unwrap_or("no text"));
    for program in [NOTHING, COUNT, ANY] {
        for length in 0..program.len() {
            assert!(learn(&program[..length]) < 0, "{length} bytes of a program are none");
        }
    }
    for place in PLACES {
        assert!(call_anything(Number::Learn as u64, [place, 100, place, 256]) < 0);
        assert!(call_anything(Number::Learn as u64, [place, u64::MAX, place, u64::MAX]) < 0);
        assert!(
            call_anything(
                Number::Learn as u64,
                [BYTECODE.as_ptr() as u64, BYTECODE.len() as u64, place, 256]
            ) < 0
        );
        assert!(call(Number::Know, place, 0) < 0);
        assert!(call(Number::Run, 0, place) < 0 && call(Number::Resume, 0, place) < 0);
    }
    deep(By::Kernel);
    calls();
    requests(By::Kernel);
    changed(By::Kernel);
    leaves_no_run();
    say!("hostile programs and requests were refused");
}

/// A program can make exactly the calls that programs of its domain may make.
fn calls() {
    refuses(
        By::Kernel,
        &[
            (2, ENDED),
            (5, ENDED),
            (11, ENDED),
            (0, FAILED),
            (15, FAILED),
            (16, FAILED),
            (18, FAILED),
            (19, FAILED),
            (22, FAILED),
            (23, FAILED),
            (24, FAILED),
            (32, FAILED),
            (i64::MAX, FAILED),
            (-1, FAILED),
            (1 << 32 | 2, FAILED),
            (12, FAILED),
        ],
    );
}

/// The outcome of the signal handler's runs.
static mut RUN: (i64, i64) = (0, 0);

/// Runs programs that call an array that would end the handler. There are more of them than a client may have runs, in
/// case one were left behind.
extern "C" fn runs(_: u64, _: u64, _: u64) -> u64 {
    let (any, mut results) = (By::Kernel.learn(ANY), [[0; 8]]);
    for count in 1..20 {
        let (status, _) = Request::of(By::Kernel, &wire([27, 0, 0, 0, 0, 1]), &mut results).run(any);
        // SAFETY: nobody else is told.
        unsafe { RUN = (status, count) };
    }
    0
}

/// An array can't end a signal handler while that has a run in progress.
fn leaves_no_run() {
    let array = Array::new(27, &[command(Number::GoOn as u64, 8)]).expect("it is kept");
    array.pass(0, [0; 4]);
    calls::on_signal(runs);
    // SAFETY: the handler has what is behind it go on, as it was.
    unsafe { asm!("int3") };
    // SAFETY: the handler has ended.
    assert_eq!(unsafe { RUN }, (ENDED, 19));
    assert_eq!(array.give_back(), 0);
}

/// Checks how a program ends for each call number; a program that makes all calls isn't stopped by refusals.
pub fn refuses(by: By, all: &[(i64, i64)]) {
    let any = by.learn(ANY);
    let mut results = [[0; 8]];
    for &(number, expected) in all {
        let values = wire([number, 1, 2, 3, 4, 1]);
        let mut request = Request::of(by, &values, &mut results);
        assert_eq!(request.run(any).0, expected, "{number}");
        if expected == FAILED {
            // 4: a protocol violation.
            assert_eq!((request.error & 0xff, request.discard()), (4, 0));
        }
    }
    let careless = by.learn(CARELESS);
    let mut request = Request::of(by, &[], &mut results);
    assert_eq!(request.run(careless).0, ENDED);
    let refused = i64::from_be_bytes(results[0]);
    assert!((20..44).contains(&refused), "{refused}");
}

/// A program of the greatest depth runs: there is enough stack.
pub fn deep(by: By) {
    let (deep, mut results) = (by.learn(DEEP), [[0; 8]]);
    assert_eq!(Request::of(by, &[], &mut results).run(deep).0, ENDED);
    assert_eq!(i64::from_be_bytes(results[0]), 2);
}

pub fn requests(by: By) {
    let nothing = by.learn(NOTHING);
    let (values, mut results) = (wire([3]), [[0; 8]]);
    let request = Request::of(by, &values, &mut results);
    for program in [1000, -1, i64::MIN, nothing + 100] {
        assert_eq!({ request }.run(program).0, REFUSED);
    }
    // Too few values, too many, and another program's.
    assert_eq!(Request::of(by, &[], &mut results).run(nothing).0, REFUSED);
    assert_eq!(Request::of(by, &wire([3, 3]), &mut results).run(nothing).0, REFUSED);
    // Without room for its results, the run is kept until there is.
    let mut narrow = Request::of(by, &values, &mut []);
    assert_eq!(narrow.run(nothing).0, REFUSED);
    let mut again = Request { run: narrow.run, ..Request::of(by, &[], &mut results) };
    assert_eq!((again.go_on(), i64::from_be_bytes(results[0])), (ENDED, 3 * 42));
    for run in [8, 9, 1 << 32, u64::MAX] {
        assert_eq!({ Request { run, ..request } }.go_on(), REFUSED);
        assert!(by.ask(Number::Cancel, run) < 0 && by.ask(Number::Discard, run) < 0);
    }
}

/// A program with changed bytes is refused, or does only what it may.
pub fn changed(by: By) {
    let (mut taken, mut random) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    let mut bytes = [0; 1024];
    for _ in 0..400 {
        let program = [NOTHING, COUNT, ANY, CARELESS][next() % 4];
        let bytes = &mut bytes[..program.len()];
        bytes.copy_from_slice(program);
        for _ in 0..1 + next() % 3 {
            bytes[next() % program.len()] ^= 1 << (next() % 8);
        }
        let number = by.learn(bytes);
        if number < 0 {
            continue;
        }
        taken += 1;
        let (values, mut results) = (wire([2, 0, 0, 0, 0, 3]), [[0; 8]; 8]);
        for count in 0..=6 {
            let mut request = Request { rounds: 200, ..Request::of(by, &values[..count], &mut results) };
            let (status, _) = request.run(number);
            assert!(matches!(status, ENDED | FAILED | BUDGET | REFUSED), "{status}");
            if matches!(status, FAILED | BUDGET) {
                assert_eq!(request.discard(), 0);
            }
        }
    }
    // It may have as many programs as it has now.
    assert!(taken > 0, "no changed program was taken");
}

/// A program that another process has shipped is known by its hash.
pub fn known() {
    // It is the first program of this process.
    let number = call(Number::Know, HASH.as_ptr() as u64, 0);
    let (values, mut results) = (wire([5]), [[0; 8]]);
    assert_eq!(Request::new(&values, &mut results).run(number).0, ENDED);
    assert_eq!(i64::from_be_bytes(results[0]), 5);
    assert_eq!(call(Number::Know, [1_u8; 32].as_ptr() as u64, 0), REFUSED);
    say!("a program is known that another process has sent");
}

/// The hash of the counting program.
static HASH: [u8; 32] = *include_bytes!(concat!(env!("PROGRAMS"), "/count.hash"));
