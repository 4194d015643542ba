//! Cuts a body or procedure into segments: one function for each point where a process may be resumed, so that a switch
//! saves only live registers (*structured concurrent programs*, section 3.2).
//!
//! A segment begins at the entry, at a suspension point, after a call of a procedure that may wait, and at the header
//! of a loop where a time slice may end. It holds every block that is reached from there without passing another such
//! point. Loops that never wait lie inside the segment that enters them, so that their variables stay in registers; the
//! segment that begins at their header is used only after a preemption. Registers that are live at the beginning of a
//! segment have slots in the frame.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::fairness;
use crate::liveness::{self, Access};
use crate::mir::*;
use crate::ranges::Ranges;
use crate::regions::{self, Regions};
use crate::text::{Head, Heads};

/// A segment: the blocks of one function.
pub struct Segment {
    /// Where it begins.
    pub entry: BlockId,
    /// All its blocks, the entry first.
    pub blocks: Vec<BlockId>,
    /// Registers that any of its blocks writes.
    pub written: HashSet<Reg>,
    /// Registers that any of its blocks reads or writes.
    pub touched: HashSet<Reg>,
    /// Further suspension points that this segment tries on its way. If one has to wait, its own segment takes over.
    pub inlined: HashSet<BlockId>,
    /// It runs on the stack of the process that tests the condition.
    pub is_condition: bool,
}

/// A body or procedure, cut into segments.
pub struct Cut {
    /// What was cut.
    pub code: Code,
    /// One for each resume point, in order of their blocks.
    pub segments: Vec<Segment>,
    /// The index of the segment that begins at a block.
    by_entry: HashMap<BlockId, usize>,
    /// Registers, ascending, that are live where a segment begins.
    pub live: HashMap<BlockId, Vec<Reg>>,
    /// The slots in the frame of registers that are live where a segment begins.
    pub slots: HashMap<Reg, u32>,
    /// The predecessors of each block.
    pub predecessors: Vec<Vec<BlockId>>,
    /// The ranges of its integers.
    pub ranges: Ranges,
    /// For each block, whether a segment begins there.
    starts: Vec<bool>,
    /// For each loop, whether something in it may wait.
    waiting: Vec<bool>,
}

impl Cut {
    /// Whether control that reaches `to` inside the segment that begins at `entry` leaves the segment there.
    pub fn leaves(&self, entry: BlockId, to: BlockId) -> bool {
        regions::leaves(&self.code, &self.starts, &self.waiting, entry, to)
    }

    /// The segment that begins at a block, if any does.
    pub fn segment_at(&self, entry: BlockId) -> Option<&Segment> {
        self.by_entry.get(&entry).map(|&index| &self.segments[index])
    }

    /// Where segments begin, as that is printed.
    pub fn heads(&self) -> Heads {
        let head = |segment: &Segment| {
            let live = &self.live[&segment.entry];
            let mut trying: Vec<BlockId> = segment.inlined.iter().copied().collect();
            trying.sort();
            Head {
                is_condition: segment.is_condition,
                saved: live.iter().map(|reg| (*reg, self.slots.get(reg).copied())).collect(),
                trying,
            }
        };
        self.segments.iter().map(|segment| (segment.entry, head(segment))).collect()
    }

    /// Code that was cut already, as it was printed.
    #[cfg(test)]
    pub fn of_heads(code: Code, heads: &Heads) -> Cut {
        let mut starts = vec![false; code.blocks.len()];
        heads.keys().for_each(|entry| starts[entry.0 as usize] = true);
        let waiting = regions::loops_that_wait(&code);
        let mut regions = Regions::of(&code);
        let segments: Vec<Segment> = heads
            .iter()
            .map(|(&entry, head)| {
                let inlined: HashSet<BlockId> = head.trying.iter().copied().collect();
                let leaves = |to| regions::leaves(&code, &starts, &waiting, entry, to);
                let mut blocks = vec![entry];
                let mut next = 0;
                while next < blocks.len() {
                    let ahead = code.block(blocks[next]).goes_to();
                    for to in ahead.filter(|to| !leaves(*to) || inlined.contains(to)) {
                        if !blocks.contains(&to) {
                            blocks.push(to);
                        }
                    }
                    next += 1;
                }
                segment(&code, &mut regions, entry, blocks, inlined)
            })
            .collect();
        let by_entry = segments.iter().enumerate().map(|(index, segment)| (segment.entry, index)).collect();
        let saved = |head: &Head| head.saved.iter().map(|(reg, _)| *reg).collect();
        let live = heads.iter().map(|(entry, head)| (*entry, saved(head))).collect();
        let slots = heads.values().flat_map(|head| &head.saved).filter_map(|&(reg, slot)| Some((reg, slot?)));
        let (slots, predecessors) = (slots.collect(), liveness::predecessors(&code));
        let ranges = Ranges::new(&code);
        Cut { code, segments, by_entry, live, slots, predecessors, ranges, starts, waiting }
    }
}

