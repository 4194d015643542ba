//! What a release of the lock does with those who await: it gets one after the other.
//!
//! # Why this is sound
//! See the awaiting module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::{FALSE, Group, LONG, Next, Place, Rare, TRUE, test, test_own};
use crate::layout::*;

/// Who comes next in a round.
pub enum Turn {
    /// Its condition holds: it awaits it no longer.
    Enters(*mut Process),
    /// It has to test its condition itself, and the round stands still until it has.
    Tests(*mut Process, Place),
    /// There is no other.
    Nobody,
}

/// Those who await, one after the other, as far as a release lets them in.
pub struct Round {
    w: *mut Worker,
    rare: *mut Rare,
    /// A group whose condition holds for all, null if there is none.
    holding: *mut Group,
    /// There is more than that: they enter by their turns.
    mixed: bool,
    has_begun: bool,
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
                (*group).due =
                    if common { Round::holds(w, rare, group) } else { (*group).own.first().is_some() };
                if (*group).due {
                    mixed |= !common || (*group).is_untested || !holding.is_null();
                    holding = group;
                }
            }
            group = group.add(1);
        }
        Round { w, rare, holding, mixed, has_begun: false }
    }

    /// A round goes on that stood still.
    ///
    /// # Safety
    /// As for [`Round::begin`].
    pub unsafe fn go_on(w: *mut Worker, rare: *mut Rare) -> Round {
        Round { w, rare, holding: null_mut(), mixed: true, has_begun: true }
    }

    /// Tests a common condition. One answer is good for all; but each fails for itself.
    #[inline]
    unsafe fn holds(w: *mut Worker, rare: *mut Rare, group: *mut Group) -> bool {
        while !(*group).common.is_empty() {
            match test((*group).condition, w, (*group).common.head()) {
                FALSE => return false,
                TRUE => return true,
                LONG => {
                    (*group).is_untested = true;
                    return true;
                }
                _ => Round::pop(rare, group),
            };
        }
        false
    }

    /// The next one.
    ///
    /// # Safety
    /// As for [`Round::begin`].
    #[inline]
    pub unsafe fn next(&mut self) -> Turn {
        if self.mixed {
            return self.next_by_turn();
        }
        if self.holding.is_null() {
            return Turn::Nobody;
        }
        if (*self.holding).common.is_empty() {
            (*self.holding).due = false;
            return Turn::Nobody;
        }
        Turn::Enters(Round::pop(self.rare, self.holding))
    }

    /// Takes the first out of a group that is not empty.
    #[inline]
    unsafe fn pop(rare: *mut Rare, group: *mut Group) -> *mut Process {
        (*rare).awaiting.number -= 1;
        (*group).common.pop()
    }

    #[cold]
    #[inline(never)]
    unsafe fn next_by_turn(&mut self) -> Turn {
        let awaiting = &raw mut (*self.rare).awaiting;
        if !core::mem::replace(&mut self.has_begun, true) {
            (*awaiting).begin_round();
        }
        while let Some((_, next)) = (*awaiting).first() {
            let number = match next {
                Next::Common(index) => {
                    let group = &raw mut (&mut (*awaiting).groups)[index];
                    return match (*group).is_untested {
                        true => Turn::Tests((*group).common.head(), Place::Common(index)),
                        false => Turn::Enters(Round::pop(self.rare, group)),
                    };
                }
                Next::Own(number) => number,
            };
            (*awaiting).pass(number);
            match test_own(self.w, self.rare, number) {
                TRUE => return Turn::Enters((*awaiting).leave(number)),
                LONG => return Turn::Tests((*awaiting).process(number), Place::Own(number)),
                _ => {}
            }
        }
        (*self.rare).awaiting.groups.iter_mut().for_each(|group| group.due = false);
        Turn::Nobody
    }
}
