//! Minimises a deterministic automaton.

use crate::program::State;
use std::collections::HashMap;

/// Merges states from which the same messages may follow. The new states are numbered breadth-first from the start.
pub fn minimise(states: &[State]) -> Vec<State> {
    renumber(states, &equivalence_classes(states))
}

/// The states' classes: two states are in one class if the same messages may follow. Hopcroft's algorithm, which
/// needs no state for errors, because from every state of a protocol its end can be reached.
fn equivalence_classes(states: &[State]) -> Vec<usize> {
    let mut incoming: Vec<Vec<(usize, usize)>> = vec![Vec::new(); states.len()];
    for (from, state) in states.iter().enumerate() {
        for &(message, to) in &state.transitions {
            incoming[to].push((message, from));
        }
    }
    let ends: Vec<usize> = (0..states.len()).filter(|&state| states[state].may_end).collect();
    let mut partition = Partition::new(states.len());
    let mut splitters = vec![0];
    splitters.extend(partition.split(&ends));
    while let Some(splitter) = splitters.pop() {
        let members = partition.members(splitter);
        let mut arrivals: Vec<_> = members.iter().flat_map(|&state| &incoming[state]).copied().collect();
        arrivals.sort_unstable();
        for same_message in arrivals.chunk_by(|a, b| a.0 == b.0) {
            let sources: Vec<usize> = same_message.iter().map(|&(_, from)| from).collect();
            // To have split by a whole class and by its smaller part is to have split by the other part too;
            // if the whole still waits, so does what is left of it.
            splitters.extend(partition.split(&sources));
        }
    }
    partition.class
}

/// A partition of 0..n that can be refined.
struct Partition {
    /// All elements, those of a class together.
    order: Vec<usize>,
    /// Where each element is in `order`.
    place: Vec<usize>,
    /// The class of each element.
    class: Vec<usize>,
    /// Where each class is in `order`.
    range: Vec<std::ops::Range<usize>>,
    /// How many elements of each class are marked; 0 outside `split`. They come first in their class.
    marked: Vec<usize>,
}

impl Partition {
    fn new(n: usize) -> Self {
        Partition {
            order: (0..n).collect(),
            place: (0..n).collect(),
            class: vec![0; n],
            range: std::iter::once(0..n).collect(),
            marked: vec![0],
        }
    }

    fn members(&self, class: usize) -> &[usize] {
        &self.order[self.range[class].clone()]
    }

    /// Separates these elements (each given once) from the rest of their classes. Gives the new classes. If a class is
    /// split, its smaller part becomes the new class.
    fn split(&mut self, elements: &[usize]) -> Vec<usize> {
        let mut touched = Vec::new();
        for &element in elements {
            let class = self.class[element];
            if self.marked[class] == 0 {
                touched.push(class);
            }
            self.swap(self.place[element], self.range[class].start + self.marked[class]);
            self.marked[class] += 1;
        }
        let mut new = Vec::new();
        for class in touched {
            let all = self.range[class].clone();
            let middle = all.start + std::mem::take(&mut self.marked[class]);
            if middle == all.end {
                continue;
            }
            let (front, back) = (all.start..middle, middle..all.end);
            let (kept, leaving) = if front.len() < back.len() { (back, front) } else { (front, back) };
            for &element in &self.order[leaving.clone()] {
                self.class[element] = self.range.len();
            }
            new.push(self.range.len());
            self.range[class] = kept;
            self.range.push(leaving);
            self.marked.push(0);
        }
        new
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.order.swap(a, b);
        self.place[self.order[a]] = a;
        self.place[self.order[b]] = b;
    }
}

/// One state for each class, numbered breadth-first from the start.
fn renumber(states: &[State], class: &[usize]) -> Vec<State> {
    let mut number = HashMap::from([(class[0], 0)]);
    let mut representatives = vec![0];
    let mut minimal = Vec::new();
    while let Some(&representative) = representatives.get(minimal.len()) {
        let State { transitions, may_end } = &states[representative];
        let mut renumbered = Vec::with_capacity(transitions.len());
        for &(message, to) in transitions {
            let target = *number.entry(class[to]).or_insert_with(|| {
                representatives.push(to);
                representatives.len() - 1
            });
            renumbered.push((message, target));
        }
        minimal.push(State { transitions: renumbered, may_end: *may_end });
    }
    minimal
}
