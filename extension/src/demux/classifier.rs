//! Classifiers: snapshots of a demultiplexer.

use alloc::{sync::Arc, vec::Vec};
use core::ops::Deref;

use super::classic::Program;
use super::rank::Rank;
use super::structure::Structure;
use super::tree::Found;

/// The identity of an inserted filter. It is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(super) u64);

/// A snapshot of the filters of a [`super::Demultiplexer`]. It is made quickly, and many threads can use it while the
/// demultiplexer changes.
pub struct Classifier<T, M> {
    pub(super) structure: Structure<M>,
    /// By their numbers, which begin at 1.
    pub(super) targets: Arc<Vec<Option<T>>>,
    /// The highest rank first.
    pub(super) programs: Arc<Vec<Interpreted>>,
}

/// A program that couldn't be turned into tests.
#[derive(Clone)]
pub(super) struct Interpreted {
    pub rank: Rank,
    pub target: u32,
    pub program: Arc<Program>,
}

impl Id {
    /// The age of the filter: the older of two wins.
    pub(super) fn age(self) -> u64 {
        !self.0
    }

    pub(super) fn of_age(age: u64) -> Id {
        Id(!age)
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
    /// The target of a packet: that of the filter with the highest rank that wants it.
    #[inline]
    pub fn classify(&self, packet: &[u8]) -> Option<&T> {
        self.target(self.number(packet))
    }

    /// The filter that gets a packet, and its target.
    #[inline]
    pub fn find(&self, packet: &[u8]) -> Option<(Id, &T)> {
        let number = self.number(packet);
        self.target(number).map(|target| (Id::of_age(self.structure.age(number)), target))
    }

    #[inline]
    fn target(&self, number: u32) -> Option<&T> {
        self.targets.get(number as usize)?.as_ref()
    }

    #[inline]
    fn number(&self, packet: &[u8]) -> u32 {
        let packet = &packet[..packet.len().min(u32::MAX as usize)];
        let found = self.structure.find(packet);
        if self.programs.is_empty() { found.target } else { self.ask_programs(packet, found) }
    }

    /// A program that wants the packet, and has a higher rank than the filter that was found.
    fn ask_programs(&self, packet: &[u8], found: Found) -> u32 {
        let rank = Rank { weight: found.weight, age: self.structure.age(found.target) };
        let mut higher = self.programs.iter().take_while(|it| it.rank > rank);
        higher.find(|it| it.program.run(packet) != 0).map_or(found.target, |it| it.target)
    }

    /// Whether it is compiled: else the tree is walked, with the same result.
    pub fn is_compiled(&self) -> bool {
        self.structure.is_compiled()
    }
}
