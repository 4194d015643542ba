//! Signals. Components that require the interface Signals are told of SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2.
//! While none of them watches, each of these ends the program as `HALT` does, and then the process by the signal, so
//! that whoever has started it sees why. SIGQUIT asks what the processes wait for ([`quit`](crate::quit)).
//!
//! A handler only notes that its signal has come. The home worker finds the note after its next wait, which a program
//! that computes has in each tick. Signals of one kind that come before a watch has sent the first are one, as in the
//! kernel, so a watch takes no memory however many come.
//!
//! # Soundness
//!
//! The handlers use atomics and async-signal-safe calls. A waker isn't freed while a handler may use it: its owner
//! first removes it from the static, then waits for running handlers. The runtime calls questions with its home worker.

use std::cell::{Cell, RefCell};
use std::ptr::null_mut;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use std::task::Poll;
use std::{hint, mem};

use drystone_reactor::{Direction, Reactor};
use drystone_runtime::native::{Waiter, halt};
use drystone_runtime::platform::Question;
use libc::c_int;

use crate::interfaces::signals::{Out, Server};
use crate::quit;

/// What a program may ask for, and what ends it otherwise.
pub(crate) const FOR_PROGRAMS: [c_int; 5] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Seconds that the end by a signal may take, for output that nobody reads.
const ENDING: u32 = 10;

/// Milliseconds that a program has to react to SIGTERM or SIGINT: another one after that ends it at once.
const PATIENCE: u64 = 1000;

/// The signals that have come and were not dealt with, a bit for each.
static CAME: AtomicU32 = AtomicU32::new(0);

/// When the first signal came that is to end the program, in milliseconds; 0: none has.
static ENDS_SINCE: AtomicU64 = AtomicU64::new(0);

/// The signal that ends the program; 0: none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// Some component watches.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Ends the home worker's wait; null: no program runs.
static WAKER: AtomicPtr<mio::Waker> = AtomicPtr::new(null_mut());

/// The number of running handlers.
static HANDLERS: AtomicUsize = AtomicUsize::new(0);

fn bit(signal: c_int) -> u32 {
    1 << signal
}

/// The signals of a program.
pub(crate) struct Signals {
    reactor: Rc<Reactor>,
    /// `None`: the process isn't the program's own.
    waker: Option<Arc<mio::Waker>>,
    /// The signals that are handled, with what was done before.
    handled: RefCell<Vec<(c_int, libc::sigaction)>>,
    watches: RefCell<Vec<Weak<Watch>>>,
    ended_by: Cell<Option<c_int>>,
}

impl Signals {
    /// Of a program that never gets any: the process isn't its own.
    pub(crate) fn none(reactor: &Rc<Reactor>) -> Rc<Signals> {
        let (reactor, handled, watches, ended_by) =
            (reactor.clone(), Default::default(), Default::default(), Cell::default());
        Rc::new(Signals { reactor, waker: None, handled, watches, ended_by })
    }

    /// Handles signals from now on, except those that are ignored.
    pub(crate) fn expect(reactor: &Rc<Reactor>) -> Rc<Signals> {
        let waker = reactor.waker();
        CAME.store(0, SeqCst);
        ENDS_SINCE.store(0, SeqCst);
        ENDED_BY.store(0, SeqCst);
        IS_WATCHED.store(false, SeqCst);
        WAKER.store(Arc::as_ptr(&waker).cast_mut(), SeqCst);
        let signals = FOR_PROGRAMS.into_iter().chain([libc::SIGQUIT]);
        let handled =
            signals.filter_map(|signal| handle(signal, come).map(|before| (signal, before))).collect();
        let (reactor, watches, ended_by) = (reactor.clone(), Default::default(), Cell::default());
        Rc::new(Signals { reactor, waker: Some(waker), handled: RefCell::new(handled), watches, ended_by })
    }

    /// Whether a signal has come that was not dealt with.
    pub(crate) fn have_come(&self) -> bool {
        self.waker.is_some() && CAME.load(Relaxed) != 0
    }

    /// Tells those that watch, or asks the program for what the signal means.
    pub(crate) fn asked(&self) -> Option<Question> {
        if !self.have_come() {
            return None;
        }
        let came = CAME.swap(0, SeqCst);
        let is_asked = came & bit(libc::SIGQUIT) != 0;
        let others = came & !bit(libc::SIGQUIT);
        let ends = others != 0 && !self.tell(others);
        let ends = ends.then(|| self.end(others.trailing_zeros() as c_int));
        if !is_asked && ends.is_none() {
            return None;
        }
        Some(Box::new(move |worker| {
            if is_asked {
                quit::show(worker);
            }
            if let Some(status) = ends {
                // SAFETY: see the head of this file.
                unsafe { halt(worker, status) };
            }
        }))
    }

    /// Tells all that watch; whether there are any.
    fn tell(&self, came: u32) -> bool {
        let watches = self.live();
        for watch in &watches {
            watch.came.set(watch.came.get() | came);
            self.reactor.wake(watch.source, Direction::Read);
        }
        if !watches.is_empty() {
            ENDS_SINCE.store(0, SeqCst);
        }
        !watches.is_empty()
    }

    fn live(&self) -> Vec<Rc<Watch>> {
        let mut watches = self.watches.borrow_mut();
        watches.retain(|watch| watch.strong_count() > 0);
        watches.iter().filter_map(Weak::upgrade).collect()
    }

