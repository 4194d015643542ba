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
//! # Why this is sound
//! Only live processes of the instance stand here, each once; whoever ends one takes it out. Conditions are tested by
//! the home worker while it holds no reference to what is here: they call [`ds_watch`].
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ptr::null_mut;

use drystone_component::{Collection, Condition};

use super::{Rare, body_of, rare_if_any};
use crate::collection;
use crate::layout::*;
use crate::queue::Queue;

/// `Condition::test`: 0 false, 1 true, 2 failed.
type Test = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// The elements that a condition reads, by their hashes; 0: none.
type Elements = [u64; WATCHED];

/// Processes that await conditions, in the order of their turns.
pub struct Awaiting {
    /// The only one, as long as there is no other: it stands in no group.
    sole: Option<Sole>,
    groups: Vec<Group>,
    /// How many there are.
    number: usize,
    turns: u64,
    /// The group of each who watches an element, by the element and its turn.
    watching: BTreeMap<(u64, u64), usize>,
    /// The group of each who watches an element that was written since it was tested, by its turn.
    touched: BTreeMap<u64, usize>,
    /// What the condition reads that is being tested.
    read: Elements,
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
    /// It has to be tested; if it is common, it has been: it was true.
    due: bool,
    /// Those who await it, if it is common; each keeps its turn.
    common: Queue,
    /// Those who await it, if it isn't, by their turns.
    own: BTreeMap<u64, Own>,
}

/// One whose condition depends on what is its own.
struct Own {
    process: *mut Process,
    watches: Elements,
}

/// Where a process that awaits, or is about to, keeps its condition.
unsafe fn condition_of(p: *mut Process) -> *mut &'static Condition {
    p.cast::<u8>().add(body_of(p).condition as usize).cast()
}

/// Where a process that awaits keeps its turn.
unsafe fn turn_of(p: *mut Process) -> *mut u64 {
    condition_of(p).cast()
}

unsafe fn test(condition: &Condition, w: *mut Worker, p: *mut Process) -> u32 {
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
            watching: BTreeMap::new(),
            touched: BTreeMap::new(),
            read: [0; WATCHED],
        }
    }

    /// Whether nobody awaits anything.
    pub fn is_empty(&self) -> bool {
        self.number == 0
    }

    fn group_of(&mut self, condition: &'static Condition) -> usize {
        let same = |group: &Group| core::ptr::eq(group.condition, condition);
        self.groups.iter().position(same).unwrap_or_else(|| {
            let (common, own) = (Queue::EMPTY, BTreeMap::new());
            self.groups.push(Group { condition, due: false, common, own });
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
        let turn = *turn_of(p);
        for index in 0..self.groups.len() {
            let group = &mut self.groups[index];
            let number = &mut self.number;
            group.common.retain(|q| {
                *number -= usize::from(q == p);
                q != p
            });
            if group.own.get(&turn).is_some_and(|own| own.process == p) {
                self.leave(index, turn);
            }
        }
    }

    /// One who awaits a condition of its own does so no longer.
    fn leave(&mut self, group: usize, turn: u64) -> *mut Process {
        self.watch(group, turn, [0; WATCHED]);
        self.touched.remove(&turn);
        self.number -= 1;
        self.groups[group].own.remove(&turn).expect("it awaits").process
    }

    /// From now on it watches these elements.
    fn watch(&mut self, group: usize, turn: u64, elements: Elements) {
        let own = self.groups[group].own.get_mut(&turn).expect("it awaits");
        if own.watches == elements {
            return;
        }
        let before = core::mem::replace(&mut own.watches, elements);
        for element in before.into_iter().filter(|&element| element != 0) {
            self.watching.remove(&(element, turn));
        }
        for element in elements.into_iter().filter(|&element| element != 0) {
            self.watching.insert((element, turn), group);
        }
    }

    /// The first, from that turn on, who may enter or has to be tested: its turn and group.
    unsafe fn first(&self, from: u64) -> Option<(u64, usize)> {
        let due = self.groups.iter().enumerate().filter(|(_, group)| group.due);
        let turns = due.filter_map(|(index, group)| match group.condition.common {
            true if group.common.is_empty() => None,
            true => Some((unsafe { *turn_of(group.common.head) }, index)),
            false => group.own.range(from..).next().map(|(&turn, _)| (turn, index)),
        });
        let touched = self.touched.range(from..).next().map(|(&turn, &group)| (turn, group));
        turns.chain(touched).min()
    }
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
        add_to_group(w, rare, condition, process);
    }
    add_to_group(w, rare, condition, p);
}

#[inline(never)]
unsafe fn add_to_group(w: *mut Worker, rare: *mut Rare, condition: &'static Condition, p: *mut Process) {
    let awaiting = &mut (*rare).awaiting;
    let turn = awaiting.turns;
    awaiting.turns += 1;
    awaiting.number += 1;
    *turn_of(p) = turn;
    let group = awaiting.group_of(condition);
    if condition.common {
        return awaiting.groups[group].common.push(p);
    }
    awaiting.groups[group].own.insert(turn, Own { process: p, watches: [0; WATCHED] });
    if condition.watches {
        test_own(w, rare, group, turn);
    }
}

