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
    /// Processes that compute: any worker may take the first.
    queue: Spin<Queue>,
    /// How many stand there.
    waiting: AtomicUsize,
    /// Teams that are lent.
    teams: Spin<VecDeque<Box<Team>>>,
    /// How many stand there.
    teams_waiting: AtomicUsize,
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
            queue: Spin::new(Queue::EMPTY),
            waiting: AtomicUsize::new(0),
            teams: Spin::new(VecDeque::new()),
            teams_waiting: AtomicUsize::new(0),
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

    /// Puts a process at the end of the queue.
    ///
    /// # Safety
    /// The process is alive, this worker's, and stands in no queue. It isn't this worker's afterwards.
    pub unsafe fn put(&self, p: *mut Process) {
        let mut queue = self.queue.lock();
        self.waiting.fetch_add(1, SeqCst);
        // SAFETY: the process stands in no queue.
        unsafe { queue.push(p) };
    }

    /// The one that has waited for longest, or null.
    pub fn take(&self) -> *mut Process {
        if !self.has_some() {
            return null_mut();
        }
        let mut queue = self.queue.lock();
        let p = queue.pop();
        if !p.is_null() {
            self.waiting.fetch_sub(1, SeqCst);
        }
        p
    }

    /// Whether a process may be taken.
    pub fn has_some(&self) -> bool {
        self.waiting.load(SeqCst) != 0
    }

    /// Puts a team at the end of the queue.
    pub fn put_team(&self, team: Box<Team>) {
        let mut teams = self.teams.lock();
        self.teams_waiting.fetch_add(1, SeqCst);
        teams.push_back(team);
    }

    /// The team that has waited for longest.
    pub fn take_team(&self) -> Option<Box<Team>> {
        if !self.has_team() {
            return None;
        }
        let mut teams = self.teams.lock();
        let team = teams.pop_front();
        if team.is_some() {
            self.teams_waiting.fetch_sub(1, SeqCst);
        }
        team
    }

    /// A team that was recalled before any worker took it.
    pub fn take_recalled(&self) -> Option<Box<Team>> {
        let mut teams = self.teams.lock();
        let index = teams.iter().position(|team| team.is_recalled())?;
        self.teams_waiting.fetch_sub(1, SeqCst);
        teams.remove(index)
    }

    /// Whether a team may be taken.
    pub fn has_team(&self) -> bool {
        self.teams_waiting.load(SeqCst) != 0
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