    /// The signal ends the program; its status.
    fn end(&self, signal: c_int) -> i64 {
        if self.ended_by.replace(Some(signal)).is_none() {
            ENDED_BY.store(signal, SeqCst);
            handle(libc::SIGALRM, end_late);
            // SAFETY: a plain number.
            unsafe { libc::alarm(ENDING) };
        }
        128 + i64::from(signal)
    }

    /// The signal that has ended the program.
    pub(crate) fn ended_by(&self) -> Option<c_int> {
        self.ended_by.get()
    }

    /// The program is over, and only its output remains to be written. A signal ends the process now as if it had never
    /// been handled. One that has come too late for the program ends it as it would have ended the program.
    pub(crate) fn over(&self) {
        if self.ended_by.get().is_some() {
            return;
        }
        self.restore();
        let ending = CAME.load(SeqCst) & (bit(libc::SIGTERM) | bit(libc::SIGINT));
        if ending != 0 && ENDS_SINCE.load(SeqCst) != 0 {
            self.end(ending.trailing_zeros() as c_int);
        }
    }

    /// Signals do again what they did before.
    fn restore(&self) {
        for (signal, before) in self.handled.take() {
            // SAFETY: the structure is one that the kernel has given.
            unsafe { libc::sigaction(signal, &raw const before, null_mut()) };
        }
    }

    /// From now on, until it is dropped, its holder is told of signals, and none ends the program.
    fn watch(self: &Rc<Signals>) -> Rc<Watch> {
        let watch =
            Rc::new(Watch { signals: self.clone(), source: self.reactor.source(), came: Cell::new(0) });
        self.watches.borrow_mut().push(Rc::downgrade(&watch));
        IS_WATCHED.store(true, SeqCst);
        watch
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let Some(waker) = &self.waker else { return };
        self.restore();
        // Another program may have set its own waker meanwhile.
        let own = Arc::as_ptr(waker).cast_mut();
        let _ = WAKER.compare_exchange(own, null_mut(), SeqCst, SeqCst);
        while HANDLERS.load(SeqCst) != 0 {
            hint::spin_loop();
        }
    }
}

/// What one client has still to be told.
struct Watch {
    signals: Rc<Signals>,
    source: usize,
    came: Cell<u32>,
}

impl Watch {
    /// The next signal; while there is none, the waiter will be woken by it.
    fn next(&self, waiter: Waiter) -> Poll<c_int> {
        let came = self.came.get();
        if came == 0 {
            self.signals.reactor.wait_for(waiter, Some((self.source, Direction::Read)), None);
            return Poll::Pending;
        }
        // Without the lowest bit.
        self.came.set(came & (came - 1));
        Poll::Ready(came.trailing_zeros() as c_int)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signals.reactor.remove(self.source);
        if self.signals.live().is_empty() {
            IS_WATCHED.store(false, SeqCst);
        }
    }
}

/// Serves a client to its end.
pub(crate) async fn attend(mut client: Server, signals: Rc<Signals>) {
    if client.receive().await.is_err() {
        return;
    }
    let watch = signals.watch();
    client.send(Out::Watching).await;
    while !client.has_left() {
        let signal = client.until(|waiter| watch.next(waiter)).await;
        client.send(message(signal)).await;
    }
}

fn message(signal: c_int) -> Out {
    match signal {
        libc::SIGTERM => Out::Terminate,
        libc::SIGINT => Out::Interrupt,
        libc::SIGHUP => Out::HangUp,
        libc::SIGUSR1 => Out::User { number: 1 },
        _ => Out::User { number: 2 },
    }
}

/// Ends the process by a signal, or with the status that a shell shows then, where the kernel doesn't let the signal
/// end it (the first process of a container).
pub(crate) fn end_by(signal: c_int) -> ! {
    // SAFETY: plain numbers, and a structure that the first call fills.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, null_mut());
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}

/// Handles a signal from now on, unless it is ignored; what was done before.
fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> Option<libc::sigaction> {
    // SAFETY: valid structures, and an async-signal-safe handler.
    unsafe {
        let mut known: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, null_mut(), &raw mut known);
        if known.sa_sigaction == libc::SIG_IGN {
            return None;
        }
        let mut wanted: libc::sigaction = mem::zeroed();
        wanted.sa_sigaction = handler as *const () as libc::sighandler_t;
        wanted.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const wanted, null_mut());
        Some(known)
    }
}

/// The handler of all signals.
extern "C" fn come(signal: c_int) {
    // SAFETY: see the head of this file. What the thread was doing doesn't see another error number.
    unsafe {
        let error = libc::__errno_location();
        let kept = *error;
        if matches!(signal, libc::SIGTERM | libc::SIGINT) && !IS_WATCHED.load(SeqCst) {
            let now = milliseconds();
            let first = ENDS_SINCE.compare_exchange(0, now, SeqCst, SeqCst);
            if first.is_err_and(|first| now - first >= PATIENCE) {
                end_by(signal);
            }
        }
        CAME.fetch_or(bit(signal), SeqCst);
        HANDLERS.fetch_add(1, SeqCst);
        if let Some(waker) = WAKER.load(SeqCst).as_ref() {
            let _ = waker.wake();
        }
        HANDLERS.fetch_sub(1, SeqCst);
        *error = kept;
    }
}

/// The end takes too long.
extern "C" fn end_late(_: c_int) {
    end_by(ENDED_BY.load(SeqCst))
}

/// By a clock that never stands still.
fn milliseconds() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000 + 1
}
