//! A function's control flow as a graph: reverse postorder, dominators, loops. It knows nothing of instructions.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::Body;

/// A graph of blocks. The first block is the entry; unreachable blocks are not part of the graph.
pub struct Graph {
    /// The successors of each block, as given.
    pub successors: Vec<Vec<usize>>,
    /// The predecessors of each block, once for each edge.
    pub predecessors: Vec<Vec<usize>>,
    /// The blocks in reverse postorder.
    pub order: Vec<usize>,
    /// The position of each block in `order`; `None` if it is unreachable.
    pub position: Vec<Option<usize>>,
    /// The immediate dominator of each block; the entry's is itself.
    pub dominator: Vec<usize>,
    /// The blocks that each block dominates immediately, in reverse postorder.
    pub children: Vec<Vec<usize>>,
    /// The times at which a walk of the dominator tree enters and leaves each block; `None` if the block is
    /// unreachable.
    spans: Vec<Option<(usize, usize)>>,
    /// The blocks of each loop, by header.
    pub loops: BTreeMap<usize, BTreeSet<usize>>,
    /// The number of loops that contain each block.
    pub depth: Vec<usize>,
}

/// The successors of each block of a body, according to its terminator.
pub fn successors(body: &Body) -> Vec<Vec<usize>> {
    let blocks = body.blocks.iter();
    blocks.map(|block| block.terminator.successors().map(|to| to.0 as usize).collect()).collect()
}

impl Graph {
    /// The graph with these successors. A successor that is named first also comes first in `order`, if possible.
    pub fn of(successors: Vec<Vec<usize>>) -> Graph {
        let mut graph = Graph::without_loops(successors);
        graph.find_loops();
        graph
    }

    /// The same, but without loops: `loops` is empty, and `depth` 0 everywhere. It takes no memory for the blocks of
    /// loops.
    pub fn without_loops(successors: Vec<Vec<usize>>) -> Graph {
        let count = successors.len();
        let order = reverse_postorder(&successors);
        let mut position = vec![None; count];
        for (at, &block) in order.iter().enumerate() {
            position[block] = Some(at);
        }
        let mut predecessors = vec![Vec::new(); count];
        for &block in &order {
            for &to in &successors[block] {
                predecessors[to].push(block);
            }
        }
        let dominator = dominators(&order, &position, &predecessors);
        let mut children = vec![Vec::new(); count];
        for &block in order.iter().skip(1) {
            children[dominator[block]].push(block);
        }
        let spans = spans(&order, &children);
        Graph {
            successors,
            predecessors,
            order,
            position,
            dominator,
            children,
            spans,
            loops: BTreeMap::new(),
            depth: vec![0; count],
        }
    }

    /// Whether every path to `block` passes `over`.
    pub fn dominates(&self, over: usize, block: usize) -> bool {
        match (self.spans[over], self.spans[block]) {
            (Some((from, to)), Some((at, _))) => (from..=to).contains(&at),
            _ => false,
        }
    }

    /// The predecessors of a block other than those at the ends of its loop.
    pub fn entries(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.predecessors[block].iter().copied().filter(move |&from| !self.dominates(block, from))
    }

    /// Whether a cycle has more than one entry.
    pub fn is_irreducible(&self) -> bool {
        self.order
            .iter()
            .any(|&block| self.entries(block).any(|from| self.position[from] >= self.position[block]))
    }

    /// The blocks on cycles, whether a cycle is a loop or has several entries.
    pub fn on_cycles(&self) -> Vec<bool> {
        // Kosaraju's algorithm: the blocks that lead to the first remaining block of the order lie on a cycle with it.
        let mut component = vec![None; self.position.len()];
        let mut sizes = vec![0; self.position.len()];
        for &first in &self.order {
            let mut pending = vec![first];
            while let Some(block) = pending.pop() {
                if component[block].is_none() {
                    component[block] = Some(first);
                    sizes[first] += 1;
                    pending.extend(&self.predecessors[block]);
                }
            }
        }
        let returns = |(block, first): (usize, &Option<usize>)| {
            first.is_some_and(|first| sizes[first] > 1) || self.successors[block].contains(&block)
        };
        component.iter().enumerate().map(returns).collect()
    }

