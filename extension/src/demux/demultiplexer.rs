//! The demultiplexer: a changing set of filters.

use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::ops::Deref;

use super::classifier::{Classifier, Id, Interpreted};
use super::family::{Change, Families};
use super::filter::Filter;
use super::rank::{Rank, weight};
use super::structure::{Place, Structure};
use super::test::{Condition, Test};
#[cfg(all(unix, target_arch = "x86_64"))]
use crate::engine::jit::{Pages, pages};

/// Finds which of many filters wants a packet.
///
/// If several want it, the one with the highest rank gets it. The rank is the priority; then how many bits of the
/// packet the filter fixes (so the smaller of two networks wins); then how many tests it has; then its age. Of a filter
/// with alternatives, the alternative that matches counts; of a program that isn't turned into tests, only the priority
/// and the age.
pub struct Demultiplexer<T, M> {
    now: Classifier<T, M>,
    place: Option<Place<M>>,
    seed: u64,
    filters: BTreeMap<Id, Held>,
    families: Families,
    free: Vec<u32>,
    next: u64,
}

/// Executable memory, for demultiplexers that have none.
#[derive(Debug)]
pub enum NoCode {}

impl Deref for NoCode {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match *self {}
    }
}

/// A filter that was inserted.
struct Held {
    priority: i32,
    target: u32,
    parts: Vec<Part>,
}

/// One of its alternatives.
struct Part {
    family: usize,
    conditions: Vec<Condition>,
    weight: u64,
}

impl<T> Demultiplexer<T, NoCode> {
    /// A demultiplexer that isn't compiled: it walks the tree. The seed should be unpredictable for those who choose
    /// filters.
    pub fn walking(seed: u64) -> Self {
        Self::with(seed, None)
    }
}

#[cfg(all(unix, target_arch = "x86_64"))]
impl<T> Demultiplexer<T, Pages> {
    /// A demultiplexer that compiles to pages of this process. The seed should be unpredictable for those who choose
    /// filters.
    pub fn compiled(seed: u64) -> Self {
        Self::with(seed, Some(Box::new(pages)))
    }
}

impl<T, M> Demultiplexer<T, M> {
    /// A demultiplexer that compiles to memory made by `place`, executable and from then on not writable. If `place`
    /// fails, or the machine isn't an x86-64, it walks the tree. The seed should be unpredictable for those who choose
    /// filters.
    ///
    /// # Safety
    /// What `place` returns holds the same bytes, executable, which don't change or move while it lives.
    pub unsafe fn new(seed: u64, place: impl Fn(&[u8]) -> Result<M, String> + Send + Sync + 'static) -> Self {
        Self::with(seed, Some(Box::new(place)))
    }

    fn with(seed: u64, place: Option<Place<M>>) -> Self {
        let now =
            Classifier { structure: Structure::default(), targets: Arc::default(), programs: Arc::default() };
        let (filters, families) = (BTreeMap::new(), Families::default());
        Demultiplexer { now, place, seed, filters, families, free: Vec::new(), next: 0 }
    }

    /// How many filters there are.
    pub fn len(&self) -> usize {
        self.filters.len()
    }

    /// How many families the filters make: the time for a packet grows with it.
    pub fn families(&self) -> usize {
        self.families.len()
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }
}

impl<T: Clone, M: Deref<Target = [u8]>> Demultiplexer<T, M> {
    /// Inserts a filter: its packets belong to the target, unless a filter of higher rank wants them.
    pub fn insert(&mut self, filter: impl Into<Filter>, target: T) -> Result<Id, String> {
        self.insert_with_priority(0, filter, target)
    }

