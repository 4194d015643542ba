//! Lends processes that compute, and components with all that is in them, to other workers (*structured concurrent
//! programs*, section 3.2).
//!
//! Nothing that processes share is atomic, so those that communicate with each other run on one worker. `teams` lends
//! components whose processes talk among themselves, `choosing` finds them, and the scheduler's `hosting` runs them.
//! This file lends single processes.
//!
//! A process that computes may go *away*: the home puts it into the exchange, and another worker takes it and runs it
//! until it comes to something that it shares with other processes; then it is posted home. A process computes if it
//! was preempted twice and has not waited in between; or if it is preempted when the home has hardly switched since the
//! last tick, whatever this process did before. A process that comes home at once isn't sent again so soon. A new
//! process is sent at once if earlier ones of its body gained by going.
//!
//! The exchange is one queue, first in, first out, of which the home takes its share. At the end of a time slice
//! each worker puts its process behind the others and takes the first, so all that compute have turns alike.
//!
//! # Why this is sound
//! A process belongs to the worker that took it out of the exchange's queue, or its inbox; the one is under a lock, the
//! other is handed over by an atomic exchange. What it touches away is its own: generated code goes home before
//! anything else. The home says [`Memory::depart`] before it lets a process go, and [`Memory::come_back`] when it has
//! it again, so counts that both may touch are atomic meanwhile.

mod choosing;
mod counting;
mod teams;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use drystone_component::Program;

use self::counting::{came_back, goes};
use crate::heap::{Heap, Memory};
use crate::home::exchange::{Item, Parallel, Post};
use crate::home::team::Team;
use crate::home::{Shared, WorkerData, home, own, shared, team};
use crate::instance::body_of;
use crate::layout::*;
use crate::output;
use crate::process::{PENALTY_BITS, PENALTY_SHIFT, enter};
use crate::queue::{ready, ready_first};
use crate::worker::{Ground, ground, heap_of, want_attention};

/// [`Process::score`]: it has computed for the rest of a slice since it went away.
const GAINED: u32 = 1 << 31;

/// Most workers that a program can have.
pub const MOST_WORKERS: usize = 64;

/// A process computes if at most so many switches were made in its slice.
const FEW_SWITCHES: u64 = 4;
/// A process that comes home sooner than that has not gained.
const GAIN_NANOSECONDS: u64 = 50_000;
/// Nanoseconds between two ticks.
const TICK_NANOSECONDS: u64 = 1_000_000;
/// The same while another worker has nothing to do and the home's processes compute.
const SHORT_TICK_NANOSECONDS: u64 = 200_000;
/// A process that never gains is still tried once in 2 to the power of this ticks.
const MOST_PENALTY: u32 = 10;

/// Runs a team on a worker that has taken it out of the exchange, until that gives it up.
pub type Host = unsafe fn(*mut Worker, &Shared, &Program, Box<Team>);

/// Starts the other workers' threads, which run teams with `host`.
///
/// # Safety
/// `w` is the home worker, and starts to run `program` in `memory`.
pub unsafe fn start_workers(w: *mut Worker, program: &'static Program, memory: &Arc<Memory>, host: Host) {
    // SAFETY: the home's data belong to its worker.
    let (own, parallel) = unsafe { (&*own(w), &mut (*home(w)).parallel) };
    let shared = own.shared.clone();
    for worker in 1..shared.workers.len() {
        let mut heap = Heap::new(memory.clone());
        heap.keep_families_apart();
        let own = Box::new(WorkerData {
            ground: Ground::new(heap),
            home: null_mut(),
            team: null_mut(),
            shared: shared.clone(),
            output: Vec::new(),
            random: own.random ^ worker as u64,
            writes: false,
            computes: false,
        });
        let start = Box::into_raw(Box::new(Start { worker, program, host, own }));
        // It has nothing to do from the beginning.
        shared.exchange.idle.fetch_add(1, SeqCst);
        if !shared.threads.start_worker(worker, work, start.expose_provenance()) {
            shared.exchange.idle.fetch_sub(1, SeqCst);
            // SAFETY: no thread has taken it.
            drop(unsafe { Box::from_raw(start) });
            return;
        }
        parallel.workers += 1;
        // SAFETY: a worker's heap belongs to its thread.
        unsafe { (*heap_of(w)).keep_families_apart() };
    }
}

