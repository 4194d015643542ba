//! The rank that decides which of several filters gets a packet.

/// A rank. The greater one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// See [`weight`].
    pub weight: u64,
    /// The age of the target: greater is older.
    pub age: u64,
}

/// The weight: the priority, then the number of fixed bits, then the number of tests.
pub(super) fn weight(priority: i32, bits: u32, tests: u32) -> u64 {
    let priority = priority.cast_unsigned() ^ 1 << 31;
    u64::from(priority) << 32 | u64::from(bits.min(0xffff)) << 16 | u64::from(tests.min(0xffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_goes_before_all_and_age_behind_all() {
        let rank = |priority, bits, tests, age| Rank { weight: weight(priority, bits, tests), age };
        let low = [rank(-1, 900, 9, 9), rank(0, 8, 9, 9), rank(0, 9, 1, 9)];
        let high = [rank(0, 9, 2, 1), rank(0, 9, 2, 2), rank(1, 0, 0, 0)];
        assert!([low, high].concat().is_sorted());
    }
}
