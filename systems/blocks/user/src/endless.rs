//! Programs that compute for ever, or for long.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::programs::{ANY, COUNT, LONG, learn, wire};
use crate::shipping::{BUDGET, By, CANCELLED, ENDED, Request, UNFINISHED};
use counting::now;
use users::attacks::touch;
use users::calls::{self, Number, call};
use users::say;

pub const FOR_EVER: i64 = i64::MAX;

/// The run that the signal handler aborts, and whether kernel or server runs it.
static mut RUN: (By, u64) = (By::Kernel, 0);

extern "C" fn abort(vector: u64, _: u64, _: u64) -> u64 {
    assert_eq!(vector, 32);
    // SAFETY: it isn't written meanwhile.
    let (by, run) = unsafe { RUN };
    assert_eq!(by.ask(Number::Cancel, run), 0);
    IS_ABORTED.store(true, Relaxed);
    0
}

static IS_ABORTED: AtomicBool = AtomicBool::new(false);
/// The progress of a thread that computes meanwhile.
static BESIDE: AtomicU64 = AtomicU64::new(0);

/// Computes until the run is aborted: a thread that is inside a server isn't signalled itself.
extern "C" fn beside() {
    while !IS_ABORTED.load(Relaxed) {
        BESIDE.fetch_add(1, Relaxed);
    }
}

pub fn all() {
    aborted(By::Kernel, 100);
    out_of_budget(By::Kernel);
    slices();
    long_rounds(By::Kernel);
    say!("programs that never end are stopped, and go on when they may");
}

/// The same in a server, which other clients call meanwhile.
pub fn shipped() {
    users::wait_for_server();
    calls::spawn(beside);
    preempted();
    aborted(By::Server, 10);
    long_rounds(By::Server);
    say!("a server has stopped programs that never end, and lives");
}

/// The clock interrupts a server during a run: another thread makes progress during one call of the server.
fn preempted() {
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    let mut request = Request::of(By::Server, &values, &mut results);
    assert_eq!(request.begin(By::Server.learn(COUNT)), UNFINISHED);
    request.values_bytes = 0;
    assert_eq!(request.go_on(), UNFINISHED);
    let before = BESIDE.load(Relaxed);
    // The request lies in the channel yet.
    assert_eq!(By::Server.ask(Number::Resume, request.run), UNFINISHED);
    assert!(BESIDE.load(Relaxed) > before, "the server wasn't interrupted");
    assert_eq!(request.discard(), 0);
}

/// A signal aborts a run after a number of slices; its variables are returned, and it is resumed from there.
fn aborted(by: By, least: u64) {
    let count = by.learn(COUNT);
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    let mut request = Request::of(by, &values, &mut results);
    calls::on_signal(abort);
    assert_eq!(request.begin(count), UNFINISHED);
    // SAFETY: nobody is told yet.
    unsafe { RUN = (by, request.run) };
    // So long the other process has its turns, and a machine that is a process gets its own of Linux.
    call(Number::Alarm, 100, 0);
    let (status, slices) = request.finish();
    assert_eq!(status, CANCELLED);
    let counted = i64::from_be_bytes(results[0]);
    assert!(counted > 1000 && slices > least, "{counted} in {slices} slices");
    say!("a signal has aborted a program in its loop, by {by:?}");
    // It is resumed with a new limit for its loop, and counts exactly that far.
    let values = wire([counted + 1000]);
    let mut again = Request { run: request.run, ..Request::of(by, &values, &mut results) };
    let status = again.go_on_to_its_end();
    assert_eq!((status, i64::from_be_bytes(results[0])), (ENDED, counted + 1000));
    assert!(again.go_on() < 0 && again.discard() < 0, "a run that has ended is gone");
}

/// A run stops when its budget of rounds is used up.
pub fn out_of_budget(by: By) {
    let count = by.learn(COUNT);
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    let mut request = Request { rounds: 5000, ..Request::of(by, &values, &mut results) };
    assert_eq!(request.run(count).0, BUDGET);
    let first = i64::from_be_bytes(results[0]);
    assert!((4000..=5001).contains(&first), "{first}");
    // It gets more rounds, and takes no more than those.
    let mut more = Request { rounds: 700, run: request.run, ..Request::of(by, &[], &mut results) };
    assert_eq!(more.go_on_to_its_end(), BUDGET);
    let more_of_it = i64::from_be_bytes(results[0]) - first;
    assert!((600..=701).contains(&more_of_it), "{more_of_it}");
    assert_eq!(more.discard(), 0);
    assert!(more.discard() < 0);
}

/// The kernel is never long without interrupts, even if the program's calls take long.
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
    let mut status = request.begin(any);
    request.rounds = 0;
    let (mut longest, mut slices) = (0, 1);
    while status == UNFINISHED {
        let start = now();
        status = Request { run: request.run, rounds: 0, ..Request::new(&[], &mut results) }.go_on();
        let taken = now() - start;
        // A sample in which another process had its turn doesn't count.
        if taken < 900_000 {
            longest = longest.max(taken);
        }
        slices += 1;
    }
    assert_eq!(status, ENDED);
    assert!(slices > 1, "{slices} slices");
    say!("slices {slices}");
    say!("longest slice {longest}");
    say!("longest call {alone}");
}

/// A program with long rounds has slices of the usual length.
fn long_rounds(by: By) {
    let long = by.learn(LONG);
    let mut results = [[0; 8]];
    let mut request = Request::of(by, &[], &mut results);
    assert_eq!(request.begin(long), UNFINISHED);
    let mut longest = 0;
    for _ in 0..30 {
        let start = now();
        assert_eq!(request.go_on(), UNFINISHED);
        longest = longest.max(now() - start);
    }
    say!("longest slice of long rounds, by {by:?} {longest}");
    assert_eq!(request.discard(), 0);
}

/// Dies while a server runs its endless program.
pub fn abandoned_there() {
    users::wait_for_server();
    let (values, mut results) = (wire([FOR_EVER]), [[0; 8]]);
    calls::spawn(die);
    Request::of(By::Server, &values, &mut results).run(By::Server.learn(COUNT));
}

extern "C" fn die() {
    (0..20).for_each(|_| calls::give_way());
    touch(0);
}

/// Dies, leaving one run unfinished and another stopped.
pub fn abandoned() {
    let count = learn(COUNT);
    let values = wire([FOR_EVER]);
    let mut results = [[0; 8]];
    for _ in 0..4 {
        let mut request = Request::new(&values, &mut results);
        assert_eq!(request.begin(count), UNFINISHED);
        let mut request = Request { rounds: 10, ..Request::new(&values, &mut results) };
        assert_eq!(request.run(count).0, BUDGET);
    }
    let mut request = Request::new(&values, &mut results);
    assert!(request.run(count).0 < 0, "there are too many runs");
    say!("runs are left behind");
    touch(0);
}