/// What a worker's thread gets.
struct Start {
    worker: usize,
    program: &'static Program,
    host: Host,
    own: Box<WorkerData>,
}

/// A worker's thread.
///
/// # Safety
/// `argument` is the address of a `Start` that nobody else takes.
unsafe fn work(argument: usize) {
    let start = core::ptr::with_exposed_provenance_mut::<Start>(argument);
    // SAFETY: `argument` is the address of a `Start` that nobody else takes.
    let Start { worker, program, host, own } = *unsafe { Box::from_raw(start) };
    let shared = own.shared.clone();
    let w = shared.workers[worker].get();
    // SAFETY: this is the worker's thread from now on; a process that it takes out of the exchange is its own until it
    // posts it.
    unsafe {
        (*w).own = Box::into_raw(own).cast();
        shared.exchange.idle.fetch_sub(1, SeqCst);
        while !shared.is_over() {
            match shared.exchange.take() {
                Some(Item::Process(p)) => travel(w, &shared, program, p),
                Some(Item::Team(team)) => host(w, &shared, program, team),
                None => rest(w, &shared, worker),
            }
        }
        drop(Box::from_raw(self::own(w)));
    }
}

/// Parks until there is something to do.
///
/// # Safety
/// `w` is the worker of this number, on its thread.
unsafe fn rest(w: *mut Worker, shared: &Shared, worker: usize) {
    let exchange = &shared.exchange;
    exchange.parked[worker - 1].store(true, SeqCst);
    // `rouse` wakes this one from now on.
    // SAFETY: a worker's heap belongs to its thread.
    unsafe { (*heap_of(w)).rest() };
    exchange.idle.fetch_add(1, SeqCst);
    if !exchange.has_some() && !shared.is_over() {
        shared.threads.park(worker);
    }
    exchange.idle.fetch_sub(1, SeqCst);
    exchange.parked[worker - 1].store(false, SeqCst);
}

/// Has workers that rest give up the free blocks that they have kept.
pub fn rouse(shared: &Shared) {
    for (index, parked) in shared.exchange.parked.iter().enumerate() {
        if parked.swap(false, SeqCst) {
            shared.threads.unpark(index + 1);
        }
    }
}

/// Runs a process until it has to go home.
///
/// # Safety
/// `w` is a worker of `program` but the home, on its thread, and has taken `p` out of the exchange.
unsafe fn travel(w: *mut Worker, shared: &Shared, program: &Program, p: *mut Process) {
    // SAFETY: `p` is the worker's own until it is put or posted.
    unsafe {
        (*w).attention.store(0, SeqCst);
        if shared.exchange.recall.load(SeqCst) {
            (*w).attention.store(OTHER, SeqCst);
        }
        let start = shared.threads.clock();
        enter(w, program, p);
        let nanoseconds = shared.threads.clock() - start;
        let own = own(w);
        let computes = take(&mut (*own).computes);
        let is_calm = (*own).ground.failures.is_empty() && (*own).ground.halted.is_none();
        if computes && is_calm && !shared.exchange.recall.load(SeqCst) {
            // What it has written is on its way before anybody goes on with it.
            if !(*own).output.is_empty() {
                output::post(w);
            }
            (*p).score = (*p).score & !PENALTY_BITS | GAINED;
            return shared.exchange.put(Item::Process(p));
        }
        shared.exchange.post(Box::new(Post {
            next: null_mut(),
            process: Some(p),
            team: None,
            computes,
            failures: take(&mut (*own).ground.failures),
            halted: (*own).ground.halted.take(),
            nanoseconds,
            output: take(&mut (*own).output),
        }));
    }
    shared.call_home();
}

