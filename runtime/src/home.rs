//! The state of a program that runs: what the home worker has for itself, and what all threads see.
//!
//! # Safety: *at home*
//! A function is called *at home* if its worker `w` is the home worker of a program that runs, and this is that
//! worker's thread; [`AtHome`] says so as a type. Only this thread uses the home's data, which `scheduler::run` owns. A
//! reference into a field of [`Home`] is never kept over a call that uses the same field. Other threads see [`Shared`].

pub mod census;
pub mod communications;
pub mod deletions;
pub mod exchange;
pub mod lending;
pub mod names;
pub mod outgoing;
pub mod roots;
pub mod surplus;
pub mod team;
pub mod templates;
pub mod timers;
pub mod watches;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI64};

use drystone_component::Program;

use self::exchange::{Exchange, Parallel};
use self::lending::Lending;
use self::names::Names;
use self::outgoing::Outgoing;
use self::roots::Roots;
use self::surplus::Surplus;
use self::team::Team;
use self::templates::Templates;
use crate::far::{Guest, Waker};
use crate::layout::{Instance, OTHER, Process, TextHead, Worker};
use crate::platform::Platform;
use crate::threads::Threads;
use crate::worker::Ground;

/// A worker's part that generated code doesn't see: what [`Worker::own`] points to.
#[repr(C)]
pub struct WorkerData {
    /// What those below know of it.
    pub ground: Ground,
    /// The home's data: on the home worker's thread only.
    pub home: *mut Home,
    /// The team whose processes run here: the home's own, or a lent one. Null where a single process is away.
    pub team: *mut Team,
    /// What all threads see.
    pub shared: Arc<Shared>,
    /// What its processes have written.
    pub output: Vec<u8>,
    /// State of `RANDOM`.
    pub random: u64,
    /// Away: the process that runs writes, while much waits to be written.
    pub writes: bool,
    /// Away: the process that ran last goes on computing.
    pub computes: bool,
}

/// The runtime's part of a worker.
///
/// # Safety
/// `w` is a worker of a program that runs; only its own thread may use what this points to.
#[inline]
pub unsafe fn own(w: *mut Worker) -> *mut WorkerData {
    // SAFETY: the worker is there.
    unsafe { (*w).own.cast() }
}

/// What all threads see.
pub struct Shared {
    /// The platform's part for all threads.
    pub threads: &'static dyn Threads,
    /// The workers; the first is the home.
    pub workers: Box<[UnsafeCell<Worker>]>,
    /// `{VIRTUAL}`
    pub is_virtual: bool,
    /// The time, if virtual.
    pub virtual_time: AtomicI64,
    /// For processes that are away.
    pub exchange: Exchange,
    /// The program's start, by the platform's clock.
    pub start: u64,
    /// The home waits, or is about to.
    pub idle: AtomicBool,
    /// The ticker sleeps, or is about to.
    pub ticker_sleeps: AtomicBool,
    /// For tests: components are lent all the time, whatever that costs.
    pub is_restless: bool,
    /// Alarms set so far.
    pub alarms: AtomicI64,
    /// The program has ended.
    pub stop: AtomicBool,
}

// SAFETY: a worker is touched by its own thread, but for `attention`, which is atomic.
unsafe impl Sync for Shared {}
// SAFETY: as for `Sync`.
unsafe impl Send for Shared {}

impl Shared {
    /// Since the program's start.
    pub fn nanoseconds(&self) -> u64 {
        self.threads.clock() - self.start
    }

    /// Makes a worker's processes come back to its scheduler.
    pub fn demand_attention(&self, worker: usize, reason: u32) {
        // SAFETY: only the atomic field is touched.
        unsafe { (*self.workers[worker].get()).attention.fetch_or(reason, SeqCst) };
    }

    /// Wakes a worker that has nothing to do, if there is one.
    pub fn wake_one(&self) {
        if self.exchange.idle.load(SeqCst) != 0 {
            let parked = self.exchange.parked.iter().position(|parked| parked.swap(false, SeqCst));
            if let Some(worker) = parked {
                self.threads.unpark(worker + 1);
            }
        }
    }

    /// Makes the home see to its inbox.
    pub fn call_home(&self) {
        self.demand_attention(0, OTHER);
        if self.idle.load(SeqCst) {
            self.threads.notify();
        }
    }