/// What a release of the lock finds who awaits something alone.
pub enum Alone {
    /// There is none, or it is not alone.
    None,
    /// Its condition is as false as it was, or it has failed.
    Stays,
    /// Its condition holds: it awaits it no longer.
    Enters(*mut Process),
}

/// Looks at who awaits something alone.
///
/// # Safety
/// As for [`Round::begin`].
#[inline]
pub unsafe fn alone(w: *mut Worker, rare: *mut Rare, written: u64) -> Alone {
    let Some(Sole { condition, process }) = (*rare).awaiting.sole else { return Alone::None };
    let answer = if condition.depends & written == 0 { 0 } else { test(condition, w, process) };
    if answer == 0 {
        return Alone::Stays;
    }
    (*rare).awaiting.sole = None;
    (*rare).awaiting.number = 0;
    // Else the scheduler will see to it.
    if answer == 1 { Alone::Enters(process) } else { Alone::Stays }
}

/// Tests the condition of one who awaits; if it is still false, notes what it watches.
unsafe fn test_own(w: *mut Worker, rare: *mut Rare, group: usize, turn: u64) -> u32 {
    let awaiting = &mut (*rare).awaiting;
    awaiting.read = [0; WATCHED];
    let Group { condition, own, .. } = &awaiting.groups[group];
    let answer = test(condition, w, own[&turn].process);
    let awaiting = &mut (*rare).awaiting;
    match answer {
        0 => {
            awaiting.touched.remove(&turn);
            awaiting.watch(group, turn, awaiting.read);
        }
        1 => {}
        // It has failed: the scheduler will see to it.
        _ => drop(awaiting.leave(group, turn)),
    }
    answer
}

/// What a release of the lock does with those who await: it gets one after the other.
pub struct Round {
    w: *mut Worker,
    rare: *mut Rare,
    /// A group whose condition holds for all, null if there is none.
    holding: *mut Group,
    /// There is more than that: they enter by their turns.
    mixed: bool,
    from: u64,
}

impl Round {
    /// Tests what is common to many, if that may have changed.
    ///
    /// # Safety
    /// `rare` is that of a live component, whose lock nobody has alone.
    #[inline]
    pub unsafe fn begin(w: *mut Worker, rare: *mut Rare, written: u64) -> Round {
        let (mut holding, mut mixed) = (null_mut::<Group>(), !(*rare).awaiting.touched.is_empty());
        let groups = &raw mut (*rare).awaiting.groups;
        let (mut group, end) = {
            let groups = (*groups).as_mut_ptr_range();
            (groups.start, groups.end)
        };
        while group != end {
            if (*group).due || (*group).condition.depends & written != 0 {
                let common = (*group).condition.common;
                (*group).due = if common { Round::holds(w, rare, group) } else { !(*group).own.is_empty() };
                if (*group).due {
                    mixed |= !common || !holding.is_null();
                    holding = group;
                }
            }
            group = group.add(1);
        }
        Round { w, rare, holding, mixed, from: 0 }
    }

    /// Tests a common condition. One answer is good for all; but each fails for itself.
    #[inline]
    unsafe fn holds(w: *mut Worker, rare: *mut Rare, group: *mut Group) -> bool {
        while !(*group).common.is_empty() {
            match test((*group).condition, w, (*group).common.head) {
                0 => return false,
                1 => return true,
                _ => Round::pop(rare, group),
            };
        }
        false
    }

    /// The next one whose condition holds: it awaits it no longer. Null: there is no other.
    ///
    /// # Safety
    /// As for [`Round::begin`].
    #[inline]
    pub unsafe fn next(&mut self) -> *mut Process {
        if self.mixed {
            return self.next_by_turn();
        }
        if self.holding.is_null() {
            return null_mut();
        }
        if (*self.holding).common.is_empty() {
            (*self.holding).due = false;
            return null_mut();
        }
        Round::pop(self.rare, self.holding)
    }

    /// Takes the first out of a group that is not empty.
    #[inline]
    unsafe fn pop(rare: *mut Rare, group: *mut Group) -> *mut Process {
        (*rare).awaiting.number -= 1;
        (*group).common.pop()
    }

    #[cold]
    #[inline(never)]
    unsafe fn next_by_turn(&mut self) -> *mut Process {
        while let Some((turn, group)) = (*self.rare).awaiting.first(self.from) {
            let awaiting = &raw mut (*self.rare).awaiting;
            let those = &raw mut (&mut (*awaiting).groups)[group];
            if (*those).condition.common {
                return Round::pop(self.rare, those);
            }
            self.from = turn + 1;
            if test_own(self.w, self.rare, group, turn) == 1 {
                return (*awaiting).leave(group, turn);
            }
        }
        (*self.rare).awaiting.groups.iter_mut().for_each(|group| group.due = false);
        null_mut()
    }
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
    let Awaiting { watching, touched, .. } = &mut (*rare_if_any((*p).instance)).awaiting;
    touched
        .extend(watching.range((element, 0)..=(element, u64::MAX)).map(|(&(_, turn), &group)| (turn, group)));
}

/// What stands for an element: not 0, and the same for the same element.
unsafe fn element(cell: *mut *mut u8, collection: *const Collection, keys: *const u64) -> u64 {
    collection::hash_of_keys(collection, keys, cell.addr() as u64).max(1)
}