/// The process that is away goes home when this worker's scheduler gets control: it returns to it at once.
#[unsafe(no_mangle)]
pub extern "C" fn ds_go_home(_w: *mut Worker, _p: *mut Process) {}

/// Attention is wanted of the process that is away.
///
/// # Safety
/// `w` is a worker but the home, on its thread.
pub unsafe fn preempt_away(w: *mut Worker) -> Status {
    // SAFETY: a worker's data belong to its thread.
    unsafe {
        (*w).attention.store(0, SeqCst);
        if take(&mut (*own(w)).writes) {
            return Status::Leave;
        }
        let exchange = &shared(w).exchange;
        if exchange.recall.load(SeqCst) || exchange.has_some() {
            (*own(w)).computes = true;
            return Status::Leave;
        }
    }
    Status::Done
}

/// Where tests want it, the scheduler often has control again after one process, and lends something then.
///
/// # Safety
/// `w` is the worker of this thread, runs a team, and is about to run one of its processes.
#[inline]
pub unsafe fn unrest(w: *mut Worker) {
    // SAFETY: as this demands.
    unsafe {
        // A process that is interrupted again and again would never get on.
        if shared(w).is_restless && (*team(w)).watches.below(16) != 0 {
            want_attention(w);
        }
    }
}

/// What the ticker does besides, and when it comes again.
pub fn tick(shared: &Shared) -> u64 {
    let exchange = &shared.exchange;
    if exchange.has_some() || exchange.hosts.load(Relaxed) != 0 {
        (1..shared.workers.len()).for_each(|worker| shared.demand_attention(worker, TICK));
    }
    let short = exchange.idle.load(Relaxed) != 0 && !exchange.communicates.load(Relaxed);
    if short { SHORT_TICK_NANOSECONDS } else { TICK_NANOSECONDS }
}

/// A tick has come to the home's scheduler.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn ticked(w: *mut Worker) {
    // SAFETY: the home's data belong to its worker.
    let (parallel, exchange, switches) =
        unsafe { (&mut (*home(w)).parallel, &shared(w).exchange, (*w).switches) };
    if parallel.workers != 0 {
        let communicates = switches - parallel.switches > 16 * FEW_SWITCHES;
        parallel.switches = switches;
        parallel.ticks += 1;
        // SAFETY: `w` is the home worker, whose scheduler has control.
        unsafe {
            choosing::lend_some(w);
            exchange.communicates.store(communicates && !(*home(w)).lending.is_promising(), Relaxed);
        }
    }
}