/// So many suspension points are tried on a segment's way (fewer in long bodies, because each is repeated in so many
/// segments), and none after so many instructions.
const INLINED: usize = 8;
const INLINED_IN_LONG: usize = 2;
const INLINED_SIZE: usize = 160;

/// Cuts code that does not run on the processor's stack, and assigns slots to registers.
pub fn cut(mut code: Code) -> Cut {
    let predecessors = liveness::predecessors(&code);
    if !code.native {
        answer_at_once(&mut code, &predecessors);
    }
    let live = liveness::live_in(&code, &predecessors);
    let ranges = Ranges::new(&code);
    if code.native {
        let (segments, by_entry, live, slots) = Default::default();
        let (starts, waiting) = (Vec::new(), Vec::new());
        return Cut { code, segments, by_entry, live, slots, predecessors, ranges, starts, waiting };
    }
    let short = ranges.short_loops(&code);
    let giving_way = fairness::loops_that_give_way(&code, &ranges);
    for block in &mut code.blocks {
        // No time slice has to end there, so the header is a block like any other.
        block.header_of = block.header_of.filter(|&number| !short[number] && !giving_way[number]);
    }
    let mut regions = Regions::of(&code);
    let all: Vec<(BlockId, Vec<BlockId>)> =
        regions.all_starts().into_iter().map(|entry| (entry, regions.region(entry))).collect();
    let reachable = reachable_starts(&code, &all);
    let segments: Vec<Segment> = all
        .into_iter()
        .filter(|(entry, _)| reachable.contains(entry))
        .map(|(entry, blocks)| {
            let (blocks, inlined) = extend(&code, &regions, entry, blocks);
            segment(&code, &mut regions, entry, blocks, inlined)
        })
        .collect();
    let (starts, waiting) = regions.into_borders();
    let mut live = live;
    let live: HashMap<BlockId, Vec<Reg>> =
        segments.iter().map(|s| (s.entry, std::mem::take(&mut live[s.entry.0 as usize]))).collect();
    let by_entry = segments.iter().enumerate().map(|(index, segment)| (segment.entry, index)).collect();
    let slots = assign_slots(&mut code, &live);
    Cut { code, segments, by_entry, live, slots, predecessors, ranges, starts, waiting }
}

/// Turns sends that need not wait into instructions: a service that has received a message, and has sent none since,
/// finds the buffer empty.
fn answer_at_once(code: &mut Code, predecessors: &[Vec<BlockId>]) {
    let all = (0..code.blocks.len() as u32).map(BlockId);
    let at_once: Vec<BlockId> = all.filter(|&id| is_answer(code, predecessors, id)).collect();
    for id in at_once {
        let block = &mut code.blocks[id.0 as usize];
        if let Some(SuspensionPoint {
            op: SuspensionOp::Send { interface, message, payload, .. },
            location,
        }) = block.suspension.take()
        {
            block.instructions.insert(0, Inst::Room { interface, message, payload, location });
        }
    }
}

/// Whether a block begins with a send of a service, to which the only way leads from a receive of that service.
fn is_answer(code: &Code, predecessors: &[Vec<BlockId>], mut id: BlockId) -> bool {
    if !matches!(
        code.block(id).suspension,
        Some(SuspensionPoint { op: SuspensionOp::Send { reach: Reach::Service, .. }, .. })
    ) {
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
        match code.block(id).suspension {
            Some(SuspensionPoint { op: SuspensionOp::Receive { reach: Reach::Service, .. }, .. }) => {
                return true;
            }
            Some(SuspensionPoint { op: SuspensionOp::Send { reach: Reach::Service, .. }, .. }) => {
                return false;
            }
            _ => {}
        }
    }
}

