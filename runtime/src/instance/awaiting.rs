//! Processes that await conditions (language reference, section 6), and which of them a release of the lock has to
//! test: the others' conditions are as false as they were, so they cost nothing.
//!
//! * A condition whose answer is the same for all processes of the component is tested once for all who await it.
//! * A condition is *due* if the release says that something may have been written that it depends on
//!   (`Condition::depends`).
//! * A condition that reads elements of collections says which when it is tested ([`ds_watch`]); whoever writes one of
//!   them ([`ds_wrote`]) *touches* those who watch it, and they alone are tested.
//!
//! Where a release is over before all were tested, because one has entered that wants the lock alone, the rest remain
//! due, or touched, until they are.
//!
//! A condition that may take long is not tested by whoever releases the lock, which nobody could interrupt: a process
//! that awaits one gets the lock to test it when it is its turn, like any code of its own, and the round stands still
//! meanwhile.
//!
//! # Why this is sound
//! Only live processes of the instance stand here, each once; whoever ends one takes it out. Conditions are tested by
//! the home worker while it holds no reference to what is here: they call [`ds_watch`].
#![allow(unsafe_op_in_unsafe_fn)]

mod own;
mod round;
mod tester;
mod watching;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use drystone_component::{Collection, Condition};

use self::own::{List, Number, Own, Owns};
pub use self::round::{Round, Turn};
use self::tester::Tester;
pub use self::tester::{Place, begin_test, end_test};
use super::{Rare, body_of, rare_if_any};
use crate::collection;
use crate::layout::*;
use crate::queue::Queue;

/// `Condition::test`: [`FALSE`], [`TRUE`], or something else: it has failed.
type Test = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// A condition is false.
const FALSE: u32 = 0;
/// A condition holds.
const TRUE: u32 = 1;
/// Only the process itself can test its condition.
const LONG: u32 = 3;

/// The elements that a condition reads, by their hashes; 0: none.
pub type Elements = [u64; WATCHED];

/// Processes that await conditions, in the order of their turns.
pub struct Awaiting {
    /// The only one, as long as there is no other: it stands in no group.
    sole: Option<Sole>,
    groups: Vec<Group>,
    /// How many there are.
    number: usize,
    turns: u64,
    /// Those whose conditions are not common.
    owns: Owns,
    /// Those who watch an element that was written since they were tested, by their turns.
    touched: BTreeMap<u64, Number>,
    /// What the condition reads that is being tested.
    read: Elements,
    /// Who tests its condition itself now.
    tester: Option<Tester>,
}

/// One who awaits a condition alone, as in most monitors, so that a release that hands it the lock needs no queues.
#[derive(Clone, Copy)]
struct Sole {
    /// Says of no element that it is read.
    condition: &'static Condition,
    process: *mut Process,
}

/// Processes that await the same condition.
struct Group {
    condition: &'static Condition,
    /// It has to be tested; if it is common, it has been: it was true, if it isn't `is_untested`.
    due: bool,
    /// It is common, and one who awaits it has to test it.
    is_untested: bool,
    /// Those who await it, if it is common; each keeps its turn.
    common: Queue,
    /// Those who await it, if it isn't.
    own: List,
    /// The first of them who has not had its turn in this round.
    next: Option<Number>,
}

/// Where a process that awaits, or is about to, keeps its condition.
unsafe fn condition_of(p: *mut Process) -> *mut &'static Condition {
    p.cast::<u8>().add(body_of(p).condition as usize).cast()
}

/// Where a process that awaits keeps its turn, or its number if what it awaits isn't common.
unsafe fn turn_of(p: *mut Process) -> *mut u64 {
    condition_of(p).cast()
}

unsafe fn test(condition: &Condition, w: *mut Worker, p: *mut Process) -> u32 {
    if condition.test.is_null() {
        return LONG;
    }
    core::mem::transmute::<*const u8, Test>(condition.test)(w, p)
}

impl Awaiting {
    /// Nobody.
    pub const fn new() -> Awaiting {
        Awaiting {
            sole: None,
            groups: Vec::new(),
            number: 0,
            turns: 0,
            owns: Owns::new(),
            touched: BTreeMap::new(),
            read: [0; WATCHED],
            tester: None,
        }
    }

