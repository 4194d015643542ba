//! Cuts a body or procedure into segments: one function for each point where a process may be resumed (paper 004,
//! section 3.2: a switch saves only what is needed).
//!
//! A segment begins at a head, at the entry, after a call of a procedure that may wait, or at a loop where a time
//! slice may end, and holds every block that is reached from there without passing another such point. Loops that
//! never wait are inside the segment that enters them, so that their variables stay in registers; the segment that
//! begins at their header is used only after a preemption. What is live at the beginning of a segment has a slot in
//! the frame.

use std::collections::{HashMap, HashSet};

use crate::liveness::{self, Access};
use crate::mir::*;
use crate::ranges::Ranges;

/// One function.
pub struct Segment {
    /// Where it begins.
    pub entry: BlockId,
    /// All its blocks, the entry first.
    pub blocks: Vec<BlockId>,
    /// Registers that any of its blocks writes.
    pub written: HashSet<Reg>,
    /// Registers that any of its blocks reads or writes.
    pub touched: HashSet<Reg>,
    /// Heads on the way that are tried here as well: only if one has to wait, its own segment takes over.
    pub inlined: HashSet<BlockId>,
    /// It runs on the stack of whoever tests the condition.
    pub is_condition: bool,
}

/// A piece of code, cut.
pub struct Cut {
    /// What was cut.
    pub code: Code,
    /// One for each resume point, in order of their blocks.
    pub segments: Vec<Segment>,
    /// Registers, ascending, that are live where a segment begins.
    pub live: HashMap<BlockId, Vec<Reg>>,
    /// Where registers lie in the frame that outlive a segment.
    pub slots: HashMap<Reg, u32>,
    /// Blocks that begin a segment.
    pub starts: HashSet<BlockId>,
    /// The blocks that each block can be reached from.
    pub predecessors: Vec<Vec<BlockId>>,
    /// Between which bounds its integers lie.
    pub ranges: Ranges,
    /// For each loop, whether something in it may wait.
    waiting: Vec<bool>,
}

impl Cut {
    /// Whether control that reaches `to` inside the segment that begins at `entry` leaves the segment there.
    pub fn leaves(&self, entry: BlockId, to: BlockId) -> bool {
        leaves(&self.code, &self.starts, &self.waiting, entry, to)
    }
}

/// Instructions up to which a region is repeated in each segment that reaches it.
const REPEATED: usize = 24;

/// Heads that a segment tries on its way (fewer in long bodies, for each is repeated so often), and the instructions
/// after which it tries no more of them.
const INLINED: usize = 8;
const INLINED_IN_LONG: usize = 2;
const LONG: usize = 100;
const INLINED_SIZE: usize = 160;

/// Cuts code that is not native; gives every register a slot that needs one.
pub fn cut(mut code: Code) -> Cut {
    let predecessors = liveness::predecessors(&code);
    if !code.native {
        answer_at_once(&mut code, &predecessors);
    }
    let uses = liveness::uses(&code);
    let live = liveness::live_in(&code, &uses);
    let ranges = Ranges::new(&code);
    if code.native {
        return Cut {
            code,
            segments: Vec::new(),
            live: HashMap::new(),
            slots: HashMap::new(),
            starts: HashSet::new(),
            predecessors,
            ranges,
            waiting: Vec::new(),
        };
    }
    let short = ranges.short_loops(&code);
    for block in &mut code.blocks {
        // No time slice ends in a short loop, so its header is a block like any other.
        block.header_of = block.header_of.filter(|&number| !short[number]);
    }
    let conditions: HashSet<BlockId> = code.blocks.iter().filter_map(condition_of).collect();
    let mut starts: HashSet<BlockId> =
        (0..code.blocks.len() as u32).map(BlockId).filter(|&b| begins(&code, b)).collect();
    starts.extend(&conditions);
    let waiting = loops_that_wait(&code);
    let mut regions = all_regions(&code, &starts, &waiting);
    while let Some(join) = worst_repetition(&code, &regions, &starts, &waiting) {
        starts.insert(join);
        regions = all_regions(&code, &starts, &waiting);
    }
    let reachable = reachable_starts(&code, &regions);
    let segments: Vec<Segment> = regions
        .into_iter()
        .filter(|(entry, _)| reachable.contains(entry))
        .map(|(entry, blocks)| {
            let (blocks, inlined) = extend(&code, &starts, &waiting, entry, blocks);
            // Conditions are tested in place too.
            let tested = blocks.iter().filter_map(|&block| condition_of(code.block(block)));
            let tested = tested.flat_map(|entry| region(&code, &starts, &waiting, entry)).collect();
            segment(&code, entry, blocks, tested, inlined, conditions.contains(&entry))
        })
        .collect();
    let live = starts.iter().map(|&start| (start, live[start.0 as usize].iter().collect())).collect();
    let slots = assign_slots(&mut code, &segments, &live);
    Cut { code, segments, live, slots, starts, predecessors, ranges, waiting }
}

