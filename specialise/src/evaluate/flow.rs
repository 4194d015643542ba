//! What the evaluator needs to know of a function's control flow: an order of its blocks in which a block comes after
//! those that lead to it, its loops, and which values are still wanted where.

use crate::ir::{BlockId, Body, Op, Operand, Terminator, ValueId};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Control flow of one function.
pub(super) struct Flow {
    /// Position of each block in reverse postorder; `u32::MAX` if it is never reached.
    pub order: Vec<u32>,
    /// The headers of the loops that each block lies in, outermost first.
    pub nest: Vec<Vec<BlockId>>,
    /// The values wanted at the start of each block after its phis, as bits.
    live: Vec<Bits>,
    /// Where each value is defined: block and index.
    definitions: OnceCell<Vec<Option<(u32, u32)>>>,
    /// Whether an address or a switch is computed from each value.
    steering: OnceCell<Vec<bool>>,
}

/// A set of values.
#[derive(Clone, PartialEq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    fn new(values: usize) -> Bits {
        Bits(vec![0; values.div_ceil(64)])
    }

    fn insert(&mut self, value: ValueId) {
        self.0[value.0 as usize / 64] |= 1 << (value.0 % 64);
    }

    fn remove(&mut self, value: ValueId) {
        self.0[value.0 as usize / 64] &= !(1 << (value.0 % 64));
    }

    fn add_all(&mut self, other: &Bits) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// The values in the set, in their order.
    pub fn iter(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(ValueId(word as u32 * 64 + bit))
            })
        })
    }
}

impl Flow {
    /// Analyses a function.
    pub fn new(body: &Body) -> Flow {
        let postorder = postorder(body);
        let mut order = vec![u32::MAX; body.blocks.len()];
        for (position, block) in postorder.iter().rev().enumerate() {
            order[block.0 as usize] = position as u32;
        }
        let predecessors = predecessors(body, &order);
        let dominators = dominators(&postorder, &order, &predecessors);
        let nest = nest(body, &order, &predecessors, &dominators);
        let live = liveness(body, &postorder);
        Flow { order, nest, live, definitions: OnceCell::new(), steering: OnceCell::new() }
    }

    /// Values wanted at the start of a block, after its phis.
    pub fn live_at(&self, block: BlockId) -> &Bits {
        &self.live[block.0 as usize]
    }

    /// Values wanted before the instruction at an index of a block.
    pub fn live_before(&self, body: &Body, block: BlockId, index: usize) -> Bits {
        let code = &body.blocks[block.0 as usize];
        let mut live = self.live_out(body, block);
        code.terminator.operand().into_iter().for_each(|operand| add(operand, &mut live));
        for instruction in code.instructions[index..].iter().rev() {
            if let Some(result) = instruction.result {
                live.remove(result);
            }
            instruction.op.operands().for_each(|operand| add(operand, &mut live));
        }
        live
    }

    fn live_out(&self, body: &Body, block: BlockId) -> Bits {
        let mut live = Bits::new(body.types.len());
        for successor in body.blocks[block.0 as usize].terminator.successors() {
            add_edge(body, block, successor, &self.live[successor.0 as usize], &mut live);
        }
        live
    }

    /// Where each value is defined: block and index; parameters have no place.
    pub fn definitions(&self, body: &Body) -> &[Option<(u32, u32)>] {
        self.definitions.get_or_init(|| {
            let mut places = vec![None; body.types.len()];
            for (block, code) in body.blocks.iter().enumerate() {
                for (index, instruction) in code.instructions.iter().enumerate() {
                    if let Some(result) = instruction.result {
                        places[result.0 as usize] = Some((block as u32, index as u32));
                    }
                }
            }
            places
        })
    }

    /// Whether an address or a switch is computed from a value.
    pub fn steers(&self, body: &Body, value: ValueId) -> bool {
        self.steering.get_or_init(|| steering(body, self.definitions(body)))[value.0 as usize]
    }

    /// Whether a block lies in the loop with that header.
    pub fn is_in(&self, block: BlockId, header: BlockId) -> bool {
        self.nest[block.0 as usize].contains(&header)
    }
}

/// Values from which, through arithmetic and phis, an address that is loaded from or a switch is computed.
fn steering(body: &Body, definitions: &[Option<(u32, u32)>]) -> Vec<bool> {
    let mut steers = vec![false; body.types.len()];
    let mut work: Vec<ValueId> = Vec::new();
    let mut begin = |operand: &Operand| {
        if let Operand::Value(value) = operand {
            work.push(*value);
        }
    };
    for block in &body.blocks {
        for instruction in &block.instructions {
            if let Op::Load { from, .. } = &instruction.op {
                begin(from);
            }
        }
        if let Terminator::Switch(value, ..) = &block.terminator {
            begin(value);
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut steers[value.0 as usize], true) {
            continue;
        }
        let Some((block, index)) = definitions[value.0 as usize] else { continue };
        let op = &body.blocks[block as usize].instructions[index as usize].op;
        if matches!(
            op,
            Op::Binary(..) | Op::Cast(..) | Op::Select(..) | Op::Address { .. } | Op::Phi(_) | Op::Freeze(_)
        ) {
            work.extend(op.operands().filter_map(|operand| match operand {
                Operand::Value(value) => Some(*value),
                Operand::Const(_) => None,
            }));
        }
    }
    steers
}

