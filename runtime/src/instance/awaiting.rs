//! Processes that await conditions (language reference, section 6), and which of them a release of the lock has to
//! test. A condition that can't have changed is not tested, so it costs nothing:
//!
//! * A condition whose answer is the same for all processes of the component is tested once for all that await it.
//! * A condition is *due* if the release says that something may have been written that it depends on
//!   (`Condition::depends`).
//! * A condition that reads elements of collections says which when it is tested ([`Awaiting::reads`]). A write to one
//!   of them ([`Awaiting::wrote`]) *touches* the processes that watch it, and only these are tested.
//!
//! A release ends early when a process enters that wants the lock alone. What it has not tested stays due, or touched.
//!
//! A release can't be interrupted, so it doesn't test a condition that may take long: the process that awaits it gets
//! the lock and tests it itself, like any code of its own, and the round stands still meanwhile.
//!
//! # Why this is sound
//! Each [`Waiter`] that stands here is of this component, stands here once, and is taken out when it is ended.
//! Conditions tell what they read while they are tested, so nobody has a reference to [`Awaiting`] then.

mod own;
mod round;
mod tester;
mod waiter;
mod watching;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem::replace;

use drystone_component::Condition;

use self::own::{List, Number, Owns};
pub use self::round::{Alone, Round, Turn, alone};
use self::tester::Tester;
pub use self::tester::{Place, Tested};
pub use self::waiter::Waiter;
use self::waiter::{FALSE, LONG, TRUE};
use self::watching::Elements;
use crate::layout::*;
use crate::queue::Queue;

/// Processes that await conditions, in the order of their turns.
pub struct Awaiting {
    /// The only one, as long as there is no other: it stands in no group.
    sole: Option<Sole>,
    groups: Vec<Group>,
    /// How many there are.
    number: usize,
    turns: u64,
    /// Waiters whose conditions are not common.
    owns: Owns,
    /// Waiters that watch an element which was written since they were tested, by their turns.
    touched: BTreeMap<u64, Number>,
    /// What the condition reads that is being tested.
    read: Elements,
    /// The process that tests its condition itself now.
    tester: Option<Tester>,
}

/// A process that awaits a condition alone, as in most monitors, so that a release that hands it the lock needs no
/// queues.
#[derive(Clone, Copy)]
struct Sole {
    /// Says of no element that it is read.
    condition: &'static Condition,
    waiter: Waiter,
}

/// Processes that await the same condition.
struct Group {
    condition: &'static Condition,
    /// It has to be tested; if it is common, it has been: it was true, if it isn't `is_untested`.
    due: bool,
    /// It is common, and a process that awaits it has to test it.
    is_untested: bool,
    /// Its waiters, if it is common; each has noted its turn.
    common: Queue,
    /// Its waiters, if it isn't; each has noted its number.
    own: List,
    /// The first of them that has not had its turn in this round.
    next: Option<Number>,
}

impl Group {
    /// Its first waiter, if it is common.
    #[inline]
    fn first(&self) -> Option<Waiter> {
        // SAFETY: only waiters stand in the queue.
        (!self.common.is_empty()).then(|| unsafe { Waiter::new(self.common.head()) })
    }

    /// Takes out its first waiter, if it is common.
    #[inline]
    fn pop(&mut self) -> Option<Waiter> {
        let first = self.first();
        self.common.pop();
        first
    }
}

/// What comes next in a round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// The first of a group.
    Common(usize),
    Own(Number),
}

impl Awaiting {
    /// No waiters.
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

    /// The condition that is being tested reads an element.
    pub fn reads(&mut self, element: u64) {
        let place = self.read.iter_mut().find(|known| **known == element || **known == 0);
        *place.expect("the compiler lets a condition watch no more") = element;
    }

    /// An element was written.
    pub fn wrote(&mut self, element: u64) {
        let Awaiting { owns, touched, .. } = self;
        touched.extend(owns.watchers(element).filter_map(|number| Some((owns.get(number)?.turn, number))));
    }

    /// A process awaits the condition that it has written, which was false just now.
    ///
    /// # Safety
    /// `w` is the home worker; `awaiting` is that of the process's live component, and the process stands in no queue.
    #[inline]
    pub unsafe fn add(awaiting: *mut Awaiting, w: *mut Worker, waiter: Waiter) {
        // SAFETY: `w` is the home worker; no reference to what is awaited lasts over `add_to_group`, which may test a
        // condition.
        unsafe {
            let condition = waiter.condition();
            if (*awaiting).number == 0 && !condition.watches {
                (*awaiting).sole = Some(Sole { condition, waiter });
                (*awaiting).number = 1;
                return;
            }
            if let Some(Sole { condition, waiter }) = (*awaiting).sole.take() {
                (*awaiting).number = 0;
                let place = Awaiting::add_to_group(awaiting, w, condition, waiter);
                if let Some(tester) = &mut (*awaiting).tester {
                    tester.move_to(place);
                }
            }
            Awaiting::add_to_group(awaiting, w, condition, waiter);
        }
    }

