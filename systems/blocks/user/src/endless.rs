//! Programs that compute for ever, or for long.

use crate::programs::{ANY, BUDGET, CANCELLED, COUNT, ENDED, Request, UNFINISHED, learn, wire};
use users::attacks::touch;
use users::calls::{self, Number, call};
use users::measures::now;
use users::say;

const FOR_EVER: i64 = i64::MAX;

/// The run that a signal aborts.
static mut RUN: u64 = 0;

extern "C" fn abort(vector: u64, _: u64, _: u64) -> u64 {
    assert_eq!(vector, 32);
    // SAFETY: it isn't written meanwhile.
    assert_eq!(call(Number::Cancel, unsafe { RUN }, 0), 0);
    0
}

pub fn all() {
    let count = learn(COUNT);
    aborted(count);
    out_of_budget(count);
    slices();
    say!("programs that never end are stopped, and go on when they may");
}

/// A signal aborts a run: its variables are told, and it goes on from there.
fn aborted(count: i64) {
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    let mut request = Request::new(&values, &mut results);
    calls::on_signal(abort);
    assert_eq!(call(Number::Run, count as u64, &raw mut request as u64), UNFINISHED);
    // SAFETY: nobody is told yet.
    unsafe { RUN = request.run };
    // So long the other process has its turns.
    call(Number::Alarm, 30, 0);
    let (status, slices) = request.finish();
    assert_eq!(status, CANCELLED);
    let counted = i64::from_be_bytes(results[0]);
    assert!(counted > 1000 && slices > 100, "{counted} in {slices} slices");
    say!("a signal has aborted a program in its loop");
    // It goes on with another value of what it gets: up to exactly that.
    let values = wire([counted + 1000]);
    let mut again = Request { run: request.run, ..Request::new(&values, &mut results) };
    let status = again.go_on_to_its_end();
    assert_eq!((status, i64::from_be_bytes(results[0])), (ENDED, counted + 1000));
    assert!(again.go_on() < 0 && again.discard() < 0, "a run that has ended is gone");
}

/// What a run may take is all it takes.
fn out_of_budget(count: i64) {
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    let mut request = Request { rounds: 5000, ..Request::new(&values, &mut results) };
    assert_eq!(request.run(count).0, BUDGET);
    let first = i64::from_be_bytes(results[0]);
    assert!((4000..=5001).contains(&first), "{first}");
    // More of it, and no more than that.
    let mut more = Request { rounds: 700, run: request.run, ..Request::new(&[], &mut results) };
    assert_eq!(more.go_on_to_its_end(), BUDGET);
    let more_of_it = i64::from_be_bytes(results[0]) - first;
    assert!((600..=701).contains(&more_of_it), "{more_of_it}");
    assert_eq!(more.discard(), 0);
    assert!(more.discard() < 0);
}

/// The kernel is never long without interrupts, also if what is called takes long.
fn slices() {
    let any = learn(ANY);
    let (unmap, at, pages) = (Number::Unmap as i64, 0xa0_0000_0000, 200);
    let alone = {
        call(Number::Map, at as u64, pages as u64);
        let start = now();
        call(Number::Unmap, at as u64, pages as u64);
        call(Number::Map, at as u64, pages as u64);
        now() - start
    };
    let (values, mut results) = (wire([unmap, at, pages, 0, 0, 300]), [[0; 8]]);
    let mut request = Request::new(&values, &mut results);
    let mut status = call(Number::Run, any as u64, &raw mut request as u64);
    request.rounds = 0;
    let (mut longest, mut slices) = (0, 1);
    while status == UNFINISHED {
        let start = now();
        status = Request { run: request.run, rounds: 0, ..Request::new(&[], &mut results) }.go_on();
        let taken = now() - start;
        // One in which another process had its turn says nothing.
        if taken < 900_000 {
            longest = longest.max(taken);
        }
        slices += 1;
    }
    assert_eq!(status, ENDED);
    assert!(slices > 10, "{slices} slices");
    say!("longest slice {longest}");
    say!("longest call {alone}");
}

/// Leaves a run behind that isn't finished, and another that was stopped, and dies.
pub fn abandoned() {
    let count = learn(COUNT);
    let values = wire([FOR_EVER]);
    let mut results = [[0; 8]];
    for _ in 0..4 {
        let mut request = Request::new(&values, &mut results);
        assert_eq!(call(Number::Run, count as u64, &raw mut request as u64), UNFINISHED);
        let mut request = Request { rounds: 10, ..Request::new(&values, &mut results) };
        assert_eq!(request.run(count).0, BUDGET);
    }
    let mut request = Request::new(&values, &mut results);
    assert!(request.run(count).0 < 0, "there are too many runs");
    say!("runs are left behind");
    touch(0);
}