/// Extends a segment that runs at home past suspension points that may not have to wait.
fn extend(
    code: &Code,
    regions: &Regions,
    entry: BlockId,
    mut blocks: Vec<BlockId>,
) -> (Vec<BlockId>, HashSet<BlockId>) {
    let mut inlined = HashSet::new();
    if code.block(entry).suspension.is_none() {
        return (blocks, inlined);
    }
    let most = if regions.are_many() { INLINED_IN_LONG } else { INLINED };
    let mut seen: HashSet<BlockId> = blocks.iter().copied().collect();
    let mut size: usize = blocks.iter().map(|&block| code.block(block).instructions.len()).sum();
    let mut next = 0;
    while next < blocks.len() {
        for to in code.block(blocks[next]).goes_to() {
            if regions.leaves(entry, to) {
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
        next += 1;
    }
    (blocks, inlined)
}

/// Whether generated code can try the operation without the runtime.
fn can_be_inlined(block: &Block) -> bool {
    let Some(point) = &block.suspension else { return false };
    match point.op {
        SuspensionOp::Input { .. }
        | SuspensionOp::Select { .. }
        | SuspensionOp::AwaitTested { .. }
        | SuspensionOp::Call { .. } => false,
        SuspensionOp::Send { .. } | SuspensionOp::Receive { .. } | SuspensionOp::Test { .. } => true,
        SuspensionOp::Lock(_)
        | SuspensionOp::Unlock { .. }
        | SuspensionOp::Home
        | SuspensionOp::Await { .. } => true,
    }
}

/// The segments that another segment, or a resumption, can go to.
fn reachable_starts(code: &Code, regions: &[(BlockId, Vec<BlockId>)]) -> HashSet<BlockId> {
    let by_entry: HashMap<BlockId, &Vec<BlockId>> =
        regions.iter().map(|(entry, blocks)| (*entry, blocks)).collect();
    let mut reached = HashSet::new();
    let mut open = code.entries();
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
    regions: &mut Regions,
    entry: BlockId,
    blocks: Vec<BlockId>,
    inlined: HashSet<BlockId>,
) -> Segment {
    let conditions: Vec<BlockId> = blocks.iter().filter_map(|&block| code.block(block).condition()).collect();
    // Conditions are tested in place too.
    let tested: Vec<BlockId> = conditions.into_iter().flat_map(|entry| regions.region(entry)).collect();
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
    let is_condition = blocks.iter().any(|&block| matches!(code.block(block).end, Terminator::Answer(_)));
    Segment { entry, blocks, written, touched, inlined, is_condition }
}

/// Registers that are live at the beginning of the same segment need different slots; any two others may share one.
fn assign_slots(code: &mut Code, live: &HashMap<BlockId, Vec<Reg>>) -> HashMap<Reg, u32> {
    let mut slots: HashMap<Reg, u32> = code.parameter_slots.iter().copied().collect();
    let sets: Vec<&Vec<Reg>> = live.values().chain([&code.parameters]).collect();
    let mut sets_of: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    let mut taken: Vec<HashSet<u32>> = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        set.iter().for_each(|&reg| sets_of.entry(reg).or_default().push(index));
        taken.push(set.iter().filter_map(|reg| slots.get(reg).copied()).collect());
    }
    let base = code.frame_size;
    for (reg, sets) in sets_of {
        if slots.contains_key(&reg) {
            continue;
        }
        let is_free = |slot: &u32| sets.iter().all(|&set| !taken[set].contains(slot));
        let slot =
            (0..).map(|index| base + 8 * index).find(is_free).expect("there are more slots than registers");
        sets.iter().for_each(|&set| _ = taken[set].insert(slot));
        slots.insert(reg, slot);
    }
    code.frame_size = slots.values().map(|slot| slot + 8).max().unwrap_or(0).max(code.frame_size);
    slots
}
