//! Another worker runs a lent team: as the home runs its own, but without anything that only the home has.
//!
//! # Why this is sound
//! A team belongs to the worker that took it out of the exchange, until that posts it home or puts it back. Nobody else
//! touches what is in it: see the home's `lending`.

use alloc::boxed::Box;
use core::mem::take;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, SeqCst};

use drystone_component::Program;

use super::attending::wake_due;
use crate::home::exchange::{Item, Post};
use crate::home::team::{LentTeam, Team};
use crate::home::{Shared, own, shared, team};
use crate::layout::*;
use crate::life::occasions;
use crate::output;
use crate::parallel::{self, take_ready};
use crate::process::enter;
use crate::queue::{Queue, ready};
use crate::worker::ground;

/// Why a worker gives a team up.
enum Parting {
    /// It is the turn of what waits in the exchange.
    Turn,
    /// The team goes home.
    Home,
}

/// Runs a team until it has to go home, or others want a turn.
///
/// # Safety
/// `w` is a worker of `program` but the home, on its thread, and has taken the team out of the exchange.
pub unsafe fn host(w: *mut Worker, shared: &Shared, program: &Program, mut team: Box<Team>) {
    // SAFETY: team and worker are this thread's; a worker that runs a team has no process that is away.
    unsafe {
        (*w).attention.store(0, SeqCst);
        if team.is_recalled() || shared.exchange.recall.load(SeqCst) {
            (*w).attention.store(OTHER, SeqCst);
        }
        let start = shared.threads.clock();
        let (messages, switches) = ((*w).messages, (*w).switches);
        let lent = lent_of(&mut team);
        lent.since = start;
        take(&mut lent.ready).into_ready(w);
        (*w).away = 0;
        (*own(w)).team = &raw mut *team;
        shared.exchange.hosts.fetch_add(1, SeqCst);
        let parting = serve(w, program);
        shared.exchange.hosts.fetch_sub(1, SeqCst);
        (*own(w)).team = null_mut();
        (*w).away = 1;
        let lent = lent_of(&mut team);
        lent.ready = Queue::from_ready(w);
        lent.nanoseconds += shared.threads.clock() - start;
        lent.messages += (*w).messages - messages;
        lent.switches += (*w).switches - switches;
        if let Parting::Turn = parting {
            let order = lent.order.clone();
            shared.exchange.put(Item::Team(team));
            if order.is_recalled() {
                // The home may have looked for it before it stood there.
                shared.exchange.has_recalled.store(true, SeqCst);
                shared.call_home();
            }
            return;
        }
        let own = own(w);
        own.as_mut().expect("a worker has its part").writes = false;
        shared.exchange.post(Box::new(Post {
            team: Some(team),
            failures: take(&mut (*own).ground.failures),
            halted: (*own).ground.halted.take(),
            output: take(&mut (*own).output),
            ..Post::default()
        }));
    }
    shared.call_home();
}

fn lent_of(team: &mut Team) -> &mut LentTeam {
    team.lent.as_mut().expect("only a lent team comes into the exchange")
}

/// Runs the team's processes.
///
/// # Safety
/// `w` runs a lent team, and its scheduler has control.
unsafe fn serve(w: *mut Worker, program: &Program) -> Parting {
    loop {
        // SAFETY: the team is this thread's; the next process is live and stands in no queue any more.
        unsafe {
            let attention = (*w).attention.swap(0, Acquire);
            let has_ended = !(*ground(w)).failures.is_empty() || (*ground(w)).halted.is_some();
            if has_ended || wants_home(w) {
                return Parting::Home;
            }
            if attention & TICK != 0 {
                if !(*own(w)).output.is_empty() {
                    output::post(w);
                    if wants_home(w) {
                        return Parting::Home;
                    }
                }
                if (*team(w)).lent.as_ref().is_some_and(|lent| lent.goes_home_soon) {
                    return Parting::Home;
                }
                let exchange = &shared(w).exchange;
                if exchange.has_some() {
                    return Parting::Turn;
                }
            }
            if !(*team(w)).deletions.paused.is_empty() {
                occasions::go_on_paused(w);
                // That was its time slice; now processes have theirs.
                (*w).attention.fetch_and(!TICK, Acquire);
            }
            wake_due(w);
            let p = take_ready(w);
            if p.is_null() {
                if (*team(w)).deletions.paused.is_empty() {
                    return Parting::Home;
                }
                continue;
            }
            parallel::unrest(w);
            enter(w, program, p);
        }
    }
}

/// # Safety
/// As for [`serve`].
unsafe fn wants_home(w: *mut Worker) -> bool {
    // SAFETY: as for `serve`.
    unsafe {
        let lent = (*team(w)).lent.as_ref();
        (*own(w)).writes
            || shared(w).exchange.recall.load(SeqCst)
            || lent.is_none_or(|lent| lent.wants_home || lent.order.is_recalled())
    }
}

/// The time slice of a process of a lent team is over.
///
/// # Safety
/// `p` runs on `w`, which runs a lent team, and leaves next.
pub unsafe fn preempt(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` has run, so it stands in no queue.
    unsafe {
        ready(w, p);
        (*p).status = PREEMPTED;
    }
}