    /// Inserts a filter with a priority; that of [`Demultiplexer::insert`] is 0.
    pub fn insert_with_priority(
        &mut self,
        priority: i32,
        filter: impl Into<Filter>,
        target: T,
    ) -> Result<Id, String> {
        let filter = filter.into();
        let (alternatives, programs) = filter.parts()?;
        let id = Id(self.next);
        self.next += 1;
        let target = self.new_target(id, target);
        if !programs.is_empty() {
            let rank = Rank { weight: weight(priority, 0, 0), age: id.age() };
            let all = Arc::make_mut(&mut self.now.programs);
            let at = all.partition_point(|it| it.rank > rank);
            let interpreted =
                programs.iter().map(|program| Interpreted { rank, target, program: program.clone() });
            all.splice(at..at, interpreted);
        }
        self.join(id, Held { priority, target, parts: Vec::new() }, &alternatives);
        Ok(id)
    }

    /// Removes a filter. Returns its target.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        let held = self.filters.remove(&id)?;
        let mut leads_elsewhere = false;
        for Part { family, conditions, .. } in &held.parts {
            if self.now.structure.is_empty(*family) {
                continue;
            }
            let (key, _) = self.families.get(*family).split(conditions);
            self.now.structure.remove(*family, &key, held.target);
            if self.now.structure.is_empty(*family) {
                self.families.dissolve(*family);
                self.now.structure.replace(*family, None);
                leads_elsewhere = true;
            }
        }
        if leads_elsewhere {
            self.lead();
        }
        if self.now.programs.iter().any(|it| it.target == held.target) {
            Arc::make_mut(&mut self.now.programs).retain(|it| it.target != held.target);
        }
        self.free.push(held.target);
        Arc::make_mut(&mut self.now.targets)[held.target as usize].take()
    }

    /// The target of a packet: that of the filter with the highest rank that wants it.
    #[inline]
    pub fn classify(&self, packet: &[u8]) -> Option<&T> {
        self.now.classify(packet)
    }

    /// The filter that gets a packet, and its target.
    #[inline]
    pub fn find(&self, packet: &[u8]) -> Option<(Id, &T)> {
        self.now.find(packet)
    }

    /// A snapshot of the filters, to be used while they change here.
    pub fn classifier(&self) -> Classifier<T, M> {
        self.now.clone()
    }

    fn new_target(&mut self, id: Id, target: T) -> u32 {
        let targets = Arc::make_mut(&mut self.now.targets);
        let number = self.free.pop().unwrap_or_else(|| {
            // Number 0 is no target.
            targets.resize_with(targets.len().max(1) + 1, || None);
            u32::try_from(targets.len() - 1).expect("as many targets have no place in memory")
        });
        targets[number as usize] = Some(target);
        self.now.structure.set_age(number, id.age());
        number
    }

    fn join(&mut self, id: Id, mut held: Held, alternatives: &[Vec<Test>]) {
        let mut changes: BTreeMap<usize, Change> = BTreeMap::new();
        for tests in alternatives {
            let (family, change) = self.families.join(tests, held.priority);
            let known = changes.entry(family).or_insert(change);
            *known = change.max(*known);
            let bits = tests.iter().map(Test::bits).sum();
            let weight = weight(held.priority, bits, tests.len() as u32);
            let conditions = tests.iter().map(|test| test.condition).collect();
            held.parts.push(Part { family, conditions, weight });
        }
        self.filters.insert(id, held);
        for (&family, &change) in &changes {
            if change >= Change::New {
                let shape = self.families.get(family).table(self.seed);
                self.now.structure.replace(family, Some(shape));
            }
            let first = if change == Change::Split { Id(0) } else { id };
            self.fill(family, first);
        }
        if changes.values().any(|change| *change != Change::None) {
            self.lead();
        }
    }

    /// Puts the members of a family into its table, beginning with those of one filter.
    fn fill(&mut self, number: usize, first: Id) {
        let Demultiplexer { now, filters, families, .. } = self;
        let family = families.get(number);
        for held in filters.range(first..).map(|(_, held)| held) {
            for part in held.parts.iter().filter(|part| part.family == number) {
                let (key, pairs) = family.split(&part.conditions);
                now.structure.insert(number, &key, &pairs, part.weight, held.target);
            }
        }
    }

    fn lead(&mut self) {
        let tree = super::tree::Tree::new(self.families.ways());
        self.now.structure.lead(tree, self.place.as_ref());
    }
}