/// A process at home was preempted: if it computes, it goes to those that do, else to those that are ready.
///
/// # Safety
/// `p` runs on `w`, the home worker, and leaves next.
pub unsafe fn preempt_home(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` has run, so it stands in no queue; the home's data belong to its worker.
    unsafe {
        let parallel = &mut (*home(w)).parallel;
        let may_go = parallel.workers != 0 && !parallel.recalling && (*p).lock & LOCK_TESTS == 0;
        if may_go && computes(&*w, parallel, &*p) && is_tried(parallel.ticks, &*p) {
            if (*p).lock == LOCK_NONE {
                (*team(w)).learn(body_of(p), 1);
            }
            parallel.keep(p);
        } else {
            ready(w, p);
        }
        (*p).status = PREEMPTED;
    }
}

/// Whether a process that is preempted has not waited since it was before, or had the slice nearly for itself.
fn computes(home: &Worker, parallel: &Parallel, p: &Process) -> bool {
    p.status == PREEMPTED || home.switches - parallel.switches <= FEW_SWITCHES
}

fn is_tried(ticks: u64, p: &Process) -> bool {
    ticks & ((1 << penalty(p)) - 1) == 0
}

fn penalty(p: &Process) -> u32 {
    (p.score & PENALTY_BITS) >> PENALTY_SHIFT
}

/// The process that the home runs next, null if there is none. Offers those that compute to other workers.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control.
pub unsafe fn next(w: *mut Worker, ticked: bool) -> *mut Process {
    // SAFETY: `w` is the home worker, whose scheduler has control.
    unsafe {
        if (*home(w)).parallel.workers == 0 {
            return take_ready(w);
        }
        offer(w);
        if shared(w).is_restless {
            choosing::lend_any(w);
        }
        // In every second slice one that computes goes first.
        if ticked && (*home(w)).parallel.ticks & 1 != 0 {
            let p = take_back(w);
            if !p.is_null() {
                return goes_first(w, p);
            }
        }
        let p = take_ready(w);
        if !p.is_null() {
            return p;
        }
        let p = (*home(w)).parallel.candidates.pop();
        if !p.is_null() {
            return p;
        }
        match shared(w).exchange.take() {
            Some(Item::Process(p)) => {
                have_back(w, p);
                goes_first(w, p)
            }
            Some(Item::Team(team)) => {
                // No worker has taken it yet, so it has it nowhere better.
                teams::welcome(w, team);
                want_attention(w);
                null_mut()
            }
            None => null_mut(),
        }
    }
}

/// The first that is ready, or null.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn take_ready(w: *mut Worker) -> *mut Process {
    // SAFETY: a ready process is live.
    unsafe {
        let p = (*w).ready_head;
        if !p.is_null() {
            (*w).ready_head = (*p).next;
        }
        p
    }
}

/// The first of the processes in the exchange, or null.
///
/// # Safety
/// `w` is the home worker.
unsafe fn take_back(w: *mut Worker) -> *mut Process {
    // SAFETY: a process that the home takes out of the exchange is its own.
    unsafe {
        let p = shared(w).exchange.take_process();
        if !p.is_null() {
            have_back(w, p);
        }
        p
    }
}

/// The home has taken a process out of the exchange.
///
/// # Safety
/// `w` is the home worker, and has just taken `p`.
unsafe fn have_back(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` is the home's own.
    unsafe {
        (*home(w)).parallel.travelling.remove(&p);
        came_back(w);
    }
}

/// A process that was away goes on at home, when what has come home with it or before it has been received: what it has
/// written, and answers. Gives null.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; `p` stands in no queue.
unsafe fn goes_first(w: *mut Worker, p: *mut Process) -> *mut Process {
    // SAFETY: as this demands.
    unsafe {
        ready_first(w, p);
        (*p).status = PREEMPTED;
        want_attention(w);
    }
    null_mut()
}

/// Puts processes that compute into the exchange.
///
/// # Safety
/// `w` is the home worker.
unsafe fn offer(w: *mut Worker) {
    // SAFETY: candidates are live, and the home's own until they are put.
    unsafe {
        let parallel = &mut (*home(w)).parallel;
        let shared = shared(w);
        let first = parallel.candidates.head();
        if first.is_null() || parallel.recalling {
            return;
        }
        // One that is alone gains nothing by going.
        if (*first).next.is_null() && (*w).ready_head.is_null() && !shared.exchange.has_some() {
            return;
        }
        loop {
            let p = parallel.candidates.pop();
            if p.is_null() {
                return;
            }
            (*p).status = AWAY;
            parallel.travelling.insert(p);
            parallel.departures += 1;
            goes(w);
            shared.exchange.put(Item::Process(p));
            shared.wake_one();
        }
    }
}

