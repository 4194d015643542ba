//! The control flow of a function, as the evaluator needs it: reverse postorder, loops, liveness.

use crate::account::Room;
use crate::graph::{Graph, successors};
use crate::ir::{BlockId, Body, Op, Operand, Terminator, ValueId};
use std::cell::OnceCell;
use std::cmp::Reverse;

/// The entry block of a function. No block has an edge to it, so as a loop header it stands for the function's
/// recursion.
pub(super) const ENTRY: BlockId = BlockId(0);

/// Control flow of one function.
pub(super) struct Flow {
    /// Position of each block in reverse postorder; `u32::MAX` if it is never reached.
    pub order: Vec<u32>,
    /// The headers of the loops that each block lies in, outermost first.
    pub nest: Vec<Vec<BlockId>>,
    /// The values live at the start of each block, after its phis.
    live: Vec<Bits>,
    _room: Room,
    /// The block and index at which each value is defined.
    definitions: OnceCell<Vec<Option<(usize, usize)>>>,
    /// Whether an address or the value of a switch is computed from each value.
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

    /// The values in the set, in ascending order.
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
    /// Analyses a function. Fails if the result, which may grow with the square of the function's size, exceeds `room`.
    pub fn new(body: &Body, room: Room) -> Result<Flow, String> {
        room.take(body.blocks.len() as u64 * (body.types.len() as u64 / 8 + size_of::<Bits>() as u64))?;
        let graph = Graph::of(successors(body));
        let order = graph.position.iter().map(|at| at.map_or(u32::MAX, |at| at as u32)).collect();
        let nest = nest(&graph);
        let live = liveness(body, &graph);
        Ok(Flow { order, nest, live, _room: room, definitions: OnceCell::new(), steering: OnceCell::new() })
    }

    /// The values live at the start of a block, after its phis.
    pub fn live_at(&self, block: BlockId) -> &Bits {
        &self.live[block.0 as usize]
    }

    /// The values live before the instruction at an index of a block.
    pub fn live_before(&self, body: &Body, block: BlockId, index: usize) -> Bits {
        live_before(&self.live, body, block, index)
    }

    /// The block and index at which each value is defined; `None` for parameters.
    pub fn definitions(&self, body: &Body) -> &[Option<(usize, usize)>] {
        self.definitions.get_or_init(|| body.definitions())
    }

    /// Whether an address or the value of a switch is computed from a value.
    pub fn steers(&self, body: &Body, value: ValueId) -> bool {
        self.steering.get_or_init(|| steering(body, self.definitions(body)))[value.0 as usize]
    }

    /// Whether a block lies in the loop with this header. All blocks lie in the loop of the function's recursion.
    pub fn is_in(&self, block: BlockId, header: BlockId) -> bool {
        header == ENTRY || self.nest[block.0 as usize].contains(&header)
    }
}

/// The values from which, through arithmetic and phis, an address of a load or the value of a switch is computed.
fn steering(body: &Body, definitions: &[Option<(usize, usize)>]) -> Vec<bool> {
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
        let op = &body.blocks[block].instructions[index].op;
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

/// Adds to `live` the values that are live at the end of `from` because of its edge to `to`.
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

/// The headers of the loops around each block, outermost first. A cycle with several entries is not a loop here; the
/// evaluator's budgets end its evaluation.
fn nest(graph: &Graph) -> Vec<Vec<BlockId>> {
    let mut loops: Vec<_> = graph.loops.iter().collect();
    loops.sort_by_key(|(_, members)| Reverse(members.len()));
    let mut nest = vec![Vec::new(); graph.position.len()];
    for (header, members) in loops {
        members.iter().for_each(|block| nest[*block].push(BlockId(*header as u32)));
    }
    nest
}

/// The values live before an instruction, from those live at the start of each block.
fn live_before(wanted: &[Bits], body: &Body, block: BlockId, index: usize) -> Bits {
    let code = &body.blocks[block.0 as usize];
    let mut live = live_out(wanted, body, block);
    code.terminator.operand().into_iter().for_each(|operand| add(operand, &mut live));
    for instruction in code.instructions[index..].iter().rev() {
        if let Some(result) = instruction.result {
            live.remove(result);
        }
        instruction.op.operands().for_each(|operand| add(operand, &mut live));
    }
    live
}

fn live_out(wanted: &[Bits], body: &Body, block: BlockId) -> Bits {
    let mut live = Bits::new(body.types.len());
    for successor in body.blocks[block.0 as usize].terminator.successors() {
        add_edge(body, block, successor, &wanted[successor.0 as usize], &mut live);
    }
    live
}

fn liveness(body: &Body, graph: &Graph) -> Vec<Bits> {
    let mut wanted = vec![Bits::new(body.types.len()); body.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in graph.order.iter().rev() {
            let code = &body.blocks[block];
            let phis = code.phi_count();
            let live = live_before(&wanted, body, BlockId(block as u32), phis);
            if wanted[block] != live {
                wanted[block] = live;
                changed = true;
            }
        }
    }
    wanted
}