/// Finds the sends that need not wait: a service that has received a message, and has sent nothing since, finds the
/// buffer empty.
fn answer_at_once(code: &mut Code, predecessors: &[Vec<BlockId>]) {
    let at_once: Vec<BlockId> =
        (0..code.blocks.len() as u32).map(BlockId).filter(|&id| is_answer(code, predecessors, id)).collect();
    for id in at_once {
        let block = &mut code.blocks[id.0 as usize];
        if let Some(Head { op: HeadOp::Send { interface, message, payload, .. }, place }) = block.head.take()
        {
            block.instructions.insert(0, Inst::Room { interface, message, payload, place });
        }
    }
}

/// Whether a block begins with a send of a service, and the only way to it comes straight from a receive of its.
fn is_answer(code: &Code, predecessors: &[Vec<BlockId>], mut id: BlockId) -> bool {
    if !matches!(code.block(id).head, Some(Head { op: HeadOp::Send { reach: Reach::Service, .. }, .. })) {
        return false;
    }
    loop {
        let (block, [before]) = (code.block(id), &predecessors[id.0 as usize][..]) else { return false };
        if block.entry || block.header_of.is_some() {
            return false;
        }
        id = *before;
        if matches!(code.block(id).end, Terminator::CallProcedure { .. }) {
            return false;
        }
        match code.block(id).head {
            Some(Head { op: HeadOp::Receive { reach: Reach::Service, .. }, .. }) => return true,
            Some(Head { op: HeadOp::Send { reach: Reach::Service, .. }, .. }) => return false,
            _ => {}
        }
    }
}

fn condition_of(block: &Block) -> Option<BlockId> {
    match &block.head {
        Some(Head { op: HeadOp::Await(condition), .. }) => Some(*condition),
        _ => None,
    }
}

fn begins(code: &Code, id: BlockId) -> bool {
    let block = code.block(id);
    block.head.is_some() || block.entry || block.header_of.is_some()
}

/// For each loop, whether something in it may wait.
fn loops_that_wait(code: &Code) -> Vec<bool> {
    let mut waiting = vec![false; code.loops.len()];
    for block in &code.blocks {
        let waits = block.head.is_some() || matches!(block.end, Terminator::CallProcedure { .. });
        let mut current = block.in_loop.filter(|_| waits);
        while let Some(inner) = current {
            waiting[inner] = true;
            current = code.loops[inner].outer;
        }
    }
    waiting
}

