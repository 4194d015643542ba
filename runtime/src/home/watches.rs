//! What is watched, and by whom: for processes that wait for the first of several things.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ptr::null_mut;

use crate::layout::{Communication, Instance, Process};

/// Where something may happen that a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A message may come, or the end.
    Communication(*mut Communication),
    /// The component's connections may change.
    Connections(*mut Instance),
}

/// An alarm, by its time and number.
pub type Alarm = (i64, i64);

/// All that one process watches.
#[derive(Debug, PartialEq, Eq)]
pub struct Watch {
    /// Where.
    pub places: Vec<Place>,
    /// The end of its wait.
    pub alarm: Option<Alarm>,
}

/// Processes and what they watch.
pub struct Watches {
    of: BTreeMap<*mut Process, Watch>,
    at: BTreeSet<(Place, *mut Process)>,
    random: u64,
}

impl Watches {
    /// Nobody watches.
    pub const fn new() -> Watches {
        Watches { of: BTreeMap::new(), at: BTreeSet::new(), random: 0x9E37_79B9_7F4A_7C15 }
    }

    /// Whether nobody watches anything.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether a process watches.
    pub fn has(&self, p: *mut Process) -> bool {
        self.of.contains_key(&p)
    }

    /// A process that doesn't watch yet begins to.
    pub fn add(&mut self, p: *mut Process, watch: Watch) {
        self.at.extend(watch.places.iter().map(|&place| (place, p)));
        let before = self.of.insert(p, watch);
        debug_assert!(before.is_none(), "a process begins to watch once");
    }

    /// A process stops watching; `None`: it did not.
    pub fn take(&mut self, p: *mut Process) -> Option<Watch> {
        let watch = self.of.remove(&p)?;
        for &place in &watch.places {
            self.at.remove(&(place, p));
        }
        Some(watch)
    }

    /// The processes that watch.
    pub fn processes(&self) -> impl Iterator<Item = *mut Process> {
        self.of.keys().copied()
    }

    /// Takes out the processes for which `moves` holds.
    pub fn split(&mut self, mut moves: impl FnMut(*mut Process) -> bool) -> Watches {
        let mut taken = Watches::new();
        let moving: Vec<*mut Process> = self.processes().filter(|&p| moves(p)).collect();
        for p in moving {
            if let Some(watch) = self.take(p) {
                taken.add(p, watch);
            }
        }
        taken
    }

    /// Takes over what others watch.
    pub fn merge(&mut self, other: Watches) {
        for (p, watch) in other.of {
            self.add(p, watch);
        }
    }

    /// Some process that watches a place.
    pub fn first_at(&self, place: Place) -> Option<*mut Process> {
        let &(first, p) = self.at.range((place, null_mut())..).next()?;
        (first == place).then_some(p)
    }

    /// A number below this one, which is positive. All are equally likely, so that nothing is starved that is ready
    /// again and again.
    pub fn below(&mut self, number: usize) -> usize {
        // Xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((u128::from(self.random) * number as u128) >> 64) as usize
    }
}

impl Default for Watches {
    fn default() -> Watches {
        Watches::new()
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::without_provenance_mut;

    use super::*;

    fn process(number: usize) -> *mut Process {
        without_provenance_mut(64 * number)
    }

    fn place(number: usize) -> Place {
        Place::Communication(without_provenance_mut(4096 + 64 * number))
    }

    #[test]
    fn a_process_is_found_at_each_of_its_places_until_it_is_taken() {
        let mut watches = Watches::new();
        watches.add(process(1), Watch { places: [place(1), place(2), place(2)].into(), alarm: Some((5, 1)) });
        watches.add(process(2), Watch { places: [place(2), place(3)].into(), alarm: None });
        assert_eq!(watches.first_at(place(1)), Some(process(1)));
        assert_eq!(watches.first_at(place(2)), Some(process(1)));
        let taken = watches.take(process(1)).expect("it watches");
        assert_eq!(taken.alarm, Some((5, 1)));
        assert_eq!(watches.take(process(1)), None);
        assert_eq!(watches.first_at(place(1)), None);
        assert_eq!(watches.first_at(place(2)), Some(process(2)));
        assert!(watches.take(process(2)).is_some() && watches.is_empty());
        assert_eq!(watches.first_at(place(3)), None);
    }

    #[test]
    fn connections_are_told_from_communications() {
        let mut watches = Watches::new();
        let here = Place::Connections(without_provenance_mut(4096));
        watches.add(process(1), Watch { places: [here].into(), alarm: None });
        assert_eq!(watches.first_at(place(0)), None);
        assert_eq!(watches.first_at(here), Some(process(1)));
    }

    #[test]
    fn choices_are_even() {
        let mut watches = Watches::new();
        let mut counts = [0; 3];
        (0..3000).for_each(|_| counts[watches.below(3)] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