    /// Whether nobody awaits anything.
    pub fn is_empty(&self) -> bool {
        self.number == 0
    }

    fn group_of(&mut self, condition: &'static Condition) -> usize {
        let same = |group: &Group| core::ptr::eq(group.condition, condition);
        self.groups.iter().position(same).unwrap_or_else(|| {
            let (common, own) = (Queue::EMPTY, List::EMPTY);
            let (due, is_untested, next) = (false, false, None);
            self.groups.push(Group { condition, due, is_untested, common, own, next });
            self.groups.len() - 1
        })
    }

    /// Takes out a process that is ended by force, if it is here.
    ///
    /// # Safety
    /// `p` is a live process of this component.
    pub unsafe fn remove(&mut self, p: *mut Process) {
        if self.sole.take_if(|sole| sole.process == p).is_some() {
            self.number = 0;
            return;
        }
        if body_of(p).condition == 0 {
            return;
        }
        let number = *turn_of(p) as Number;
        if self.owns.get(number).is_some_and(|own| own.process == p) {
            // A round may stand still.
            self.pass(number);
            self.leave(number);
            return;
        }
        for group in &mut self.groups {
            let number = &mut self.number;
            group.common.retain(|q| {
                *number -= usize::from(q == p);
                q != p
            });
        }
    }

    /// One who awaits a condition of its own does so no longer.
    fn leave(&mut self, number: Number) -> *mut Process {
        let Awaiting { owns, groups, touched, .. } = self;
        let group = owns.get(number).expect("it awaits").group;
        let own = owns.remove(&mut groups[group].own, number);
        touched.remove(&own.turn);
        self.number -= 1;
        if self.number == 0 {
            self.owns.forget_room();
        }
        own.process
    }

    fn process(&self, number: Number) -> *mut Process {
        self.owns.get(number).expect("it awaits").process
    }

    /// A round begins: those that are due get their turns.
    fn begin_round(&mut self) {
        for group in &mut self.groups {
            group.next = if group.due { group.own.first() } else { None };
        }
    }

    /// One has its turn; it comes not again in this round.
    fn pass(&mut self, number: Number) {
        let Awaiting { owns, groups, .. } = self;
        let group = owns.get(number).map(|own| &mut groups[own.group]);
        if let Some(group) = group.filter(|group| group.next == Some(number)) {
            group.next = owns.after(number);
        }
    }

