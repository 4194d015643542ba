//! What a process does that comes to something at another worker.
//!
//! A component that is lent is marked, and so is each communication between it and the outside. Whoever comes to one of
//! these waits until both sides are at home, and tries again: at home it *visits* the team, which is recalled; in the
//! team it has the team go home.

use core::ptr::null_mut;
use core::sync::atomic::Ordering::SeqCst;

use crate::home::lending::Lent;
use crate::home::team::Answer;
use crate::home::{home, is_home, shared, team};
use crate::instance::is_around;
use crate::layout::*;
use crate::queue::ready_first;
use crate::worker::want_attention;

/// A team that has run so long may as well run until the next tick.
const LONG_NANOSECONDS: u64 = 500_000;

/// A process at home has to wait for a team that is lent with this component, which is recalled.
///
/// # Safety
/// `w` is the home worker; `p` runs on it, and leaves.
#[cold]
pub unsafe fn visit(w: *mut Worker, p: *mut Process, root: *mut Instance) {
    // SAFETY: as this demands.
    unsafe {
        wait_at(w, p, root);
        recall(w, root);
    }
}

/// A process waits until a team is at home.
///
/// # Safety
/// As for [`visit`].
unsafe fn wait_at(w: *mut Worker, p: *mut Process, root: *mut Instance) {
    // SAFETY: `p` runs, so it stands in no queue; the home's data are this thread's.
    unsafe {
        let Some(lent) = (*home(w)).lending.lent.get_mut(&root) else { return ready_first(w, p) };
        lent.visitors.push(p);
        (*p).status = VISITS;
    }
}

/// The component with which a communication was lent that is marked; null if there is none.
///
/// # Safety
/// `w` is the home worker.
unsafe fn root_at(w: *mut Worker, c: *mut Communication) -> *mut Instance {
    // SAFETY: the home's data are this thread's.
    let root = unsafe { (*home(w)).lending.crossings.get(&c).copied() };
    debug_assert!(root.is_some(), "what is marked was lent with something");
    root.unwrap_or(null_mut())
}

/// A process can't go on with a communication whose other side is at another worker.
///
/// # Safety
/// `p` runs on `w`, is a side of `c`, which is marked, and leaves.
#[cold]
pub unsafe fn leave_for(w: *mut Worker, p: *mut Process, c: *mut Communication) {
    // SAFETY: `p` runs on `w`.
    unsafe {
        match is_home(w) {
            true => visit(w, p, root_at(w, c)),
            false => go_home(w, p),
        }
    }
}

/// The same for a process that waits for what the other side does next. At home there is no hurry, because the team
/// comes there by itself when it has done something about the communication.
///
/// # Safety
/// As for [`leave_for`].
#[cold]
pub unsafe fn wait_for(w: *mut Worker, p: *mut Process, c: *mut Communication) {
    // SAFETY: `p` runs on `w`.
    unsafe {
        match is_home(w) {
            true => wait_at(w, p, root_at(w, c)),
            false => go_home(w, p),
        }
    }
}

/// All workers look whether their teams are recalled; the home looks whether some stand in the exchange.
///
/// # Safety
/// `w` is the home worker.
unsafe fn tell(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    unsafe {
        let shared = shared(w);
        shared.exchange.has_recalled.store(true, SeqCst);
        (1..shared.workers.len()).for_each(|worker| shared.demand_attention(worker, OTHER));
        want_attention(w);
    }
}

/// Recalls a team.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn recall(w: *mut Worker, root: *mut Instance) {
    // SAFETY: `w` is the home worker.
    unsafe {
        if (*home(w)).lending.lent.get(&root).is_some_and(|lent| lent.order.recall()) {
            tell(w);
        }
    }
}