fn leaves(code: &Code, starts: &HashSet<BlockId>, waiting: &[bool], entry: BlockId, to: BlockId) -> bool {
    let block = code.block(to);
    let Some(header_of) = block.header_of else {
        return starts.contains(&to);
    };
    if block.head.is_some() || block.entry {
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

fn region(code: &Code, starts: &HashSet<BlockId>, waiting: &[bool], entry: BlockId) -> Vec<BlockId> {
    let mut blocks = vec![entry];
    let mut seen = HashSet::from([entry]);
    let mut next = 0;
    while next < blocks.len() {
        let block = code.block(blocks[next]);
        next += 1;
        let inside = match &block.end {
            Terminator::Goto(to) => vec![*to],
            Terminator::Branch { yes, no, .. } => vec![*yes, *no],
            _ => Vec::new(),
        };
        for to in inside {
            if !leaves(code, starts, waiting, entry, to) && seen.insert(to) {
                blocks.push(to);
            }
        }
    }
    blocks
}

/// Lets a segment that runs at home go on past heads that need not wait.
fn extend(
    code: &Code,
    starts: &HashSet<BlockId>,
    waiting: &[bool],
    entry: BlockId,
    mut blocks: Vec<BlockId>,
) -> (Vec<BlockId>, HashSet<BlockId>) {
    let mut inlined = HashSet::new();
    let most = if starts.len() > LONG { INLINED_IN_LONG } else { INLINED };
    if code.block(entry).head.is_none() {
        return (blocks, inlined);
    }
    let mut seen: HashSet<BlockId> = blocks.iter().copied().collect();
    let mut size: usize = blocks.iter().map(|&block| code.block(block).instructions.len()).sum();
    let mut next = 0;
    while next < blocks.len() {
        let inside = match &code.block(blocks[next]).end {
            Terminator::Goto(to) => vec![*to],
            Terminator::Branch { yes, no, .. } => vec![*yes, *no],
            _ => Vec::new(),
        };
        next += 1;
        for to in inside {
            if leaves(code, starts, waiting, entry, to) {
                if !can_be_inlined(code.block(to)) || inlined.len() >= most || size > INLINED_SIZE {
                    continue;
                }
                inlined.insert(to);
            }
            if seen.insert(to) {
                size += code.block(to).instructions.len();
                blocks.push(to);
            }
        }
    }
    (blocks, inlined)
}

/// Whether generated code can tell by itself that the operation needs no runtime.
fn can_be_inlined(block: &Block) -> bool {
    let Some(head) = &block.head else { return false };
    match head.op {
        HeadOp::Input { .. } | HeadOp::Call { .. } => false,
        HeadOp::Send { .. } | HeadOp::Receive { .. } | HeadOp::Test { .. } => true,
        HeadOp::Lock(_) | HeadOp::Unlock(_) | HeadOp::Home | HeadOp::Await(_) => true,
    }
}

fn all_regions(code: &Code, starts: &HashSet<BlockId>, waiting: &[bool]) -> Vec<(BlockId, Vec<BlockId>)> {
    let mut entries: Vec<BlockId> = starts.iter().copied().collect();
    entries.sort();
    entries.into_iter().map(|entry| (entry, region(code, starts, waiting, entry))).collect()
}

/// A block after which too much is repeated in too many segments: it should begin a segment of its own. Blocks of
/// loops that never wait are spared, their registers would go through memory.
fn worst_repetition(
    code: &Code,
    regions: &[(BlockId, Vec<BlockId>)],
    starts: &HashSet<BlockId>,
    waiting: &[bool],
) -> Option<BlockId> {
    let mut held = vec![0usize; code.blocks.len()];
    for (_, blocks) in regions {
        blocks.iter().for_each(|block| held[block.0 as usize] += 1);
    }
    let mut worst = None;
    let mut most = 0;
    for (index, &count) in held.iter().enumerate() {
        let id = BlockId(index as u32);
        let spared = code.block(id).in_loop.is_some_and(|inner| !waiting[inner]);
        if count < 2 || starts.contains(&id) || spared {
            continue;
        }
        let size: usize =
            region(code, starts, waiting, id).iter().map(|b| code.block(*b).instructions.len() + 1).sum();
        let repeated = size * (count - 1);
        if size > REPEATED && repeated > 4 * REPEATED && repeated > most {
            most = repeated;
            worst = Some(id);
        }
    }
    worst
}

/// Segments that some other segment, or a resumption, can begin.
fn reachable_starts(code: &Code, regions: &[(BlockId, Vec<BlockId>)]) -> HashSet<BlockId> {
    let by_entry: HashMap<BlockId, &Vec<BlockId>> =
        regions.iter().map(|(entry, blocks)| (*entry, blocks)).collect();
    let mut reached = HashSet::new();
    let mut open = vec![BlockId(0)];
    while let Some(entry) = open.pop() {
        if !reached.insert(entry) {
            continue;
        }
        for block in by_entry[&entry] {
            let ahead = code.block(*block).successors();
            // Loop headers inside the segment begin the segment that is used after a preemption.
            open.extend(ahead.into_iter().filter(|to| by_entry.contains_key(to)));
        }
    }
    reached
}

fn segment(
    code: &Code,
    entry: BlockId,
    blocks: Vec<BlockId>,
    tested: Vec<BlockId>,
    inlined: HashSet<BlockId>,
    is_condition: bool,
) -> Segment {
    let mut written = HashSet::new();
    let mut touched = HashSet::new();
    for block in blocks.iter().chain(&tested) {
        liveness::visit(code.block(*block), &mut |reg, access: Access| {
            touched.insert(reg);
            if access == Access::Write {
                written.insert(reg);
            }
        });
    }
    Segment { entry, blocks, written, touched, inlined, is_condition }
}

/// Registers that are live at the same beginning need different slots; others may share one.
fn assign_slots(
    code: &mut Code,
    segments: &[Segment],
    live: &HashMap<BlockId, Vec<Reg>>,
) -> HashMap<Reg, u32> {
    let mut slots: HashMap<Reg, u32> = code.parameter_slots.iter().copied().collect();
    let mut neighbours: HashMap<Reg, HashSet<Reg>> = HashMap::new();
    let mut sets: Vec<Vec<Reg>> = segments.iter().map(|s| live[&s.entry].clone()).collect();
    sets.push(code.parameters.clone());
    for set in &sets {
        for &reg in set {
            neighbours.entry(reg).or_default().extend(set.iter().copied().filter(|&other| other != reg));
        }
    }
    let mut regs: Vec<Reg> = neighbours.keys().copied().collect();
    regs.sort();
    for reg in regs {
        if slots.contains_key(&reg) {
            continue;
        }
        let taken: HashSet<u32> =
            neighbours[&reg].iter().filter_map(|other| slots.get(other).copied()).collect();
        let base = code.frame_size;
        let first_free = (0..).map(|index| base + 8 * index).find(|slot| !taken.contains(slot));
        slots.insert(reg, first_free.expect("there are more slots than registers"));
    }
    code.frame_size = slots.values().map(|slot| slot + 8).max().unwrap_or(0).max(code.frame_size);
    slots
}
