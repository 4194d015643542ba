//! Numbers of the communications that one end has begun: a number that is free again is used before a new one.

use alloc::vec::Vec;

/// Which numbers are in use, and for what.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// One more than what a number stands for; 0: the number is free.
    used: Vec<u32>,
    /// Those that are free, for who gives the numbers.
    free: Vec<u32>,
    count: u32,
}

impl Numbers {
    /// How many are in use.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// What a number stands for.
    pub(super) fn get(&self, number: u32) -> Option<u32> {
        self.used.get(number as usize)?.checked_sub(1)
    }

    /// Gives a number.
    pub(super) fn give(&mut self, meaning: u32) -> u32 {
        self.count += 1;
        if let Some(number) = self.free.pop() {
            self.used[number as usize] = meaning + 1;
            return number;
        }
        self.used.push(meaning + 1);
        self.used.len() as u32 - 1
    }

    /// Whether the other side may give this number: it is free, and at most the next new one.
    pub(super) fn may_be_given(&self, number: u32) -> bool {
        match self.used.get(number as usize) {
            Some(meaning) => *meaning == 0,
            None => number as usize == self.used.len(),
        }
    }

    /// The other side has given this number, as it may.
    pub(super) fn given(&mut self, number: u32, meaning: u32) {
        let at = number as usize;
        if at == self.used.len() {
            self.used.push(0);
        }
        self.used[at] = meaning + 1;
        self.count += 1;
    }

    /// A number that was given here is free again.
    pub(super) fn take_back(&mut self, number: u32) {
        self.end(number);
        self.free.push(number);
    }

    /// A number that the other side has given is free again.
    pub(super) fn end(&mut self, number: u32) {
        self.used[number as usize] = 0;
        self.count -= 1;
    }
}
