//! Programs with loops and conditions, which the kernel runs for a process. Shipping one takes one system call; the
//! program can make the calls that its process can.
//!
//! The kernel isn't interrupted during a slice of a run. Between slices the thread is an ordinary user thread: it can
//! be preempted, signalled and ended.

use kortex_binding::{Activation, Domain, REFUSED, memory};
use kortex_hal::time;
use microkernel::Process;
use microkernel::methods::of;
use runs::{Cache, Runner};

use crate::host::{Host, part};
use crate::{arrays, heap};

/// A domain's table of calls, and the end of the slice by the processor's counter.
#[derive(Clone, Copy)]
pub struct Table {
    domain: &'static Domain,
    until: u64,
}

struct Remembered(Cache<Table>);

// SAFETY: there is one processor, and the kernel isn't interrupted.
unsafe impl Sync for Remembered {}

static REMEMBERED: Remembered = Remembered(Cache::new());

impl Runner for Table {
    /// All but the calls that end a thread (0) or a signal handler (15), and those that run programs: programs can't
    /// run others.
    fn may_call(self, number: u64) -> bool {
        (1..15).contains(&number) || arrays::NUMBERS.contains(&number)
    }

    fn call(self, number: u64, words: [u64; 4]) -> Option<i64> {
        // SAFETY: on the kernel stack of the thread whose run this is, in its domain; it isn't among those that end.
        let answer = unsafe { self.domain.call(number as usize, words) };
        (answer != REFUSED).then_some(answer)
    }

    fn is_over(self) -> bool {
        time::counter() >= self.until
    }

    fn read(self, from: u64, to: &mut [u8]) -> bool {
        memory::read(from, to).is_ok()
    }

    fn write(self, to: u64, from: &[u8]) -> bool {
        memory::write(to, from).is_ok()
    }

    fn has_room() -> bool {
        heap::has_room()
    }
}

/// The programs of a process.
pub struct Programs {
    kept: runs::Programs<Table>,
    /// Counter ticks of a slice.
    slice: u64,
}

impl Programs {
    pub const fn new(slice: u64) -> Programs {
        Programs { kept: runs::Programs::new(), slice }
    }

    /// Drops all programs and runs.
    pub fn release_all(&self) {
        self.kept.release_all();
    }
}

/// Serves a request of a process, whose slice begins now.
fn asked<K: Host<Programs>>(
    process: &'static Process<K>,
    what: impl FnOnce(&runs::Programs<Table>, Table) -> Option<i64>,
) -> i64 {
    let Programs { kept, slice } = part::<Programs, K>(process);
    let table = Table { domain: &process.domain, until: time::counter() + slice };
    what(kept, table).unwrap_or(REFUSED)
}

/// Takes a program and returns its number. If it is refused, the reason is written, if there is room.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn learn<K: Host<Programs>>(
    this: *const (),
    from: u64,
    count: u64,
    why: u64,
    room: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked(unsafe { of::<K>(this) }, |kept, table| {
        kept.learn(table, &REMEMBERED.0, [from, count], [why, room])
    })
}

/// The number of a cached program, by its hash.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn know<K: Host<Programs>>(this: *const (), from: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked(unsafe { of::<K>(this) }, |kept, table| kept.know(table, &REMEMBERED.0, from))
}

/// As `asked`, for a call that runs something. The run stays on the thread's kernel stack until it stops: none of its
/// calls may leave that stack.
fn asked_to_run<K: Host<Programs>>(
    process: &'static Process<K>,
    what: impl FnOnce(&runs::Programs<Table>, Table) -> Option<i64>,
) -> i64 {
    let thread = Activation::running();
    thread.hold(true);
    let answer = asked(process, what);
    thread.hold(false);
    answer
}

/// Runs a program.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn run<K: Host<Programs>>(
    this: *const (),
    program: u64,
    request: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked_to_run(unsafe { of::<K>(this) }, |kept, table| kept.run(table, program, request))
}

/// Resumes a run that isn't finished or has stopped.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn go_on<K: Host<Programs>>(
    this: *const (),
    run: u64,
    request: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked_to_run(unsafe { of::<K>(this) }, |kept, table| kept.go_on(table, run, request))
}

/// Stops a run.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn cancel<K: Host<Programs>>(this: *const (), run: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked(unsafe { of::<K>(this) }, |kept, _| kept.cancel(run))
}

/// Drops a run that has stopped or isn't finished.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn discard<K: Host<Programs>>(
    this: *const (),
    run: u64,
    _: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    asked(unsafe { of::<K>(this) }, |kept, _| kept.discard(run))
}
