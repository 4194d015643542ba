//! What is known about processes that compute: [`Parallel`] at home, and the [`Exchange`] that all workers see, in
//! which processes and lent teams wait for a worker. The parallel module uses it.
//!
//! # Safety
//! A process or team in the exchange belongs to no worker. The one that takes it owns it: out of the queue, under its
//! lock, or out of the inbox, which is emptied by one atomic exchange.

use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

use super::team::Team;
use crate::layout::Process;
use crate::queue::Queue;
use crate::spin::Spin;
use crate::worker::Failure;

/// The home's part.
pub struct Parallel {
    /// How many other workers there are.
    pub workers: usize,
    /// Processes that compute, and have not been put into the exchange yet.
    pub candidates: Queue,
    /// How many are away, or in the exchange; teams count too.
    pub away: usize,
    /// How many ever went.
    pub departures: u64,
    /// Those that are away, or in the exchange.
    pub travelling: BTreeSet<*mut Process>,
    /// `Worker::switches` at the last tick.
    pub switches: u64,
    pub ticks: u64,
    /// All shall come home, and nobody go.
    pub recalling: bool,
}

/// The part that all workers see.
pub struct Exchange {
    /// Processes that compute, and teams: any worker may take the first.
    queue: Spin<VecDeque<Item>>,
    /// How many stand there.
    waiting: AtomicUsize,
    /// A team was recalled; it may stand there.
    pub has_recalled: AtomicBool,
    /// Workers that run a team.
    pub hosts: AtomicUsize,
    /// Processes that have come home, and news of them.
    pub inbox: AtomicPtr<Post>,
    /// Workers that are parked, or about to be.
    pub parked: Box<[AtomicBool]>,
    pub idle: AtomicUsize,
    /// All processes shall come home.
    pub recall: AtomicBool,
    /// The home's processes communicate, and there is nothing to lend: they need no short slices.
    pub communicates: AtomicBool,
    /// Much waits to be written.
    pub is_full: AtomicBool,
}

/// What waits for a worker.
pub enum Item {
    /// A process that computes.
    Process(*mut Process),
    /// A lent team.
    Team(Box<Team>),
}

// SAFETY: what stands in the exchange belongs to no thread: see the head of this file.
unsafe impl Send for Item {}

/// A letter to the home.
pub struct Post {
    /// The one before it.
    pub next: *mut Post,
    /// The process that comes home, if it isn't only news.
    pub process: Option<*mut Process>,
    /// The team that comes home.
    pub team: Option<Box<Team>>,
    /// It goes on computing.
    pub computes: bool,
    /// What has failed.
    pub failures: Vec<Failure>,
    /// `HALT`
    pub halted: Option<i64>,
    /// How long it was away.
    pub nanoseconds: u64,
    /// What it has written.
    pub output: Vec<u8>,
}

impl Default for Post {
    fn default() -> Post {
        Post {
            next: null_mut(),
            process: None,
            team: None,
            computes: false,
            failures: Vec::new(),
            halted: None,
            nanoseconds: 0,
            output: Vec::new(),
        }
    }
}

impl Parallel {
    /// Nobody is away.
    pub const fn new() -> Parallel {
        Parallel {
            workers: 0,
            candidates: Queue::EMPTY,
            away: 0,
            departures: 0,
            travelling: BTreeSet::new(),
            switches: 0,
            ticks: 0,
            recalling: false,
        }
    }

    /// A process computes, or is about to.
    ///
    /// # Safety
    /// At home; the process is alive, and stands in no queue.
    pub unsafe fn keep(&mut self, p: *mut Process) {
        // SAFETY: the process stands in no queue.
        unsafe { self.candidates.push(p) }
    }

    /// Whether processes are away.
    pub fn are_away(&self) -> bool {
        self.away != 0
    }

    /// Processes that wait here.
    pub fn candidates(&mut self) -> &mut Queue {
        &mut self.candidates
    }
}

impl Default for Parallel {
    fn default() -> Parallel {
        Parallel::new()
    }
}

impl Exchange {
    /// For so many workers besides the home.
    pub fn new(workers: usize) -> Exchange {
        Exchange {
            queue: Spin::new(VecDeque::new()),
            waiting: AtomicUsize::new(0),
            has_recalled: AtomicBool::new(false),
            hosts: AtomicUsize::new(0),
            inbox: AtomicPtr::new(null_mut()),
            parked: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            idle: AtomicUsize::new(0),
            recall: AtomicBool::new(false),
            communicates: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
        }
    }

    /// Puts a process or a team at the end of the queue.
    ///
    /// # Safety
    /// A process is alive, this worker's, and stands in no queue. It isn't this worker's afterwards.
    pub unsafe fn put(&self, item: Item) {
        let mut queue = self.queue.lock();
        self.waiting.fetch_add(1, SeqCst);
        queue.push_back(item);
    }

    /// What has waited for longest.
    pub fn take(&self) -> Option<Item> {
        self.take_first(|_| true)
    }

    /// The process that has waited for longest, among those that are alone; or null.
    pub fn take_process(&self) -> *mut Process {
        match self.take_first(|item| matches!(item, Item::Process(_))) {
            Some(Item::Process(p)) => p,
            _ => null_mut(),
        }
    }

    /// A team that was recalled before any worker took it.
    pub fn take_recalled(&self) -> Option<Box<Team>> {
        match self.take_first(|item| matches!(item, Item::Team(team) if team.is_recalled())) {
            Some(Item::Team(team)) => Some(team),
            _ => None,
        }
    }

    fn take_first(&self, is_wanted: impl FnMut(&Item) -> bool) -> Option<Item> {
        if !self.has_some() {
            return None;
        }
        let mut queue = self.queue.lock();
        let index = queue.iter().position(is_wanted)?;
        self.waiting.fetch_sub(1, SeqCst);
        queue.remove(index)
    }

    /// Whether something may be taken.
    pub fn has_some(&self) -> bool {
        self.waiting.load(SeqCst) != 0
    }

    /// Sends a letter to the home.
    pub fn post(&self, post: Box<Post>) {
        let post = Box::into_raw(post);
        let mut first = self.inbox.load(Relaxed);
        loop {
            // SAFETY: no other thread sees the letter before it is in the list.
            unsafe { (*post).next = first };
            match self.inbox.compare_exchange_weak(first, post, SeqCst, Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }
}
