//! The scheduler: runs ready processes until the program has ended, and handles everything that wants attention.
//!
//! Generated code goes from one ready process to the next by itself. It comes back here when none is left or when
//! [`Worker::attention`] is set: at the end of a time slice, after a run-time error, when a process comes home.
//!
//! # Why this is sound
//! [`run`] owns the home's data, and gives them back when no other thread and no process runs any more. A program's
//! description is as the compiler or a test has made it.
//!
//! # Safety of this module
//! *In control*: `w` is the home worker, whose scheduler has control.

mod attending;
mod halt;
mod hosting;
mod returning;
mod within;

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32};

use drystone_component::{Program, Template};

use self::attending::{attend, tick, wait, wake_due};
use self::returning::come_home;
use crate::communication::connection::ds_connect;
use crate::far::Guest;
use crate::fault;
use crate::heap::{Heap, Memory};
use crate::home::exchange::Exchange;
use crate::home::{Home, Shared, WorkerData, home, is_home, team};
use crate::instance::slots::{ds_find_required, find_offered};
use crate::instance::{delete_detached, template_of};
use crate::layout::*;
use crate::life::{self, occasions};
use crate::near::guest;
use crate::output;
use crate::parallel;
use crate::platform::Platform;
use crate::process::enter;
use crate::worker::{Ground, ground};

/// How a program shall run.
pub struct Options<'a> {
    /// Processors to use, at least 1.
    pub cores: usize,
    /// Bytes of memory at most.
    pub memory_limit: usize,
    /// The seed of `RANDOM`.
    pub seed: u64,
    /// For tests: lends components all the time, whatever that costs.
    pub is_restless: bool,
    /// Native components, found by the names of the interfaces that they offer.
    pub system: &'a mut dyn FnMut(*mut Worker, &str) -> Option<*mut Instance>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 0, 1 after a run-time error, or as `HALT` says.
    pub status: i64,
    /// Processes made.
    pub processes: u64,
    /// Processes that were alive at the end.
    pub live_processes: u64,
    /// Messages sent.
    pub messages: u64,
    /// Processes dispatched.
    pub switches: u64,
    /// Processes that ran on another worker, alone.
    pub away: u64,
    /// Components that ran on another worker, with all that was in them.
    pub lent: u64,
    /// Most bytes ever in use.
    pub peak_bytes: usize,
    /// Bytes in use at the end.
    pub live_bytes: usize,
}

/// A worker without processes.
pub fn new_worker(away: u32) -> UnsafeCell<Worker> {
    UnsafeCell::new(Worker {
        ready_head: null_mut(),
        ready_tail: null_mut(),
        attention: AtomicU32::new(0),
        away,
        result: 0,
        switches: 0,
        messages: 0,
        answer: 0,
        own: null_mut(),
    })
}

/// Runs a program to its end.
pub fn run(program: &'static Program, platform: &mut dyn Platform, options: Options) -> Outcome {
    run_with(program, platform, options, None)
}

/// Runs a component of a program for another program, as `guest` says.
pub fn run_guest(
    program: &'static Program,
    guest: Guest,
    platform: &mut dyn Platform,
    options: Options,
) -> Outcome {
    run_with(program, platform, options, Some(guest))
}

fn run_with(
    program: &'static Program,
    platform: &mut dyn Platform,
    options: Options,
    guest: Option<Guest>,
) -> Outcome {
    let threads = platform.threads();
    let cores = options.cores.clamp(1, parallel::MOST_WORKERS);
    let memory = Memory::new(options.memory_limit, Some(threads));
    let shared = Arc::new(Shared {
        threads,
        workers: (0..cores).map(|i| new_worker((i != 0) as u32)).collect(),
        // SAFETY: a program's templates are there as long as it is.
        is_virtual: unsafe { (*entry_of(program, &guest)).virtual_time },
        virtual_time: AtomicI64::new(0),
        exchange: Exchange::new(cores - 1),
        start: threads.clock(),
        idle: AtomicBool::new(false),
        ticker_sleeps: AtomicBool::new(false),
        is_restless: options.is_restless && cores > 1,
        alarms: AtomicI64::new(0),
        stop: AtomicBool::new(false),
    });
    let asked = shared.clone();
    platform.attend(Box::new(move || asked.demand_attention(0, LOOK)));
    // SAFETY: the platform outlives all that is done here.
    let platform = unsafe { transmute::<*mut (dyn Platform + '_), *mut (dyn Platform + 'static)>(platform) };
    let home = Box::into_raw(Box::new(Home::new(program, platform, guest)));
    let mut ground = Ground::new(Heap::new(memory.clone()));
    ground.let_others_run = Some(within::let_others_run);
    let own = Box::into_raw(Box::new(WorkerData {
        ground,
        home,
        team: Box::into_raw(Box::default()),
        shared: shared.clone(),
        output: Vec::new(),
        random: options.seed,
        writes: false,
        computes: false,
    }));
    let w = shared.workers[0].get();
    // SAFETY: from here on `w` is the home worker, on this thread, until its data are given back. By then `serve` has
    // ended, and other workers have no process.
    unsafe {
        (*w).own = own.cast();
        let status = if start(w, options.system) {
            let ticking = shared.clone();
            threads.start_ticker(Box::new(move || tick(&ticking)));
            parallel::start_workers(w, program, &memory, hosting::host);
            let status = serve(w);
            guest::gone(w);
            parallel::recall_all(w);
            shared.stop.store(true, SeqCst);
            threads.wake_ticker();
            parallel::stop_workers(&shared);
            status
        } else {
            1
        };
        output::finish(w);
        let outcome = Outcome {
            status,
            processes: (*(*own).team).census.created,
            live_processes: (*(*own).team).census.live as u64,
            messages: (*w).messages,
            switches: (*w).switches,
            away: (*home).parallel.departures,
            lent: (*home).lending.departures,
            peak_bytes: memory.peak(),
            live_bytes: (*own).ground.heap.live(),
        };
        (*home).runs.set(false);
        drop(Box::from_raw((*own).team));
        drop(Box::from_raw(own));
        drop(Box::from_raw(home));
        outcome
    }
}