    /// The first who may enter or has to be tested: its turn, and who.
    unsafe fn first(&self) -> Option<(u64, Next)> {
        let due = self.groups.iter().enumerate().filter(|(_, group)| group.due);
        let turns = due.filter_map(|(index, group)| match group.condition.common {
            true if group.common.is_empty() => None,
            true => Some((unsafe { *turn_of(group.common.head()) }, Next::Common(index))),
            false => group.next.and_then(|next| Some((self.owns.get(next)?.turn, Next::Own(next)))),
        });
        let touched = self.touched.first_key_value().map(|(&turn, &number)| (turn, Next::Own(number)));
        turns.chain(touched).min()
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// The first of a group.
    Common(usize),
    Own(Number),
}

/// A process awaits the condition that stands in its frame, which was false just now.
///
/// # Safety
/// `rare` is its component's, and it stands in no queue.
#[inline]
pub unsafe fn add(w: *mut Worker, rare: *mut Rare, p: *mut Process) {
    let condition = *condition_of(p);
    let awaiting = &mut (*rare).awaiting;
    if awaiting.number == 0 && !condition.watches {
        awaiting.sole = Some(Sole { condition, process: p });
        awaiting.number = 1;
        return;
    }
    if let Some(Sole { condition, process }) = awaiting.sole.take() {
        awaiting.number = 0;
        let place = add_to_group(w, rare, condition, process);
        if let Some(tester) = &mut (*rare).awaiting.tester {
            tester.moves(place);
        }
    }
    add_to_group(w, rare, condition, p);
}

#[inline(never)]
unsafe fn add_to_group(
    w: *mut Worker,
    rare: *mut Rare,
    condition: &'static Condition,
    p: *mut Process,
) -> Place {
    let awaiting = &mut (*rare).awaiting;
    let turn = awaiting.turns;
    awaiting.turns += 1;
    awaiting.number += 1;
    let index = awaiting.group_of(condition);
    if condition.common {
        *turn_of(p) = turn;
        // Who tests runs, and stands in no queue here.
        if !awaiting.tester.as_ref().is_some_and(|tester| tester.is(p)) {
            awaiting.groups[index].common.push(p);
        }
        return Place::Common(index);
    }
    let Awaiting { groups, owns, .. } = awaiting;
    let number = owns.add(&mut groups[index].own, p, turn, index);
    *turn_of(p) = u64::from(number);
    if condition.watches {
        test_own(w, rare, number);
    }
    Place::Own(number)
}

/// What a release of the lock finds who awaits something alone.
pub enum Alone {
    /// There is none, or it is not alone.
    None,
    /// Its condition is as false as it was, or it has failed.
    Stays,
    /// Its condition holds: it awaits it no longer.
    Enters(*mut Process),
    /// It has to test its condition itself.
    Tests(*mut Process),
}

/// Looks at who awaits something alone.
///
/// # Safety
/// As for [`Round::begin`].
#[inline]
pub unsafe fn alone(w: *mut Worker, rare: *mut Rare, written: u64) -> Alone {
    let Some(Sole { condition, process }) = (*rare).awaiting.sole else { return Alone::None };
    let answer = if condition.depends & written == 0 { FALSE } else { test(condition, w, process) };
    if answer == FALSE {
        return Alone::Stays;
    }
    if answer == LONG {
        return Alone::Tests(process);
    }
    (*rare).awaiting.sole = None;
    (*rare).awaiting.number = 0;
    // Else the scheduler will see to it.
    if answer == TRUE { Alone::Enters(process) } else { Alone::Stays }
}

/// Tests the condition of one who awaits; if it is still false, notes what it watches.
unsafe fn test_own(w: *mut Worker, rare: *mut Rare, number: Number) -> u32 {
    let awaiting = &mut (*rare).awaiting;
    // Another one may be testing its condition itself.
    let before = core::mem::replace(&mut awaiting.read, [0; WATCHED]);
    let Own { process, turn, group, .. } = *awaiting.owns.get(number).expect("it awaits");
    let condition = awaiting.groups[group].condition;
    let answer = test(condition, w, process);
    let awaiting = &mut (*rare).awaiting;
    let read = core::mem::replace(&mut awaiting.read, before);
    match answer {
        FALSE => {
            awaiting.touched.remove(&turn);
            awaiting.owns.watch(number, read);
        }
        TRUE => {}
        // Whoever has just come has not said what it watches: the next release has it test that again.
        LONG => _ = awaiting.touched.insert(turn, number),
        // It has failed: the scheduler will see to it.
        _ => drop(awaiting.leave(number)),
    }
    answer
}

/// The condition that is being tested reads an element.
///
/// # Safety
/// Called by the condition of `p`, which somebody awaits; the rest as for `ds_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_watch(
    _w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) {
    let element = element(cell, collection, keys);
    let read = &mut (*rare_if_any((*p).instance)).awaiting.read;
    let place = read.iter_mut().find(|known| **known == element || **known == 0);
    *place.expect("the compiler lets a condition watch no more") = element;
}

/// An element is written that conditions may watch, and somebody is queued at the monitor.
///
/// # Safety
/// `p` runs on `w`, and somebody is queued at its component's monitor; the rest as for `ds_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_wrote(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) {
    if (*p).lock & LOCK_EXCLUSIVE == 0 {
        return;
    }
    if (*w).away != 0 {
        (*p).lock |= LOCK_WROTE;
        return;
    }
    let element = element(cell, collection, keys);
    let Awaiting { owns, touched, .. } = &mut (*rare_if_any((*p).instance)).awaiting;
    touched.extend(owns.watchers(element).filter_map(|number| Some((owns.get(number)?.turn, number))));
}

/// What stands for an element: not 0, and the same for the same element.
unsafe fn element(cell: *mut *mut u8, collection: *const Collection, keys: *const u64) -> u64 {
    collection::hash_of_keys(collection, keys, cell.addr() as u64).max(1)
}