fn add(operand: &Operand, live: &mut Bits) {
    if let Operand::Value(value) = operand {
        live.insert(*value);
    }
}

/// What is wanted at the end of `from` because control may go to `to`.
fn add_edge(body: &Body, from: BlockId, to: BlockId, wanted: &Bits, live: &mut Bits) {
    let mut wanted = wanted.clone();
    let phis = body.blocks[to.0 as usize].instructions.iter().map_while(|i| match &i.op {
        Op::Phi(inputs) => Some((i.result, inputs)),
        _ => None,
    });
    let mut inputs_wanted = Vec::new();
    for (result, inputs) in phis {
        if let Some(result) = result {
            wanted.remove(result);
        }
        inputs_wanted.extend(inputs.iter().filter(|(_, block)| *block == from).map(|(input, _)| input));
    }
    inputs_wanted.into_iter().for_each(|input| add(input, &mut wanted));
    live.add_all(&wanted);
}

fn postorder(body: &Body) -> Vec<BlockId> {
    let mut seen = vec![false; body.blocks.len()];
    let mut done = Vec::new();
    let mut stack = vec![(BlockId(0), body.blocks[0].terminator.successors())];
    seen[0] = true;
    while let Some((block, left)) = stack.last_mut() {
        match left.next_back() {
            Some(next) if !seen[next.0 as usize] => {
                seen[next.0 as usize] = true;
                stack.push((next, body.blocks[next.0 as usize].terminator.successors()));
            }
            Some(_) => {}
            None => {
                done.push(*block);
                stack.pop();
            }
        }
    }
    done
}

fn predecessors(body: &Body, order: &[u32]) -> Vec<Vec<BlockId>> {
    let mut predecessors = vec![Vec::new(); body.blocks.len()];
    for (at, block) in body.blocks.iter().enumerate().filter(|(at, _)| order[*at] != u32::MAX) {
        for successor in block.terminator.successors() {
            predecessors[successor.0 as usize].push(BlockId(at as u32));
        }
    }
    predecessors
}

/// The immediate dominator of each block (Cooper, Harvey, Kennedy).
fn dominators(postorder: &[BlockId], order: &[u32], predecessors: &[Vec<BlockId>]) -> Vec<BlockId> {
    let entry = BlockId(0);
    let mut dominators: Vec<Option<BlockId>> = vec![None; order.len()];
    dominators[0] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in postorder.iter().rev().skip(1) {
            let mut new: Option<BlockId> = None;
            for predecessor in &predecessors[block.0 as usize] {
                if dominators[predecessor.0 as usize].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => *predecessor,
                    Some(other) => {
                        let (mut a, mut b) = (*predecessor, other);
                        while a != b {
                            let last =
                                if order[a.0 as usize] > order[b.0 as usize] { &mut a } else { &mut b };
                            *last = dominators[last.0 as usize].unwrap_or(entry);
                        }
                        a
                    }
                });
            }
            if dominators[block.0 as usize] != new {
                dominators[block.0 as usize] = new;
                changed = true;
            }
        }
    }
    dominators.into_iter().map(|d| d.unwrap_or(entry)).collect()
}

/// The natural loops around each block, outermost first. A cycle entered in its middle is no loop here; the evaluator's
/// budgets end it.
fn nest(
    body: &Body,
    order: &[u32],
    predecessors: &[Vec<BlockId>],
    dominators: &[BlockId],
) -> Vec<Vec<BlockId>> {
    let dominates = |a: BlockId, mut b: BlockId| loop {
        if a == b {
            return true;
        }
        if b == BlockId(0) {
            return false;
        }
        b = dominators[b.0 as usize];
    };
    let mut members: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for (at, block) in body.blocks.iter().enumerate().filter(|(at, _)| order[*at] != u32::MAX) {
        let from = BlockId(at as u32);
        for header in block.terminator.successors().filter(|to| dominates(*to, from)) {
            let inside = members.entry(header).or_insert_with(|| vec![header]);
            let mut work = vec![from];
            while let Some(block) = work.pop() {
                if !inside.contains(&block) {
                    inside.push(block);
                    work.extend(&predecessors[block.0 as usize]);
                }
            }
        }
    }
    let mut headers: Vec<_> = members.into_iter().collect();
    headers.sort_by_key(|(header, inside)| (std::cmp::Reverse(inside.len()), *header));
    let mut nest = vec![Vec::new(); body.blocks.len()];
    for (header, inside) in headers {
        inside.into_iter().for_each(|block| nest[block.0 as usize].push(header));
    }
    nest
}

fn liveness(body: &Body, postorder: &[BlockId]) -> Vec<Bits> {
    let mut flow = Flow {
        order: Vec::new(),
        nest: Vec::new(),
        live: vec![Bits::new(body.types.len()); body.blocks.len()],
        definitions: OnceCell::new(),
        steering: OnceCell::new(),
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in postorder {
            let code = &body.blocks[block.0 as usize];
            let phis = code.instructions.iter().take_while(|i| matches!(i.op, Op::Phi(_))).count();
            let live = flow.live_before(body, *block, phis);
            if flow.live[block.0 as usize] != live {
                flow.live[block.0 as usize] = live;
                changed = true;
            }
        }
    }
    flow.live
}
