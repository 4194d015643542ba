//! The state of a program that runs: what the home worker has for itself, and what all threads see.
//!
//! # Why this is sound
//! `scheduler::run` owns all of it; everyone else reaches the home's data through the home worker, on the same thread,
//! for the length of one expression. Other threads see [`Shared`] only.
#![allow(unsafe_op_in_unsafe_fn)]

pub mod exchange;
pub mod leaving;
pub mod names;
pub mod outgoing;
pub mod surplus;
pub mod timers;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicBool, AtomicI64};

use drystone_component::{Program, Template};

use self::exchange::{Exchange, Parallel};
use self::leaving::Leaving;
use self::names::Names;
use self::outgoing::Outgoing;
use self::surplus::Surplus;
use self::timers::Timers;
use crate::far::{Guest, Waker};
use crate::layout::{Communication, Instance, OTHER, Process, Worker};
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
#[inline]
pub unsafe fn own(w: *mut Worker) -> *mut WorkerData {
    (*w).own.cast()
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
    /// The program has ended.
    pub stop: AtomicBool,
}

// SAFETY: a worker is touched by its own thread, but for `attention`, which is atomic.
unsafe impl Sync for Shared {}
// SAFETY: likewise.
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

    /// Makes the home see to its inbox.
    pub fn call_home(&self) {
        self.demand_attention(0, OTHER);
        if self.idle.load(SeqCst) {
            self.threads.notify();
        }
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
    /// The program's entry; null when it has been deleted.
    pub entry: *mut Instance,
    /// What the entry is to another program, if it is here for one.
    pub guest: Option<Guest>,
    /// Components of the system that the entry is connected to.
    pub system: Vec<*mut Instance>,
    /// What the program exports to itself.
    pub names: Names,
    /// What the platform has not written yet.
    pub outgoing: Outgoing,
    /// Processes that sleep.
    pub timers: Timers,
    /// Deletions that go on when others have had their turn, as the life module knows.
    pub paused: VecDeque<*mut c_void>,
    /// Long calls of processes, within each of which the next one was made.
    pub within: u32,
    /// What is in a buffer in which something is put together that nobody will hear.
    pub kept_words: Vec<u64>,
    /// Deletions that nobody waits for.
    pub detached: usize,
    /// Whether the program runs: those outside who would wake one of its processes ask.
    pub runs: Rc<Cell<bool>>,
    /// Clients that are to be bound anew, by their communications.
    pub leaving: BTreeMap<*mut Communication, Leaving>,
    /// How much has been ended by force.
    pub forced: u64,
    /// Templates that no compiler made: by what they are for, as the near module knows.
    pub templates: BTreeMap<(usize, u8), &'static Template>,
    /// Processes for other workers.
    pub parallel: Parallel,
    /// Memory that nobody uses.
    pub surplus: Surplus,
    /// Processes made so far.
    pub created: u64,
    /// Processes alive.
    pub live: u64,
    /// Ticks that the home has seen.
    pub ticks: u32,
}

/// The home's own data.
#[inline]
pub unsafe fn home(w: *mut Worker) -> *mut Home {
    (*own(w)).home
}

/// What a worker's thread shares with the others.
#[inline]
pub unsafe fn shared<'a>(w: *mut Worker) -> &'a Shared {
    &*Arc::as_ptr(&(*own(w)).shared)
}

/// Wakes a process of the home worker.
///
/// # Safety
/// `w` is the home worker; on its thread.
pub unsafe fn waker(w: *mut Worker, p: *mut Process) -> Waker {
    Waker::new(w, p, (*home(w)).runs.clone())
}
