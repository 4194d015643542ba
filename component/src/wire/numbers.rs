//! Numbers of the communications that one end has begun. A freed number is used again before a new one.

use alloc::vec::Vec;

/// The numbers in use, and their meanings.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// For each number its meaning plus one; 0 if the number is free.
    used: Vec<u32>,
    /// The free numbers, if this end gives the numbers.
    free: Vec<u32>,
    count: u32,
}

impl Numbers {
    /// The number of numbers in use.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The meaning of a number, if it is in use.
    pub(super) fn get(&self, number: u32) -> Option<u32> {
        self.used.get(number as usize)?.checked_sub(1)
    }

    /// Gives a number to a meaning.
    pub(super) fn give(&mut self, meaning: u32) -> u32 {
        self.count += 1;
        if let Some(number) = self.free.pop() {
            self.used[number as usize] = meaning + 1;
            return number;
        }
        self.used.push(meaning + 1);
        self.used.len() as u32 - 1
    }

    /// Whether the other side may give this number: it must be free, and at most the next new one.
    pub(super) fn may_be_given(&self, number: u32) -> bool {
        match self.used.get(number as usize) {
            Some(meaning) => *meaning == 0,
            None => number as usize == self.used.len(),
        }
    }

    /// The other side has given this number, which [`Numbers::may_be_given`] allows.
    pub(super) fn given(&mut self, number: u32, meaning: u32) {
        let at = number as usize;
        if at == self.used.len() {
            self.used.push(0);
        }
        self.used[at] = meaning + 1;
        self.count += 1;
    }

    /// Frees a number that this end gave.
    pub(super) fn take_back(&mut self, number: u32) {
        self.end(number);
        self.free.push(number);
    }

    /// Frees a number that the other side gave.
    pub(super) fn end(&mut self, number: u32) {
        self.used[number as usize] = 0;
        self.count -= 1;
    }
}