    fn find_loops(&mut self) {
        for &header in &self.order {
            let latches: Vec<usize> = self.predecessors[header]
                .iter()
                .copied()
                .filter(|&from| self.dominates(header, from))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut members = BTreeSet::from([header]);
            let mut pending = latches;
            while let Some(block) = pending.pop() {
                if members.insert(block) {
                    pending.extend(&self.predecessors[block]);
                }
            }
            self.loops.insert(header, members);
        }
        for members in self.loops.values() {
            for &block in members {
                self.depth[block] += 1;
            }
        }
    }
}

/// The times of entry and exit in a walk of the dominator tree, see [`Graph`].
fn spans(order: &[usize], children: &[Vec<usize>]) -> Vec<Option<(usize, usize)>> {
    let mut spans = vec![None; children.len()];
    let mut time = 0;
    let mut open: Vec<(usize, usize, usize)> = Vec::new(); // a block, its next child, and the time of entry
    open.extend(order.first().map(|entry| (*entry, 0, 0)));
    while let Some((block, child, since)) = open.pop() {
        match children[block].get(child) {
            Some(next) => {
                time += 1;
                open.extend([(block, child + 1, since), (*next, 0, time)]);
            }
            None => spans[block] = Some((since, time)),
        }
    }
    spans
}

/// The reachable blocks, each after its predecessors except around loops.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut stack = Vec::new();
    if !successors.is_empty() {
        seen[0] = true;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.pop() {
        // The last target comes first, so that in the reversed order the first target follows its branch directly.
        match successors[block].iter().rev().nth(next) {
            None => order.push(block),
            Some(&to) => {
                stack.push((block, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

/// Cooper, Harvey and Kennedy's iteration.
fn dominators(order: &[usize], position: &[Option<usize>], predecessors: &[Vec<usize>]) -> Vec<usize> {
    let mut found: Vec<Option<usize>> = vec![None; order.len()];
    if !order.is_empty() {
        found[0] = Some(0);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..order.len() {
            let mut common: Option<usize> = None;
            for from in predecessors[order[at]].iter().filter_map(|&from| position[from]) {
                if found[from].is_none() {
                    continue;
                }
                common = Some(common.map_or(from, |other| meet(&found, from, other)));
            }
            if common != found[at] {
                found[at] = common;
                changed = true;
            }
        }
    }
    let mut dominator: Vec<usize> = (0..position.len()).collect();
    for (at, over) in found.iter().enumerate() {
        dominator[order[at]] = order[over.unwrap_or(at)];
    }
    dominator
}

fn meet(found: &[Option<usize>], mut one: usize, mut other: usize) -> usize {
    while one != other {
        if one > other {
            one = found[one].unwrap_or(0);
        } else {
            other = found[other].unwrap_or(0);
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::Graph;

    fn on_cycles(successors: &[&[usize]]) -> Vec<usize> {
        let graph = Graph::of(successors.iter().map(|to| to.to_vec()).collect());
        graph.on_cycles().iter().enumerate().filter(|(_, on)| **on).map(|(block, _)| block).collect()
    }

    #[test]
    fn cycles_are_found_however_they_are_entered() {
        // An exit between the header of a loop and its end.
        assert_eq!(on_cycles(&[&[1], &[2, 3], &[], &[1]]), [1, 3]);
        assert_eq!(on_cycles(&[&[1], &[1, 2], &[]]), [1]);
        // Two consecutive loops, the second with an inner one.
        assert_eq!(on_cycles(&[&[1], &[1, 2], &[3], &[4], &[4, 5], &[3, 6], &[]]), [1, 3, 4, 5]);
        // A cycle with two entries; and an unreachable cycle.
        assert_eq!(on_cycles(&[&[1, 2], &[2, 3], &[1], &[], &[3]]), [1, 2]);
        assert_eq!(on_cycles(&[&[]]), []);
    }
}
