//! Filters: sets of packets.

use alloc::{format, string::String, sync::Arc, vec, vec::Vec};

use super::classic;
use super::conjunction::Conjunction;
use super::limits;
use super::test::Test;

/// A set of packets: those that fulfil all tests of one alternative, or that a program accepts.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    alternatives: Vec<Vec<Test>>,
    /// Programs of classic BPF that can't be turned into tests.
    programs: Vec<Arc<classic::Program>>,
}

/// Alternatives in normal form, and programs.
pub(super) type Parts<'a> = (Vec<Vec<Test>>, &'a [Arc<classic::Program>]);

impl Filter {
    /// The most tests of an alternative.
    pub const TESTS: usize = limits::TESTS;
    /// The most alternatives of a filter, programs included.
    pub const ALTERNATIVES: usize = limits::ALTERNATIVES;

    /// Every packet.
    pub fn everything() -> Filter {
        Filter::all_of(Vec::new())
    }

    /// No packet.
    pub fn nothing() -> Filter {
        Filter::default()
    }

    /// Packets that fulfil all of these tests.
    pub fn all_of(tests: impl Into<Vec<Test>>) -> Filter {
        Filter { alternatives: vec![tests.into()], programs: Vec::new() }
    }

    /// Packets that fulfil all tests of one of these.
    pub(super) fn any_of(alternatives: Vec<Vec<Test>>) -> Filter {
        Filter { alternatives, programs: Vec::new() }
    }

    /// Packets for which a program of classic BPF returns another number than 0. It is turned into tests if it consists
    /// of such ([`Filter::programs`] is 0 then), and else interpreted for each packet.
    pub fn from_classic(instructions: &[classic::Instruction]) -> Result<Filter, classic::Refusal> {
        let program = classic::Program::new(instructions)?;
        Ok(match classic::alternatives(&program) {
            Some(alternatives) => Filter::any_of(alternatives),
            None => Filter { alternatives: Vec::new(), programs: vec![Arc::new(program)] },
        })
    }

    /// The packets of this and of another filter.
    pub fn or(mut self, other: impl Into<Filter>) -> Filter {
        let other = other.into();
        self.alternatives.extend(other.alternatives);
        self.programs.extend(other.programs);
        self
    }

    /// How many of its alternatives are programs. Each is run for every packet that no filter of higher rank wants.
    pub fn programs(&self) -> usize {
        self.programs.len()
    }

    /// Its alternatives that consist of tests.
    pub fn alternatives(&self) -> &[Vec<Test>] {
        &self.alternatives
    }

    /// Whether it wants a packet. (A [`super::Demultiplexer`] decides that for many filters at once.)
    pub fn wants(&self, packet: &[u8]) -> bool {
        let fulfils = |tests: &Vec<Test>| tests.iter().all(|test| test.holds(packet));
        self.alternatives.iter().any(fulfils) || self.programs.iter().any(|program| program.run(packet) != 0)
    }

    /// Its normal form, without alternatives that no packet can fulfil; or why it is refused.
    pub(super) fn parts(&self) -> Result<Parts<'_>, String> {
        let count = self.alternatives.len() + self.programs.len();
        if count > Self::ALTERNATIVES {
            return Err(format!("a filter of {count} alternatives: there can be {}", Self::ALTERNATIVES));
        }
        if let Some(long) = self.alternatives.iter().find(|tests| tests.len() > Self::TESTS) {
            return Err(format!("{} tests in one alternative: there can be {}", long.len(), Self::TESTS));
        }
        if let Some(test) = self.alternatives.iter().flatten().find(|test| !test.cell.is_near()) {
            return Err(format!("{:?} is farther than a packet reaches", test.cell));
        }
        let simplified = |tests: &Vec<Test>| Conjunction::of(tests).map(|it| it.tests());
        let mut alternatives: Vec<Vec<Test>> = self.alternatives.iter().filter_map(simplified).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        Ok((alternatives, &self.programs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demux::test::Cell;

    #[test]
    fn what_nobody_can_fulfil_or_has_said_before_is_left_out() {
        let filter = Filter::all_of([Test::is(Cell::byte(0), 1), Test::is(Cell::byte(0), 2)])
            .or(Filter::all_of([Test::is(Cell::byte(0), 1)]))
            .or(Filter::all_of([Test::is(Cell::byte(0), 1), Test::has(Cell::byte(0))]));
        assert_eq!(filter.parts().unwrap().0, [[Test::is(Cell::byte(0), 1)]]);
        assert!(filter.wants(&[1]) && !filter.wants(&[2]) && !filter.wants(&[]));
        assert!(Filter::everything().wants(&[]) && !Filter::nothing().wants(&[]));
    }

    #[test]
    fn too_much_is_refused() {
        let far = Filter::all_of([Test::has(Cell::byte(Cell::FARTHEST + 1))]);
        assert!(far.parts().unwrap_err().contains("farther"));
        let long = Filter::all_of(vec![Test::has(Cell::byte(1)); 65]);
        assert_eq!(long.parts().unwrap_err(), "65 tests in one alternative: there can be 64");
        let wide = Filter::any_of(vec![Vec::new(); 1025]);
        assert_eq!(wide.parts().unwrap_err(), "a filter of 1025 alternatives: there can be 1024");
    }
}