/// What runs first: the program's entry, or the guest.
fn entry_of(program: &Program, guest: &Option<Guest>) -> *const Template {
    guest.as_ref().map_or(program.entry, |guest| guest.template)
}

/// Makes the entry and connects it to the system, or its host; `false` after a message.
///
/// # Safety
/// *In control*, of a program that has not started yet.
unsafe fn start(w: *mut Worker, system: &mut dyn FnMut(*mut Worker, &str) -> Option<*mut Instance>) -> bool {
    // SAFETY: *in control*; templates and interfaces are there as long as the program, and nothing fails that would
    // need a process.
    unsafe {
        let template = entry_of((*home(w)).program, &(*home(w)).roots.guest);
        let entry = life::make(w, &*template, 0);
        if entry.is_null() {
            return fault::report_no_memory(w);
        }
        (*home(w)).roots.entry = entry;
        if let Some(guest) = &mut (*home(w)).roots.guest {
            let made = guest::receive(w, guest, entry).is_some() && life::start(w, entry);
            return made || fault::report_no_memory(w);
        }
        for (_, required) in (*template).declared() {
            let name = (*required.interface).name.get();
            let known = (*home(w)).roots.system.iter().copied().find(|&s| offers(s, name));
            let Some(server) = known.or_else(|| system(w, name)) else {
                return fault::report_start(w, &format!("the system does not offer {name}"));
            };
            if known.is_none() {
                (*home(w)).roots.system.push(server);
            }
            let offered = find_offered(server, required.interface);
            if offered.is_null() {
                return fault::report_start(
                    w,
                    &format!("{name}: the program declares it otherwise than the system"),
                );
            }
            let slot = ds_find_required(w, null_mut(), entry, required.interface, 1, 0);
            ds_connect(w, null_mut(), slot, offered.expose_provenance(), 0);
        }
        if !life::start(w, entry) {
            return fault::report_no_memory(w);
        }
        occasions::delete_entry(w, entry);
    }
    true
}

/// Whether a component offers an interface of this name.
///
/// # Safety
/// `instance` is live; on the home worker's thread.
unsafe fn offers(instance: *mut Instance, name: &str) -> bool {
    // SAFETY: `instance` is live; on the home worker's thread.
    unsafe { (*template_of(instance)).offered.get().iter().any(|o| (*o.interface).name.get() == name) }
}

/// Runs processes until the program has ended; its status.
///
/// # Safety
/// *In control.*
unsafe fn serve(w: *mut Worker) -> i64 {
    loop {
        // SAFETY: *in control*; the next process is live and stands in no queue any more.
        unsafe {
            let mut attention = (*w).attention.swap(0, Acquire);
            if let Some(status) = (*ground(w)).halted {
                halt::settle(w);
                return status;
            }
            come_home(w);
            if !(*ground(w)).failures.is_empty() && !fault::handle(w) {
                return 1;
            }
            if !(*ground(w)).dropped.is_empty() {
                occasions::delete_dropped(w);
            }
            if is_over(w) {
                if (*home(w)).roots.system.is_empty() {
                    return 0;
                }
                // Its services still receive what the program sent last.
                for system in core::mem::take(&mut (*home(w)).roots.system) {
                    delete_detached(w, system);
                }
                continue;
            }
            if !(*team(w)).deletions.paused.is_empty() {
                occasions::go_on_paused(w);
                // That was its time slice; now processes have theirs.
                attention |= (*w).attention.fetch_and(!TICK, Acquire);
            }
            if output::has_more(w) {
                output::send(w);
                attention |= (*w).attention.fetch_and(!TICK, Acquire);
            }
            attend(w, attention);
            wake_due(w);
            let p = parallel::next(w, attention & TICK != 0);
            if !p.is_null() {
                let program = (*home(w)).program;
                parallel::unrest(w);
                enter(w, program, p);
            } else if (*w).attention.load(Relaxed) == 0
                && (*team(w)).deletions.paused.is_empty()
                // A deletion that had paused may have been the last.
                && !is_over(w)
                && !guest::look(w)
                && !wait(w)
            {
                return fault::report_deadlock(w);
            }
        }
    }
}

/// Whether the program's components are deleted, and nothing of its bindings is left.
///
/// # Safety
/// *In control.*
unsafe fn is_over(w: *mut Worker) -> bool {
    // SAFETY: *in control*.
    let (home, team, ground) = unsafe { (&*home(w), &*team(w), &*ground(w)) };
    home.roots.entry.is_null() && team.deletions.detached == 0 && ground.kept.is_empty()
}

/// The time slice is over.
///
/// # Safety
/// `p` runs on `w`, between two suspension points, and its way on is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_preempt(w: *mut Worker, p: *mut Process) -> Status {
    // SAFETY: `p` runs on `w`, between two suspension points, and its way on is set; without `away`, `w` is the home
    // worker.
    unsafe {
        if (*w).away != 0 {
            return parallel::preempt_away(w);
        }
        if !is_home(w) {
            hosting::preempt(w, p);
        } else if output::must_wait(w, p) {
            output::wait(w, p);
        } else {
            parallel::preempt_home(w, p);
        }
    }
    Status::Leave
}
