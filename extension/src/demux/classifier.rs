//! What filters find, as they are at one time.

use alloc::{sync::Arc, vec::Vec};
use core::ops::Deref;

use super::classic::Program;
use super::structure::Structure;
use super::table::Rank;

/// A filter that was inserted. No other ever has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(super) u64);

/// Who wants a packet, by the filters that a [`super::Demultiplexer`] had when it gave this. It is made quickly, and can be
/// asked by many threads while filters come and go there.
pub struct Classifier<T, M> {
    pub(super) structure: Structure<M>,
    pub(super) targets: Arc<Vec<Option<(Id, T)>>>,
    /// The highest rank first.
    pub(super) programs: Arc<Vec<Interpreted>>,
}

/// A program that nobody could make tests of.
#[derive(Clone)]
pub(super) struct Interpreted {
    pub rank: Rank,
    pub target: u32,
    pub program: Arc<Program>,
}

impl Id {
    /// The older of two filters wins.
    pub(super) fn age(self) -> u64 {
        !self.0
    }
}

impl<T, M> Clone for Classifier<T, M> {
    fn clone(&self) -> Self {
        Classifier {
            structure: self.structure.clone(),
            targets: self.targets.clone(),
            programs: self.programs.clone(),
        }
    }
}

impl<T, M: Deref<Target = [u8]>> Classifier<T, M> {
    /// What belongs to the filter with the highest rank of those that want a packet.
    #[inline]
    pub fn classify(&self, packet: &[u8]) -> Option<&T> {
        self.find(packet).map(|(_, target)| target)
    }

    /// The same, and which filter it is.
    #[inline]
    pub fn find(&self, packet: &[u8]) -> Option<(Id, &T)> {
        let packet = &packet[..packet.len().min(u32::MAX as usize)];
        let (number, weight) = self.structure.find(packet);
        let found = number.checked_sub(1).and_then(|index| self.target(index));
        if self.programs.is_empty() {
            return found;
        }
        let rank = found.map(|(id, _)| Rank { weight, age: id.age() });
        self.ask_programs(packet, rank).or(found)
    }

    /// Who wants it with a higher rank.
    fn ask_programs(&self, packet: &[u8], rank: Option<Rank>) -> Option<(Id, &T)> {
        let higher = self.programs.iter().take_while(|it| rank.is_none_or(|rank| it.rank > rank));
        let wants = higher.into_iter().find(|it| it.program.run(packet) != 0)?;
        self.target(wants.target)
    }

    fn target(&self, index: u32) -> Option<(Id, &T)> {
        self.targets.get(index as usize)?.as_ref().map(|(id, target)| (*id, target))
    }

    /// Whether it is code of the machine: else a tree is walked, with the same result.
    pub fn is_compiled(&self) -> bool {
        self.structure.is_compiled()
    }
}