/// Receives what was posted home.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn come_home(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    let exchange = unsafe { &shared(w).exchange };
    if exchange.has_recalled.swap(false, SeqCst) {
        while let Some(team) = exchange.take_recalled() {
            // SAFETY: `w` is the home worker, and the team its own again.
            unsafe { teams::welcome(w, team) };
        }
    }
    let inbox = &exchange.inbox;
    if inbox.load(Relaxed).is_null() {
        return;
    }
    let mut post = inbox.swap(null_mut(), SeqCst);
    let mut posts = Vec::new();
    while !post.is_null() {
        // SAFETY: posts are boxes, and whoever takes them out of the inbox has them.
        let received = unsafe { Box::from_raw(post) };
        post = received.next;
        posts.push(received);
    }
    for post in posts.into_iter().rev() {
        let Post { process, team, computes, failures, halted, nanoseconds, output, .. } = *post;
        // SAFETY: a posted process belongs to the home again.
        unsafe {
            if !output.is_empty() {
                output::receive(w, output);
            }
            if let Some(team) = team {
                teams::welcome(w, team);
                (*ground(w)).halted = (*ground(w)).halted.or(halted);
                (*ground(w)).failures.extend(failures);
                continue;
            }
            let Some(p) = process else { continue };
            (*home(w)).parallel.travelling.remove(&p);
            came_back(w);
            (*p).status = READY;
            if halted.is_some() || !failures.is_empty() {
                (*p).status = FAILED;
                (*ground(w)).halted = (*ground(w)).halted.or(halted);
                (*ground(w)).failures.extend(failures);
            } else {
                welcome(w, p, computes, nanoseconds);
            }
        }
    }
}

/// Learns from how long a process was away, and lets it go on.
///
/// # Safety
/// `w` is the home worker; `p` is live, and has just come home.
unsafe fn welcome(w: *mut Worker, p: *mut Process, computes: bool, nanoseconds: u64) {
    // SAFETY: the process stands in no queue.
    unsafe {
        let parallel = &mut (*home(w)).parallel;
        let gained = computes || nanoseconds >= GAIN_NANOSECONDS || (*p).score & GAINED != 0;
        let penalty = if gained { 0 } else { (penalty(&*p) + 1).min(MOST_PENALTY) };
        (*p).score = (*p).score & !(PENALTY_BITS | GAINED) | penalty << PENALTY_SHIFT;
        (*team(w)).learn(body_of(p), if gained { 1 } else { -2 });
        if computes && !parallel.recalling {
            parallel.keep(p);
        } else {
            ready(w, p);
        }
    }
}

/// Asks all processes that are away to come home; they do so within their next loop or call.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control.
pub unsafe fn recall(w: *mut Worker) {
    // SAFETY: the home's data belong to its worker; a process that it takes back stands in no queue.
    unsafe {
        if (*home(w)).parallel.recalling {
            return;
        }
        let shared = shared(w);
        (*home(w)).parallel.recalling = true;
        shared.exchange.recall.store(true, SeqCst);
        loop {
            let p = take_back(w);
            if p.is_null() {
                break;
            }
            ready(w, p);
        }
        teams::recall_all(w);
        (1..shared.workers.len()).for_each(|worker| shared.demand_attention(worker, OTHER));
    }
}

/// All have come home: they may go again.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn release(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    let (parallel, exchange) = unsafe { (&mut (*home(w)).parallel, &shared(w).exchange) };
    if take(&mut parallel.recalling) {
        exchange.recall.store(false, SeqCst);
    }
}

/// Gets all processes home, at the program's end.
///
/// # Safety
/// As for [`recall`].
pub unsafe fn recall_all(w: *mut Worker) {
    // SAFETY: as for `recall`; the platform outlives the program.
    unsafe {
        if (*home(w)).parallel.away == 0 {
            return;
        }
        recall(w);
        let platform = (*home(w)).platform;
        while (*home(w)).parallel.away != 0 {
            come_home(w);
            if (*home(w)).parallel.away != 0 {
                // Nobody notifies for sure while the home isn't idle: a short wait.
                (*platform).wait(Some(SHORT_TICK_NANOSECONDS), &mut |_| {});
            }
        }
    }
}

/// The other workers' threads end.
pub fn stop_workers(shared: &Shared) {
    (1..shared.workers.len()).for_each(|worker| shared.threads.unpark(worker));
}
