//! A release of the lock goes through the waiters in a *round*: it gets one after the other that may enter or has to
//! test its condition.
//!
//! # Why this is sound
//! See the awaiting module.

use core::mem::replace;
use core::ops::Range;
use core::ptr::null_mut;

use super::{Awaiting, FALSE, Group, LONG, Next, Place, Sole, TRUE, Waiter};
use crate::layout::*;

/// What a release of the lock finds of a process that awaits something alone.
pub enum Alone {
    /// There is none, and nobody else either.
    Nobody,
    /// There are several, or one whose condition says what it reads.
    Several,
    /// Its condition is as false as it was, or it has failed.
    Stays,
    /// Its condition holds: it awaits it no longer.
    Enters(Waiter),
    /// It has to test its condition itself.
    Tests(Waiter),
}

/// Looks at a process that awaits something alone.
///
/// # Safety
/// As for [`Round::begin`].
#[inline]
pub unsafe fn alone(w: *mut Worker, awaiting: *mut Awaiting, written: u64) -> Alone {
    // SAFETY: as for `Round::begin`.
    let Some(Sole { condition, waiter }) = (unsafe { (*awaiting).sole }) else {
        // SAFETY: nobody has a reference to what is awaited.
        return if unsafe { (*awaiting).is_empty() } { Alone::Nobody } else { Alone::Several };
    };
    let is_due = condition.depends & written != 0;
    // SAFETY: the waiter awaits this condition.
    let answer = if is_due { unsafe { waiter.test(w, condition) } } else { FALSE };
    if answer == FALSE {
        return Alone::Stays;
    }
    if answer == LONG {
        return Alone::Tests(waiter);
    }
    // SAFETY: the condition is done.
    unsafe {
        (*awaiting).sole = None;
        (*awaiting).number = 0;
    }
    // If it has failed, the scheduler handles that.
    if answer == TRUE { Alone::Enters(waiter) } else { Alone::Stays }
}

/// What comes next in a round.
pub enum Turn {
    /// Its condition holds: it awaits it no longer.
    Enters(Waiter),
    /// It has to test its condition itself, and the round stands still until it has.
    Tests(Waiter, Place),
    /// There is no other.
    Nobody,
}

/// The waiters, one after the other, as far as a release lets them in. [`Round::begin`] says what must hold until the
/// round is over.
pub struct Round {
    w: *mut Worker,
    awaiting: *mut Awaiting,
    /// A group whose condition holds for all, null if there is none.
    holding: *mut Group,
    /// There is more than that group: waiters enter by their turns.
    mixed: bool,
    has_begun: bool,
}

impl Round {
    /// Tests what is common to many, if that may have changed.
    ///
    /// # Safety
    /// As long as the round lasts, `w` is the home worker, `awaiting` is that of a live component whose lock nobody has
    /// alone, and nobody else has a reference to it.
    #[inline]
    pub unsafe fn begin(w: *mut Worker, awaiting: *mut Awaiting, written: u64) -> Round {
        // SAFETY: `awaiting` is there, and conditions that are tested add no groups, so these stay where they are.
        unsafe {
            let (mut holding, mut mixed) = (null_mut::<Group>(), !(*awaiting).touched.is_empty());
            let groups = &mut (*awaiting).groups;
            let Range { start: mut group, end } = groups.as_mut_ptr_range();
            while group != end {
                if (*group).due || (*group).condition.depends & written != 0 {
                    let common = (*group).condition.common;
                    (*group).due =
                        if common { holds(w, awaiting, group) } else { (*group).own.first().is_some() };
                    if (*group).due {
                        mixed |= !common || (*group).is_untested || !holding.is_null();
                        holding = group;
                    }
                }
                group = group.add(1);
            }
            Round { w, awaiting, holding, mixed, has_begun: false }
        }
    }

    /// A round goes on that stood still.
    ///
    /// # Safety
    /// As for [`Round::begin`].
    pub unsafe fn go_on(w: *mut Worker, awaiting: *mut Awaiting) -> Round {
        Round { w, awaiting, holding: null_mut(), mixed: true, has_begun: true }
    }

    /// The next one.
    #[inline]
    pub fn next(&mut self) -> Turn {
        if self.mixed {
            return self.next_by_turn();
        }
        if self.holding.is_null() {
            return Turn::Nobody;
        }
        // SAFETY: nothing has moved the groups since the round began.
        unsafe {
            match pop(self.awaiting, self.holding) {
                Some(waiter) => Turn::Enters(waiter),
                None => {
                    (*self.holding).due = false;
                    Turn::Nobody
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn next_by_turn(&mut self) -> Turn {
        // SAFETY: as in `begin`; no reference lasts over a test.
        unsafe {
            if !replace(&mut self.has_begun, true) {
                (*self.awaiting).begin_round();
            }
            while let Some((_, next)) = (*self.awaiting).first() {
                let number = match next {
                    Next::Common(index) => return self.next_of(index),
                    Next::Own(number) => number,
                };
                (*self.awaiting).pass(number);
                match Awaiting::test_own(self.awaiting, self.w, number) {
                    TRUE => return Turn::Enters((*self.awaiting).leave(number)),
                    LONG => {
                        let own = (*self.awaiting).owns.get(number).expect("it awaits");
                        return Turn::Tests(own.waiter(), Place::Own(number));
                    }
                    _ => {}
                }
            }
            (*self.awaiting).groups.iter_mut().for_each(|group| group.due = false);
        }
        Turn::Nobody
    }

    /// The first of a group whose condition is common, and due.
    fn next_of(&mut self, index: usize) -> Turn {
        // SAFETY: as in `begin`.
        let Awaiting { groups, number, .. } = unsafe { &mut *self.awaiting };
        let group = &mut groups[index];
        let first = group.first().expect("it is due for somebody");
        if group.is_untested {
            return Turn::Tests(first, Place::Common(index));
        }
        group.pop();
        *number -= 1;
        Turn::Enters(first)
    }
}

/// Tests a common condition. One answer is good for all; but each fails for itself.
///
/// # Safety
/// As for [`Round::begin`]; `group` is one of its groups, and common.
#[inline]
unsafe fn holds(w: *mut Worker, awaiting: *mut Awaiting, group: *mut Group) -> bool {
    // SAFETY: as for `Round::begin`; `group` is one of its groups, and common.
    unsafe {
        while let Some(first) = (*group).first() {
            match first.test(w, (*group).condition) {
                FALSE => return false,
                TRUE => return true,
                LONG => {
                    (*group).is_untested = true;
                    return true;
                }
                _ => pop(awaiting, group),
            };
        }
    }
    false
}

/// Takes the first out of a group that is common.
///
/// # Safety
/// As for [`holds`].
#[inline]
unsafe fn pop(awaiting: *mut Awaiting, group: *mut Group) -> Option<Waiter> {
    // SAFETY: as for `holds`.
    unsafe {
        let first = (*group).pop()?;
        (*awaiting).number -= 1;
        Some(first)
    }
}
