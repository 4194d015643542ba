//! Which components are lent: those whose processes are ready, so that other workers get their part of the work.
//!
//! Once in a tick, if a worker has nothing to do, the home looks which components its ready processes belong to, from
//! the outside in. Where there are several with such processes, about half of the work goes. Only experience tells who
//! talks to whom: a component that is back at once stays for twice as long as after the last time. So what talks much
//! is soon together again, and nothing goes to and fro.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem::replace;
use core::sync::atomic::Ordering::Relaxed;

use super::teams::{depart, examine};
use crate::home::lending::Known;
use crate::home::{home, shared, team};
use crate::instance::holder_of;
use crate::layout::*;
use crate::worker::ground;

/// Most steps from ready processes outwards in one look.
const MOST_STEPS: usize = 4096;
/// Lending takes at most one part in so many of the time.
const PART: u64 = 16;
/// After looks in vain it takes a 2nd, 4th, .. part of that; this is the last power of 2.
const MOST_VAIN: u32 = 4;

/// Lends components if a worker has nothing to do and the home has enough.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control.
pub unsafe fn lend_some(w: *mut Worker) {
    // SAFETY: `w` is the home worker, whose scheduler has control; components that hold ready processes are live.
    unsafe {
        let idle = shared(w).exchange.idle.load(Relaxed);
        if idle == 0 || (*w).ready_head.is_null() || !may_lend(w) {
            return;
        }
        let threads = shared(w).threads;
        let begin = threads.clock();
        if begin < (*home(w)).lending.rest {
            return;
        }
        let chosen = choose(w, idle);
        let candidates = chosen.into_iter().filter_map(|root| examine(w, root)).collect::<Vec<_>>();
        let gone = if candidates.is_empty() { 0 } else { depart(w, candidates) };
        let lending = &mut (*home(w)).lending;
        lending.vain = if gone == 0 { lending.vain.saturating_add(1) } else { 0 };
        let end = threads.clock();
        // The processor may have run another program meanwhile, but hardly twice. Looks in vain cost ever less.
        let cost = (end - begin).min(replace(&mut lending.cost, end - begin));
        lending.rest = end + (PART << lending.vain.min(MOST_VAIN)) * cost;
    }
}

/// For tests: lends any component that holds a ready process.
///
/// # Safety
/// As for [`lend_some`].
pub unsafe fn lend_any(w: *mut Worker) {
    // SAFETY: as for `lend_some`.
    unsafe {
        (*home(w)).lending.lately = Known::default();
        // What has just come home for something needs the time to do it.
        if (*team(w)).watches.below(4) != 0 || (*w).ready_head.is_null() || !may_lend(w) {
            return;
        }
        let around: Vec<_> = count(w).into_keys().filter(|&root| root != (*home(w)).roots.entry).collect();
        if !around.is_empty() {
            let chosen = around[(*team(w)).watches.below(around.len())];
            let candidates: Vec<_> = examine(w, chosen).into_iter().collect();
            depart(w, candidates);
        }
    }
}

/// Whether nothing is under way that concerns components which might be lent.
///
/// # Safety
/// As for [`lend_some`].
unsafe fn may_lend(w: *mut Worker) -> bool {
    // SAFETY: as for `lend_some`.
    unsafe {
        let (home, own, ground, shared) = (&*home(w), &*team(w), &*ground(w), shared(w));
        let is_quiet = ground.failures.is_empty() && ground.halted.is_none() && ground.dropped.is_empty();
        is_quiet
            && own.census.within == 0
            && own.communications.leaving.is_empty()
            && own.deletions.paused.is_empty()
            && home.outgoing.writers.is_empty()
            // When a name comes up, slots that wait for it are joined, wherever they are.
            && !home.names.are_awaited()
            && !home.parallel.recalling
            && !shared.is_virtual
            && !shared.exchange.has_some()
            && home.lending.lately.from <= home.parallel.ticks
    }
}

/// How many ready processes a component holds, and what holds it.
struct Count {
    ready: usize,
    holder: *mut Instance,
}

/// The components that shall go to `idle` workers: they hold their part of the ready processes, and none holds another
/// one.
///
/// # Safety
/// As for [`lend_some`].
unsafe fn choose(w: *mut Worker, idle: usize) -> Vec<*mut Instance> {
    // SAFETY: as for `lend_some`.
    unsafe {
        let counts = count(w);
        let entry = (*home(w)).roots.entry;
        let mut held: BTreeMap<*mut Instance, Vec<(usize, *mut Instance)>> = BTreeMap::new();
        for (&instance, count) in &counts {
            if !count.holder.is_null() {
                held.entry(count.holder).or_default().push((count.ready, instance));
            }
        }
        let mut around = entry;
        loop {
            let Some(total) = counts.get(&around).map(|count| count.ready) else { return Vec::new() };
            let Some(children) = held.get_mut(&around) else { return Vec::new() };
            children.sort_unstable_by_key(|&(ready, instance)| (Reverse(ready), instance));
            let (most, first) = children[0];
            if 4 * most <= 3 * total {
                return take_part(w, children, (total * idle).div_ceil(idle + 1));
            }
            around = first;
        }
    }
}

/// Takes components until they hold `wanted` ready processes.
///
/// # Safety
/// As for [`lend_some`].
unsafe fn take_part(
    w: *mut Worker,
    children: &[(usize, *mut Instance)],
    wanted: usize,
) -> Vec<*mut Instance> {
    // SAFETY: as for `lend_some`.
    let home = unsafe { &*home(w) };
    let may_go = |instance: &*mut Instance| {
        home.lending.known.get(instance).is_none_or(|known| known.from <= home.parallel.ticks)
    };
    let (mut chosen, mut sum) = (Vec::new(), 0);
    for (ready, instance) in children {
        if sum + ready <= wanted && chosen.len() < home.lending.trust.components() && may_go(instance) {
            sum += ready;
            chosen.push(*instance);
        }
    }
    chosen
}

/// Counts the ready processes that each component holds, at any depth, or of some of them if there are many.
///
/// # Safety
/// As for [`lend_some`].
unsafe fn count(w: *mut Worker) -> BTreeMap<*mut Instance, Count> {
    let mut counts = BTreeMap::new();
    let mut steps = 0;
    // SAFETY: ready processes are live, and so is what holds them.
    unsafe {
        let mut p = (*w).ready_head;
        while !p.is_null() && steps < MOST_STEPS {
            let mut instance = (*p).instance;
            while !instance.is_null() && steps < MOST_STEPS {
                let count = counts.entry(instance).or_insert(Count { ready: 0, holder: holder_of(instance) });
                count.ready += 1;
                instance = count.holder;
                steps += 1;
            }
            p = (*p).next;
        }
    }
    counts
}
