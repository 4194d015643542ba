//! The reference for tests of demultiplexers: asks all filters one after the other.

use alloc::vec::Vec;

use super::classifier::Id;
use super::filter::Filter;
use super::rank::weight;
use super::test::Test;

/// All filters, the oldest first.
#[derive(Debug, Default)]
pub struct Linear(pub Vec<(Id, i32, Filter)>);

impl Linear {
    /// The filter with the highest rank among those that want a packet.
    ///
    /// # Panics
    /// If a filter is invalid.
    pub fn find(&self, packet: &[u8]) -> Option<Id> {
        let ranks = self.0.iter().flat_map(|(id, priority, filter)| {
            let (alternatives, programs) = filter.parts().expect("it was inserted elsewhere, too");
            let rank_of = |tests: Vec<Test>| {
                let bits = tests.iter().map(Test::bits).sum();
                let holds = tests.iter().all(|test| test.holds(packet));
                holds.then(|| weight(*priority, bits, tests.len() as u32))
            };
            let by_program = programs.iter().any(|program| program.run(packet) != 0);
            let by_program = by_program.then(|| weight(*priority, 0, 0));
            let weights: Vec<u64> = alternatives.into_iter().filter_map(rank_of).chain(by_program).collect();
            weights.into_iter().map(|weight| (weight, id.age()))
        });
        ranks.max().map(|(_, age)| Id::of_age(age))
    }
}
