//! Decides which of the paths that meet at a place are merged, by the facts that they have in common.

use super::evaluator::Evaluator;
use super::facts::{Facts, LONGEST_CELL};
use super::memory::Held;
use super::merge::merge;
use super::state::{Arrival, State};
use super::stop::Stop;
use super::wanted::Wanted;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The number of facts that a merge of two paths would lose. `values` counts more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Distance {
    /// Values that both paths know, and that differ.
    values: usize,
    /// Values that only one path knows, and differences in memory.
    other: usize,
}

/// If the product of the number of versions and the size of the residual program would exceed this, fewer versions are
/// allowed, but at least `FEWEST`.
const GENEROUS: usize = 3000;
const FEWEST: usize = 2;

impl Evaluator<'_> {
    /// The paths that go on from a place, after all paths to it have arrived.
    pub fn join(&mut self, key: &[u32], arrivals: Vec<State>) -> Result<Vec<State>, Stop> {
        let mut on = Vec::new();
        for group in same_place(arrivals) {
            let (back, rest): (Vec<_>, Vec<_>) =
                group.into_iter().partition(|state| state.arrival == Arrival::Back);
            let header = rest.iter().any(|state| state.arrival == Arrival::Header);
            for class in self.classes(rest)? {
                let state = merge(class, &mut self.machine, self.wanted)?;
                on.push(if header { self.begin_loop(key, state)? } else { state });
            }
            for state in back {
                self.close_loop(key, state)?;
            }
        }
        Ok(on)
    }

    /// Divides paths at one place into classes with equal facts. If there are too many classes, the closest are joined.
    fn classes(&mut self, states: Vec<State>) -> Result<Vec<Vec<State>>, Stop> {
        let mut classes: Vec<Vec<State>> = Vec::new();
        for state in states {
            self.meter.look_at_the_clock(&self.machine.program)?;
            let same = |class: &Vec<State>| distance(&class[0], &state, self.wanted) == Distance::default();
            match classes.iter().position(same) {
                Some(class) => classes[class].push(state),
                None => classes.push(vec![state]),
            }
        }
        let most = self.most_versions();
        if classes.len() <= most {
            return Ok(classes);
        }
        let mut distances: BTreeMap<(usize, usize), Distance> = BTreeMap::new();
        for b in 1..classes.len() {
            self.meter.look_at_the_clock(&self.machine.program)?;
            for a in 0..b {
                distances.insert((a, b), distance(&classes[a][0], &classes[b][0], self.wanted));
            }
        }
        let mut left = classes.len();
        while left > most
            && let Some((a, b)) =
                distances.iter().min_by_key(|(_, distance)| **distance).map(|(pair, _)| *pair)
        {
            self.meter.look_at_the_clock(&self.machine.program)?;
            let joined = std::mem::take(&mut classes[b]);
            classes[a].extend(joined);
            distances.retain(|(x, y), _| *x != b && *y != b);
            left -= 1;
        }
        classes.retain(|class| !class.is_empty());
        Ok(classes)
    }

    /// The greatest number of versions of a place: the larger the residual program, the fewer.
    fn most_versions(&self) -> usize {
        let variants = self.meter.budget.variants;
        (GENEROUS / self.machine.residual.size.max(1)).clamp(FEWEST.min(variants), variants)
    }
}

/// The number of facts that a merge of two paths would lose.
fn distance(a: &State, b: &State, wanted: &mut Wanted) -> Distance {
    let mut distance = Distance::default();
    for depth in 0..a.frames.len() {
        let (x, y) = (&a.frames[depth].values, &b.frames[depth].values);
        if Rc::ptr_eq(x, y) {
            continue;
        }
        for value in wanted.of(a, depth).iter() {
            let (x, y) = (&x[value.0 as usize], &y[value.0 as usize]);
            if x == y || x.is_undef() || y.is_undef() {
                continue;
            }
            match (x.is_static(), y.is_static()) {
                (true, true) => distance.values += 1,
                (false, false) => {}
                _ => distance.other += 1,
            }
        }
    }
    distance.other += differing_knowledge(&a.facts, &b.facts);
    distance
}

/// The number of held cells that differ between two paths and that at least one path knows.
fn differing_knowledge(a: &Facts, b: &Facts) -> usize {
    let held = a.memory.iter().filter(|(_, contents)| !contents.real).map(|(object, _)| object);
    let differing = held.map(|object| {
        let (Some(x), Some(y)) = (a.memory.get(object), b.memory.get(object)) else { return 0 };
        if y.real {
            return 0;
        }
        let cells = a.differing_cells(b, object).into_iter().filter(|(at, size)| {
            let (x, y) = (x.pieces(*at, *size), y.pieces(*at, *size));
            let there = |pieces: &[Piece]| pieces.iter().all(|(_, _, held)| held.is_some());
            *size <= LONGEST_CELL && there(&x) && there(&y) && (is_known(&x) || is_known(&y))
        });
        cells.count()
    });
    differing.sum()
}

/// Bytes of an object: offset, size, and contents.
type Piece = (u64, u64, Option<Held>);

/// Whether one of the pieces is a known value.
fn is_known(pieces: &[Piece]) -> bool {
    pieces.iter().any(
        |(_, _, held)| matches!(held, Some(Held::Value(value, _)) if value.is_static() && !value.is_undef()),
    )
}

/// Groups paths by their chains of calls.
fn same_place(states: Vec<State>) -> Vec<Vec<State>> {
    let mut groups: Vec<Vec<State>> = Vec::new();
    for state in states {
        let same = |other: &State| {
            other.frames.len() == state.frames.len()
                && other.frames.iter().zip(state.frames.iter()).all(|(a, b)| {
                    (a.chain, a.function, a.block, a.index) == (b.chain, b.function, b.block, b.index)
                })
        };
        match groups.iter().position(|group| same(&group[0])) {
            Some(at) => groups[at].push(state),
            None => groups.push(vec![state]),
        }
    }
    groups
}
