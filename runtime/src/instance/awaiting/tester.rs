//! A process that awaits a condition which may take long tests it itself, when it is its turn in a round: it has the
//! lock alone for that, and the round stands still until it says what it has found.
//!
//! # Why this is sound
//! See the awaiting module. Whoever tests is counted among those who await, but stands in no queue there, for it runs.
#![allow(unsafe_op_in_unsafe_fn)]

use super::own::Number;
use super::{Rare, turn_of};
use crate::layout::*;

/// Where a process stands that tests its condition.
#[derive(Clone, Copy)]
pub enum Place {
    /// It awaits something alone: there is no round.
    Alone,
    /// It was the first of a group.
    Common(usize),
    /// It awaits something of its own.
    Own(Number),
}

/// Who tests its condition.
pub struct Tester {
    process: *mut Process,
    place: Place,
    /// It shares the lock if the condition holds.
    shares: bool,
    /// Its turn or number, unless it awaits something alone: its condition stands there while it tests that.
    word: u64,
}

/// What a test has ended.
pub struct Tested {
    /// It stood still, and goes on.
    pub is_round: bool,
    /// Who has tested shares the lock if its condition holds.
    pub shares: bool,
}

/// It is a process's turn to test its condition.
///
/// # Safety
/// It awaits that at this place, and nobody else tests.
pub unsafe fn begin_test(rare: *mut Rare, p: *mut Process, place: Place) {
    let shares = (*p).status == AWAITS_SHARED;
    let awaiting = &mut (*rare).awaiting;
    if let Place::Common(index) = place {
        awaiting.groups[index].common.pop();
    }
    awaiting.read = [0; WATCHED];
    awaiting.tester = Some(Tester { process: p, place, shares, word: *turn_of(p) });
}

impl Tester {
    /// Whether it is this process.
    pub fn is(&self, p: *mut Process) -> bool {
        self.process == p
    }

    /// It awaited something alone, and stands there now, since others have come.
    pub unsafe fn moves(&mut self, place: Place) {
        (self.place, self.word) = (place, *turn_of(self.process));
    }
}

/// A process has tested its condition. If it holds, it awaits it no longer.
///
/// # Safety
/// It is the one that tests in this component.
pub unsafe fn end_test(rare: *mut Rare, holds: bool) -> Tested {
    let awaiting = &mut (*rare).awaiting;
    let Tester { process, place, shares, word } = awaiting.tester.take().expect("it tests");
    if !holds && !matches!(place, Place::Alone) {
        *turn_of(process) = word;
    }
    match place {
        Place::Alone if holds => {
            awaiting.sole = None;
            awaiting.number = 0;
        }
        Place::Alone => {}
        Place::Common(index) => {
            let group = &mut awaiting.groups[index];
            (group.due, group.is_untested) = (holds, false);
            match holds {
                true => awaiting.number -= 1,
                false => group.common.push_first(process),
            }
        }
        Place::Own(number) if holds => _ = awaiting.leave(number),
        Place::Own(number) => {
            let turn = awaiting.owns.get(number).expect("it awaits").turn;
            awaiting.touched.remove(&turn);
            awaiting.owns.watch(number, awaiting.read);
        }
    }
    Tested { is_round: !matches!(place, Place::Alone), shares }
}