    /// # Safety
    /// As for [`Awaiting::add`].
    #[inline(never)]
    unsafe fn add_to_group(
        all: *mut Awaiting,
        w: *mut Worker,
        condition: &'static Condition,
        waiter: Waiter,
    ) -> Place {
        // SAFETY: the reference is used no more when a condition is tested.
        let awaiting = unsafe { &mut *all };
        let turn = awaiting.turns;
        awaiting.turns += 1;
        awaiting.number += 1;
        let index = awaiting.group_of(condition);
        if condition.common {
            waiter.note(turn);
            // A waiter that tests runs, and stands in no queue here.
            if awaiting.tester.as_ref().is_none_or(|tester| tester.waiter != waiter) {
                // SAFETY: the process stands in no queue.
                unsafe { awaiting.groups[index].common.push(waiter.process()) };
            }
            return Place::Common(index);
        }
        let Awaiting { groups, owns, .. } = awaiting;
        let number = owns.add(&mut groups[index].own, waiter, turn, index);
        waiter.note(u64::from(number));
        if condition.watches {
            // SAFETY: the process awaits its condition since just now.
            unsafe { Awaiting::test_own(all, w, number) };
        }
        Place::Own(number)
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

    /// Tests the condition of a process that awaits one of its own. If it is still false, notes what it watches.
    ///
    /// # Safety
    /// `w` is the home worker; nobody has a reference to what is awaited, and a process has this number.
    unsafe fn test_own(all: *mut Awaiting, w: *mut Worker, number: Number) -> u32 {
        // SAFETY: the reference is used no more when the condition is tested.
        let awaiting = unsafe { &mut *all };
        // A process may be testing its condition itself.
        let before = replace(&mut awaiting.read, [0; WATCHED]);
        let own = *awaiting.owns.get(number).expect("it awaits");
        let condition = awaiting.groups[own.group].condition;
        // SAFETY: the waiter awaits this condition.
        let answer = unsafe { own.waiter().test(w, condition) };
        // SAFETY: the condition is done.
        let awaiting = unsafe { &mut *all };
        let read = replace(&mut awaiting.read, before);
        match answer {
            FALSE => {
                awaiting.touched.remove(&own.turn);
                awaiting.owns.watch(number, read);
            }
            TRUE => {}
            // It has just come and has not said what it watches: the next release has it test that again.
            LONG => _ = awaiting.touched.insert(own.turn, number),
            // It has failed: the scheduler handles that.
            _ => _ = awaiting.leave(number),
        }
        answer
    }

    /// Takes out a process, if it is here.
    pub fn remove(&mut self, waiter: Waiter) {
        if self.sole.take_if(|sole| sole.waiter == waiter).is_some() {
            self.number = 0;
            return;
        }
        let number = waiter.noted() as Number;
        if self.owns.get(number).is_some_and(|own| own.waiter() == waiter) {
            // A round may stand still.
            self.pass(number);
            self.leave(number);
            return;
        }
        for group in &mut self.groups {
            let number = &mut self.number;
            let stays = |q| {
                let is_it = q == waiter.process();
                *number -= usize::from(is_it);
                !is_it
            };
            group.common.retain(stays);
        }
    }

    /// A process awaits its own condition no longer.
    fn leave(&mut self, number: Number) -> Waiter {
        let Awaiting { owns, groups, touched, .. } = self;
        let group = owns.get(number).expect("it awaits").group;
        let own = owns.remove(&mut groups[group].own, number);
        touched.remove(&own.turn);
        self.number -= 1;
        if self.number == 0 {
            self.owns.forget_room();
        }
        own.waiter()
    }

    /// A round begins: those that are due get their turns.
    fn begin_round(&mut self) {
        for group in &mut self.groups {
            group.next = if group.due { group.own.first() } else { None };
        }
    }

    /// A process has its turn; it comes not again in this round.
    fn pass(&mut self, number: Number) {
        let Awaiting { owns, groups, .. } = self;
        let group = owns.get(number).map(|own| &mut groups[own.group]);
        if let Some(group) = group.filter(|group| group.next == Some(number)) {
            group.next = owns.after(number);
        }
    }

    /// The first waiter that may enter or has to be tested, with its turn.
    fn first(&self) -> Option<(u64, Next)> {
        let due = self.groups.iter().enumerate().filter(|(_, group)| group.due);
        let turns = due.filter_map(|(index, group)| match group.condition.common {
            true => group.first().map(|waiter| (waiter.noted(), Next::Common(index))),
            false => group.next.and_then(|next| Some((self.owns.get(next)?.turn, Next::Own(next)))),
        });
        let touched = self.touched.first_key_value().map(|(&turn, &number)| (turn, Next::Own(number)));
        turns.chain(touched).min()
    }

    /// A process begins to test its condition itself.
    ///
    /// # Safety
    /// `waiter` stands at `place`, in a common group as the first, and nobody else tests. When the test ends it
    /// stands in no queue.
    pub unsafe fn begin_test(&mut self, waiter: Waiter, place: Place) {
        if let Place::Common(index) = place {
            self.groups[index].pop();
        }
        self.read = [0; WATCHED];
        self.tester = Some(Tester::new(waiter, place));
    }

    /// The process that tests its condition is done. If it holds, it awaits it no longer.
    pub fn end_test(&mut self, holds: bool) -> Tested {
        let tester = self.tester.take().expect("it tests");
        if !holds {
            tester.restore();
        }
        match tester.place {
            Place::Alone if holds => {
                self.sole = None;
                self.number = 0;
            }
            Place::Alone => {}
            Place::Common(index) => {
                let group = &mut self.groups[index];
                (group.due, group.is_untested) = (holds, false);
                match holds {
                    true => self.number -= 1,
                    // SAFETY: the tester stands in no queue when its test ends, as `begin_test` demands.
                    false => unsafe { group.common.push_first(tester.waiter.process()) },
                }
            }
            Place::Own(number) if holds => _ = self.leave(number),
            Place::Own(number) => {
                let turn = self.owns.get(number).expect("it awaits").turn;
                self.touched.remove(&turn);
                self.owns.watch(number, self.read);
            }
        }
        Tested { is_round: !matches!(tester.place, Place::Alone), shares: tester.shares }
    }
}