/// A process of a lent team has come to something outside: the team goes home, where the process tries again.
///
/// # Safety
/// `w` runs a lent team; `p` runs on it, and leaves.
#[cold]
pub unsafe fn go_home(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` runs, so it stands in no queue.
    unsafe {
        ready_first(w, p);
        want_home(w);
    }
}

/// A service of a lent team has answered a client outside. The team goes home; not at once if it has run for long,
/// because then there may be more to do before that, such as to end what the answer was made with.
///
/// # Safety
/// `w` runs a lent team.
#[cold]
pub unsafe fn answer(w: *mut Worker, answer: Answer) {
    // SAFETY: the team is this worker's.
    unsafe {
        let lent = (*team(w)).lent.as_mut().expect("at home, nobody answers whose client is lent");
        lent.answers.push(answer);
        if shared(w).threads.clock() - lent.since >= LONG_NANOSECONDS {
            lent.goes_home_soon = true;
        } else {
            want_home(w);
        }
    }
}

/// A lent team goes home as soon as its worker's scheduler has control.
///
/// # Safety
/// `w` runs a lent team.
#[cold]
pub unsafe fn want_home(w: *mut Worker) {
    // SAFETY: the team is this worker's.
    unsafe {
        if let Some(lent) = &mut (*team(w)).lent {
            lent.wants_home = true;
        }
        want_attention(w);
    }
}

/// A process is about to do what can be done at home only; `true`: it leaves, and does it there.
///
/// # Safety
/// `p` runs on `w`, at a suspension point, and leaves if this says so.
#[inline]
pub unsafe fn must_be_home(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: `p` runs on `w`.
    unsafe {
        let is_away = !is_home(w);
        if is_away {
            go_home(w, p);
        }
        is_away
    }
}

/// The same for what any lent team may get in the way of.
///
/// # Safety
/// As for [`must_be_home`].
pub unsafe fn must_have_all(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: `p` runs on `w`; at home, the home's data are this thread's.
    unsafe {
        if must_be_home(w, p) {
            return true;
        }
        let root = (*home(w)).lending.lent.keys().next().copied();
        if let Some(root) = root {
            visit(w, p, root);
        }
        root.is_some()
    }
}

/// A team at another worker that is lent with a part of this component, or with something that is connected to a part
/// of it; null if there is none, or in a team: what ends or moves there has to do with no other.
///
/// # Safety
/// `w` is the worker of this thread; `instance` is null, or its block is there.
#[inline]
unsafe fn team_in_the_way(w: *mut Worker, instance: *mut Instance) -> *mut Instance {
    // SAFETY: as this demands.
    unsafe {
        match (*team(w)).is_apart && !instance.is_null() && is_home(w) {
            true => team_at(w, instance),
            false => null_mut(),
        }
    }
}

/// # Safety
/// `w` is the home worker; the block of `instance` is there.
#[cold]
unsafe fn team_at(w: *mut Worker, instance: *mut Instance) -> *mut Instance {
    // SAFETY: lent components are live, and so are those around them: before one of them ends, this is asked.
    unsafe {
        let is_concerned = |root, lent: &Lent| {
            is_around(instance, root) || lent.around.iter().any(|&other| is_around(instance, other))
        };
        let mut lent = (*home(w)).lending.lent.iter();
        lent.find(|&(&root, lent)| is_concerned(root, lent)).map_or(null_mut(), |(&root, _)| root)
    }
}

/// Whether a component can't end now, because a team is lent that has to do with it. The team is recalled.
///
/// # Safety
/// `w` is the worker of this thread; the block of `instance` is there.
#[inline]
pub unsafe fn is_held_up(w: *mut Worker, instance: *mut Instance) -> bool {
    // SAFETY: as this demands.
    unsafe {
        let root = team_in_the_way(w, instance);
        if !root.is_null() {
            recall(w, root);
        }
        !root.is_null()
    }
}

/// The same, for a process that wants a component to end or to move: it leaves if this says so.
///
/// # Safety
/// `p` runs on `w`, at a suspension point; `instance` is null, or its block is there.
#[inline]
pub unsafe fn visits(w: *mut Worker, p: *mut Process, instance: *mut Instance) -> bool {
    // SAFETY: as this demands.
    unsafe {
        let root = team_in_the_way(w, instance);
        if !root.is_null() {
            visit(w, p, root);
        }
        !root.is_null()
    }
}

/// A service at home has run to its end, whose client is lent: it ends when that is back.
///
/// # Safety
/// `w` is the home worker; `p` has run to its end, and its communication is marked.
pub unsafe fn end_later(w: *mut Worker, p: *mut Process, location: u32) {
    // SAFETY: the home's data are this thread's.
    unsafe {
        let root = root_at(w, p.cast());
        if let Some(lent) = (*home(w)).lending.lent.get_mut(&root) {
            lent.finished.push((p, location));
            recall(w, root);
        }
    }
}
