//! A process that awaits a condition which may take long tests it itself, when its turn comes in a round. It has the
//! lock alone for that, and the round stands still until it says what it has found.

use super::own::Number;
use super::waiter::Waiter;

/// Where a process stands that tests its condition.
#[derive(Clone, Copy)]
pub enum Place {
    /// It awaits something alone: there is no round.
    Alone,
    /// It was the first of a group, and stands in no queue now.
    Common(usize),
    /// It awaits something of its own.
    Own(Number),
}

/// The process that tests its condition. It counts among those who await.
pub struct Tester {
    /// The process.
    pub waiter: Waiter,
    /// Where it stands.
    pub place: Place,
    /// It shares the lock if the condition holds.
    pub shares: bool,
    /// What was noted for it. Where it awaits something alone that is its condition.
    noted: u64,
}

/// What a test has ended.
pub struct Tested {
    /// A round stood still, and goes on.
    pub is_round: bool,
    /// The process shares the lock if its condition holds.
    pub shares: bool,
}

impl Tester {
    /// A process that stands at this place begins to test its condition.
    pub fn new(waiter: Waiter, place: Place) -> Tester {
        Tester { waiter, place, shares: waiter.shares(), noted: waiter.noted() }
    }

    /// It awaited something alone, and now stands there, since others have come.
    pub fn move_to(&mut self, place: Place) {
        (self.place, self.noted) = (place, self.waiter.noted());
    }

    /// It awaits its condition again, which it has written anew in place of what was noted.
    pub fn restore(&self) {
        if !matches!(self.place, Place::Alone) {
            self.waiter.note(self.noted);
        }
    }
}