    /// The number of one more alarm.
    pub fn next_alarm(&self) -> i64 {
        self.alarms.fetch_add(1, Relaxed)
    }

    /// Whether threads shall end.
    pub fn is_over(&self) -> bool {
        self.stop.load(SeqCst)
    }
}

/// The home worker's own data.
pub struct Home {
    /// What runs.
    pub program: &'static Program,
    /// Where it runs.
    pub platform: *mut dyn Platform,
    /// Whether the program runs: wakers that something outside has kept ask this.
    pub runs: Rc<Cell<bool>>,
    /// The components that the program begins with.
    pub roots: Roots,
    /// What the program exports to itself.
    pub names: Names,
    /// What the platform has not written yet.
    pub outgoing: Outgoing,
    /// What has ended dead components that stand in their containers: records.
    pub faults: BTreeMap<*mut Instance, *mut TextHead>,
    /// Templates that no compiler made.
    pub templates: Templates,
    /// Processes for other workers.
    pub parallel: Parallel,
    /// Teams at other workers.
    pub lending: Lending,
    /// Memory that nobody uses.
    pub surplus: Surplus,
}

impl Home {
    /// For a program that begins, perhaps for another one.
    pub fn new(program: &'static Program, platform: *mut dyn Platform, guest: Option<Guest>) -> Home {
        Home {
            program,
            platform,
            runs: Rc::new(Cell::new(true)),
            roots: Roots::new(guest),
            names: Names::new(),
            outgoing: Outgoing::new(),
            faults: BTreeMap::new(),
            templates: Templates::default(),
            parallel: Parallel::new(),
            lending: Lending::default(),
            surplus: Surplus::new(),
        }
    }
}

/// The home worker of a program that runs, on that worker's thread.
///
/// It proves nothing else: neither that a process, a slot or a communication is there, nor that there is no reference
/// into the home's data.
#[derive(Clone, Copy)]
pub struct AtHome(*mut Worker);

impl AtHome {
    /// # Safety
    /// At home, as long as this or a copy of it is used.
    pub unsafe fn new(w: *mut Worker) -> AtHome {
        AtHome(w)
    }

    /// The home worker.
    pub fn worker(self) -> *mut Worker {
        self.0
    }

    /// The home's own data, which are there.
    pub(crate) fn data(self) -> *mut Home {
        // SAFETY: at home.
        unsafe { home(self.0) }
    }
}

/// The home's own data.
///
/// # Safety
/// At home.
#[inline]
pub unsafe fn home(w: *mut Worker) -> *mut Home {
    // SAFETY: the home worker has its part, and this is its thread.
    unsafe { (*own(w)).home }
}

/// Whether this is the home worker, and not one that runs a lent team or a single process.
///
/// # Safety
/// `w` is the worker of this thread.
#[inline]
pub unsafe fn is_home(w: *mut Worker) -> bool {
    // SAFETY: the worker has its part.
    unsafe { !(*own(w)).home.is_null() }
}

/// The home's names; `None` in a lent team, in which nothing has a name or waits for one.
///
/// # Safety
/// `w` is the worker of this thread, and nobody else looks at the names meanwhile.
pub unsafe fn names_of_home<'a>(w: *mut Worker) -> Option<&'a mut Names> {
    // SAFETY: at home, the home's data are this thread's.
    unsafe { if is_home(w) { Some(&mut (*home(w)).names) } else { None } }
}

/// The team whose processes run on this worker.
///
/// # Safety
/// `w` is the worker of this thread; at home, or it runs a lent team. No reference into it is kept over a call that
/// uses the same field.
#[inline]
pub unsafe fn team(w: *mut Worker) -> *mut Team {
    // SAFETY: the worker has its part.
    unsafe { (*own(w)).team }
}

/// What a worker's thread shares with the others.
///
/// # Safety
/// `w` is the worker of this thread, as long as the result is used.
#[inline]
pub unsafe fn shared<'a>(w: *mut Worker) -> &'a Shared {
    // SAFETY: the worker's part holds it.
    unsafe { &*Arc::as_ptr(&(*own(w)).shared) }
}

/// What wakes a process of the home worker.
///
/// # Safety
/// At home; the waker forgets the process before that ends.
pub unsafe fn waker(w: *mut Worker, p: *mut Process) -> Waker {
    // SAFETY: at home.
    unsafe { Waker::new(w, p, (*home(w)).runs.clone()) }
}
