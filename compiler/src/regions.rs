//! Regions: the blocks of the segment that begins at a block. They are reached from there without passing the beginning
//! of another segment.

use crate::mir::*;

/// A region of so many instructions may be repeated in each segment that reaches it.
const REPEATED: usize = 24;

/// So many segments are many.
const MANY: usize = 100;

/// Where segments begin, and what each holds.
pub struct Regions<'c> {
    code: &'c Code,
    /// For each block, whether a segment begins there.
    starts: Vec<bool>,
    /// For each loop, whether something in it may wait.
    waiting: Vec<bool>,
    /// The number of the last search that came to each block.
    seen: Vec<u32>,
    searches: u32,
    many: bool,
}

impl<'c> Regions<'c> {
    /// Begins segments where they must begin, and where several would repeat too much.
    pub fn of(code: &'c Code) -> Regions<'c> {
        let mut starts: Vec<bool> = code.blocks.iter().map(begins).collect();
        for condition in code.blocks.iter().filter_map(Block::condition) {
            starts[condition.0 as usize] = true;
        }
        let seen = vec![0; code.blocks.len()];
        let mut regions =
            Regions { code, starts, waiting: loops_that_wait(code), seen, searches: 0, many: false };
        for part in regions.parts() {
            while let Some(join) = regions.worst_repetition(&part) {
                regions.starts[join.0 as usize] = true;
            }
        }
        regions.many = regions.all_starts().len() > MANY;
        regions
    }

    /// For each block, whether a segment begins there; for each loop, whether it may wait.
    pub fn into_borders(self) -> (Vec<bool>, Vec<bool>) {
        (self.starts, self.waiting)
    }

    /// Whether a segment begins there.
    pub fn starts(&self, id: BlockId) -> bool {
        self.starts[id.0 as usize]
    }

    /// Whether there are many segments.
    pub fn are_many(&self) -> bool {
        self.many
    }

    /// All beginnings, ascending.
    pub fn all_starts(&self) -> Vec<BlockId> {
        all_blocks(self.code).filter(|&id| self.starts(id)).collect()
    }

    /// Whether control that reaches `to` inside the segment that begins at `entry` leaves the segment there.
    pub fn leaves(&self, entry: BlockId, to: BlockId) -> bool {
        leaves(self.code, &self.starts, &self.waiting, entry, to)
    }

    /// The blocks of the segment that begins there, its entry first.
    pub fn region(&mut self, entry: BlockId) -> Vec<BlockId> {
        self.searches += 1;
        let mut blocks = vec![entry];
        self.seen[entry.0 as usize] = self.searches;
        let mut next = 0;
        while next < blocks.len() {
            for to in self.code.block(blocks[next]).goes_to() {
                if !self.leaves(entry, to) && self.comes_anew(to) {
                    blocks.push(to);
                }
            }
            next += 1;
        }
        blocks
    }

    fn comes_anew(&mut self, to: BlockId) -> bool {
        std::mem::replace(&mut self.seen[to.0 as usize], self.searches) != self.searches
    }

    /// Partitions the blocks so that each segment lies within one part: repetition is counted in each part alone.
    fn parts(&mut self) -> Vec<Vec<BlockId>> {
        let mut neighbours = vec![Vec::new(); self.code.blocks.len()];
        for id in all_blocks(self.code) {
            for to in self.code.block(id).goes_to() {
                let block = self.code.block(to);
                if block.header_of.is_some() && !block.must_begin() || !self.starts(to) {
                    neighbours[id.0 as usize].push(to);
                    neighbours[to.0 as usize].push(id);
                }
            }
        }
        let mut parts = Vec::new();
        self.searches += 1;
        for id in all_blocks(self.code) {
            if !self.comes_anew(id) {
                continue;
            }
            let mut part = vec![id];
            let mut next = 0;
            while next < part.len() {
                for &other in &neighbours[part[next].0 as usize] {
                    if self.comes_anew(other) {
                        part.push(other);
                    }
                }
                next += 1;
            }
            part.sort();
            parts.push(part);
        }
        parts
    }

    /// The block at which most instructions are repeated, if they are too many: it is to begin a segment of its own.
    /// Blocks of loops that never wait are spared, because their registers would go through memory.
    fn worst_repetition(&mut self, part: &[BlockId]) -> Option<BlockId> {
        let mut held = vec![0usize; part.len()];
        let index_of = |id: &BlockId| part.binary_search(id).expect("a region stays in its part");
        for &start in part.iter().filter(|id| self.starts[id.0 as usize]).collect::<Vec<_>>() {
            self.region(start).iter().for_each(|id| held[index_of(id)] += 1);
        }
        let mut worst = None;
        let mut most = 0;
        for (&id, &count) in part.iter().zip(&held) {
            let spared = self.code.block(id).in_loop.is_some_and(|inner| !self.waiting[inner]);
            if count < 2 || self.starts(id) || spared {
                continue;
            }
            let blocks = self.region(id);
            let size: usize = blocks.iter().map(|&b| self.code.block(b).instructions.len() + 1).sum();
            let repeated = size * (count - 1);
            if size > REPEATED && repeated > 4 * REPEATED && repeated > most {
                most = repeated;
                worst = Some(id);
            }
        }
        worst
    }
}

/// See [`Regions::leaves`].
pub fn leaves(code: &Code, starts: &[bool], waiting: &[bool], entry: BlockId, to: BlockId) -> bool {
    let block = code.block(to);
    let Some(header_of) = block.header_of else {
        return starts[to.0 as usize];
    };
    if block.must_begin() {
        return true;
    }
    if to == entry || waiting[header_of] {
        return false;
    }
    let came_from = code.block(entry);
    let resumed_loop = came_from.header_of;
    if resumed_loop.is_some_and(|own| code.is_inside(Some(header_of), own)) {
        return false;
    }
    code.is_inside(came_from.in_loop, header_of) || resumed_loop.is_some()
}

fn all_blocks(code: &Code) -> impl Iterator<Item = BlockId> + use<> {
    (0..code.blocks.len() as u32).map(BlockId)
}

fn begins(block: &Block) -> bool {
    block.must_begin() || block.header_of.is_some()
}

/// For each loop, whether something in it may wait.
pub fn loops_that_wait(code: &Code) -> Vec<bool> {
    let mut waiting = vec![false; code.loops.len()];
    for block in &code.blocks {
        let waits = block.suspension.is_some() || matches!(block.end, Terminator::CallProcedure { .. });
        let mut current = block.in_loop.filter(|_| waits);
        while let Some(inner) = current {
            waiting[inner] = true;
            current = code.loops[inner].outer;
        }
    }
    waiting
}
