//! Waiting for the first of several things: messages and ends of communications, conditions, a time limit.
//!
//! If several are ready, chance decides, so that nothing is starved. Otherwise the process watches all of them. When
//! something happens at one, it watches none any more, and tries again.

use alloc::vec::Vec;

use drystone_component::{Interface, Side};

use super::connection::{
    ds_reach, ds_reach_held, is_open, leads_away, leads_away_held, resolve, resolve_held,
};
use super::receiving::{FINISH, LEAVE, TRUE, answer};
use super::{Act, violation, watching};
use crate::failure::stop;
use crate::home::team;
use crate::home::watches::{Place, Watch};
use crate::instance::body_of;
use crate::layout::*;
use crate::time::{ds_alarm, ds_is_past};
use crate::visiting::leave_for;

/// What is known of a source.
enum State {
    Ready,
    /// Something may happen there.
    Open(Place),
    /// A condition that doesn't hold.
    False,
    /// A message has come that is for another source, or for none.
    Other(*mut Communication),
    /// Nothing comes any more.
    Over(*mut Communication),
    /// The process leaves: it has failed, or waits.
    Leaves,
}

/// Which of these sources is ready: its index; their number if none is, and the deadline has come; one more than that
/// if the process awaits a condition, and watches the others from now on; -1: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker; the sources are as [`Source`] says, slots and components of its component's, and
/// nobody else uses them. If it `awaits`, it has the lock, and gives that up next, until a condition holds or
/// [`ds_news`] is true.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_select(
    w: *mut Worker,
    p: *mut Process,
    sources: *mut Source,
    count: u32,
    deadline: i64,
    awaits: u32,
    location: u32,
) -> i64 {
    // SAFETY: `p` runs, so that it leaves where this says so; references into the home's data end with each statement.
    unsafe {
        watching::forget(w, p);
        let sources = core::slice::from_raw_parts(sources, count as usize);
        let (mut ready, mut chosen) = (0, 0);
        let mut places = Vec::new();
        let (mut other, mut over) = (None, None);
        for (index, source) in sources.iter().enumerate() {
            match look(w, p, source, location) {
                State::Ready => {
                    ready += 1;
                    if (*team(w)).watches.below(ready) == 0 {
                        chosen = index;
                    }
                }
                State::Open(place) => places.push(place),
                State::False => {}
                State::Other(c) => other = other.or(Some((source, c))),
                State::Over(c) => over = over.or(Some((source, c))),
                State::Leaves => return -1,
            }
        }
        if ready != 0 {
            return chosen as i64;
        }
        let may_wait = !places.is_empty() || deadline != NEVER || awaits != 0;
        if let Some((source, c)) = other.or(over.filter(|_| !may_wait)) {
            nothing_comes(w, p, source, c, location);
            return -1;
        }
        if deadline != NEVER && ds_is_past(w, deadline) != 0 {
            return i64::from(count);
        }
        let alarm = (deadline != NEVER).then(|| (deadline, ds_alarm(w, p, deadline)));
        watching::begin(w, p, Watch { places, alarm });
        if awaits != 0 {
            return i64::from(count) + 1;
        }
        (*p).status = SELECTS;
        -1
    }
}

/// Whether a process that awaits a condition has watched, and something has happened since.
///
/// # Safety
/// At home; `p` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_news(w: *mut Worker, p: *mut Process) -> u32 {
    // SAFETY: at home.
    u32::from(unsafe { !(*team(w)).watches.has(p) })
}

/// # Safety
/// As for [`ds_select`].
unsafe fn look(w: *mut Worker, p: *mut Process, source: &Source, location: u32) -> State {
    // SAFETY: slots are linked, and communications that they reach are live; so are interfaces.
    unsafe {
        let interface: &Interface = &*source.interface;
        let unconnected = State::Open(Place::Connections((*p).instance));
        let (c, side) = match source.way {
            SOURCE_SERVICE => (p.cast(), Side::Server),
            SOURCE_REQUIRED => {
                let slot = core::ptr::with_exposed_provenance_mut::<RequiredSlot>(source.at);
                if (*slot).communication.is_null() {
                    if leads_away(w, p, slot, (*slot).target) {
                        return State::Leaves;
                    }
                    if !is_open(resolve((*slot).target)) {
                        return unconnected;
                    }
                }
                (ds_reach(w, p, slot, interface, location), Side::Client)
            }
            SOURCE_HELD => {
                let slot = core::ptr::with_exposed_provenance_mut::<OfferedSlot>(source.at);
                let instance = source.instance;
                let is_dead = (*instance).live & DEAD != 0;
                if (*slot).holder.is_null() && !is_dead {
                    if leads_away_held(w, p, instance, slot) {
                        return State::Leaves;
                    }
                    if !is_open(resolve_held(instance, slot)) {
                        return unconnected;
                    }
                }
                (ds_reach_held(w, p, instance, slot, interface, location), Side::Client)
            }
            _ => return if source.at != 0 { State::Ready } else { State::False },
        };
        if c.is_null() {
            return State::Leaves;
        }
        let word = (*c).word;
        if word.flags & APART != 0 {
            leave_for(w, p, c);
            return State::Leaves;
        }
        let is_ready = match source.pattern {
            ANYTHING => answer(word, side, FINISH) != LEAVE,
            pattern => answer(word, side, pattern) == TRUE,
        };
        match () {
            () if is_ready => State::Ready,
            () if word.holds_for(side) => State::Other(c),
            () if word.is_closed_for(side) => State::Over(c),
            () => State::Open(Place::Communication(c)),
        }
    }
}

/// None of the sources can be ready any more: the process ends like one that receives.
///
/// # Safety
/// `p` runs on `w`, the home worker, and leaves; `c` is live, and `source` is about it.
#[cold]
unsafe fn nothing_comes(
    w: *mut Worker,
    p: *mut Process,
    source: &Source,
    c: *mut Communication,
    location: u32,
) {
    // SAFETY: `p` leaves; interfaces live for ever.
    unsafe {
        let word = (*c).word;
        let is_left = p == c.cast() && word.flags & (GONE | ENDING) == GONE && !word.holds_for(Side::Server);
        if is_left && body_of(p).native.is_null() {
            return stop(w, p);
        }
        let interface: &Interface = &*source.interface;
        violation(w, p, c, interface, Act::Receive(source.pattern.max(0) as u32), location);
    }
}
