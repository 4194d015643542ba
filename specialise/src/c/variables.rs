//! Coalescing: a phi and its inputs share a variable if their live ranges don't overlap.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::Plan;
use crate::graph::Graph;
use crate::ir::{Body, Extension, Op, Operand, Param, ValueId};

/// The greatest number of values in a class, because comparing classes takes quadratic time.
const LARGEST: usize = 64;

/// The variables of a function, and those that each block needs.
pub(super) struct Variables {
    /// The value that represents the variable of each value.
    class: Vec<usize>,
    /// For each block, the variables whose values are needed at its beginning.
    pub live_in: Vec<BTreeSet<usize>>,
}

impl Variables {
    /// The variable that holds a value.
    pub fn of(&self, value: usize) -> usize {
        self.class[value]
    }

    /// Finds the variables of a body.
    pub fn find(body: &Body, params: &[Param], graph: &Graph, plan: &Plan) -> Variables {
        let lives = Lives::of(body, graph, plan);
        let mut classes = Classes {
            class: (0..body.types.len()).collect(),
            members: (0..body.types.len()).map(|value| vec![value]).collect(),
        };
        let mut wishes: Vec<(usize, usize, usize)> = Vec::new();
        for &block in &graph.order {
            for instruction in &body.blocks[block].instructions {
                let (Op::Phi(incoming), Some(phi)) = (&instruction.op, instruction.result) else { continue };
                for (operand, from) in incoming {
                    let Operand::Value(value) = operand else { continue };
                    let from = from.0 as usize;
                    if graph.position[from].is_some() && plan.uses[phi.0 as usize] > 0 {
                        wishes.push((usize::MAX - graph.depth[from], phi.0 as usize, value.0 as usize));
                    }
                }
            }
        }
        wishes.sort_unstable();
        for (_, phi, value) in wishes {
            let fixed = params.get(value).is_some_and(has_own_type);
            let same_type = body.types[phi] == body.types[value] && body.types[phi].is_scalar();
            if same_type && !fixed && lives.is_variable(body, plan, value) {
                classes.unite_if(phi, value, |a, b| lives.overlap(a, b));
            }
        }
        let live_in = lives
            .live_in
            .iter()
            .map(|live| live.iter().map(|&value| classes.class[value]).collect())
            .collect();
        Variables { class: classes.class, live_in }
    }
}

/// Whether a parameter's C type is signed, unlike the types of values.
pub(super) fn has_own_type(param: &Param) -> bool {
    param.attributes.extension == Some(Extension::Sign)
}

struct Classes {
    class: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Classes {
    fn unite_if(&mut self, one: usize, other: usize, overlap: impl Fn(usize, usize) -> bool) {
        let (one, other) = (self.class[one], self.class[other]);
        if one == other || self.members[one].len() + self.members[other].len() > LARGEST {
            return;
        }
        if self.members[one].iter().any(|&a| self.members[other].iter().any(|&b| overlap(a, b))) {
            return;
        }
        let moved = std::mem::take(&mut self.members[other]);
        for &value in &moved {
            self.class[value] = one;
        }
        self.members[one].extend(moved);
    }
}

/// The live ranges of values after folding: where each is computed, and until where it is needed.
struct Lives {
    live_in: Vec<BTreeSet<usize>>,
    live_out: Vec<BTreeSet<usize>>,
    /// The block and position at which each variable is computed; position 0 is the beginning of the block.
    defined: Vec<Option<(usize, usize)>>,
    /// The last position in a block at which a value is read.
    last_use: BTreeMap<(usize, usize), usize>,
}

impl Lives {
    fn of(body: &Body, graph: &Graph, plan: &Plan) -> Lives {
        let count = body.blocks.len();
        let mut lives = Lives {
            live_in: vec![BTreeSet::new(); count],
            live_out: vec![BTreeSet::new(); count],
            defined: vec![None; body.types.len()],
            last_use: BTreeMap::new(),
        };
        for value in 0..body.types.len() {
            if plan.definition[value].is_none() {
                lives.defined[value] = Some((0, 0));
            }
        }
        for &block in &graph.order {
            lives.read_block(body, graph, plan, block);
        }
        lives.flow_back(graph);
        lives
    }

    fn read_block(&mut self, body: &Body, graph: &Graph, plan: &Plan, block: usize) {
        let instructions = &body.blocks[block].instructions;
        for instruction in instructions.iter().take_while(|i| matches!(i.op, Op::Phi(_))) {
            if let Some(value) = instruction.result {
                self.defined[value.0 as usize] = Some((block, 0));
            }
        }
        for (place, &at) in plan.order[block].iter().enumerate() {
            let instruction = &instructions[at];
            if let Some(value) = instruction.result {
                if plan.folded[value.0 as usize] {
                    continue;
                }
                self.defined[value.0 as usize] = Some((block, place + 1));
            }
            for operand in instruction.op.operands() {
                self.read(body, plan, operand, (block, place + 1));
            }
        }
        if let Some(operand) = body.blocks[block].terminator.operand() {
            self.read(body, plan, operand, (block, usize::MAX));
        }
        for &to in &graph.successors[block] {
            for instruction in body.blocks[to].instructions.iter().take_while(|i| matches!(i.op, Op::Phi(_)))
            {
                let (Op::Phi(incoming), Some(phi)) = (&instruction.op, instruction.result) else { continue };
                let operand = incoming.iter().find(|(_, from)| from.0 as usize == block);
                if let Some((operand, _)) = operand.filter(|_| plan.uses[phi.0 as usize] > 0) {
                    self.read(body, plan, operand, (block, usize::MAX));
                }
            }
        }
    }

    /// Notes that an operand is read, with all variables in its expression.
    fn read(&mut self, body: &Body, plan: &Plan, operand: &Operand, (block, place): (usize, usize)) {
        let mut pending = vec![operand];
        while let Some(operand) = pending.pop() {
            let Operand::Value(value) = operand else { continue };
            match plan.op(body, *value) {
                Some(op) if plan.folded[value.0 as usize] => pending.extend(op.operands()),
                _ => {
                    let last = self.last_use.entry((block, value.0 as usize)).or_insert(0);
                    *last = place.max(*last);
                }
            }
        }
    }

    fn flow_back(&mut self, graph: &Graph) {
        let mut pending: Vec<usize> = graph.order.clone();
        let mut waits: BTreeSet<usize> = pending.iter().copied().collect();
        let mut reads: Vec<Vec<usize>> = vec![Vec::new(); self.live_in.len()];
        for &(block, value) in self.last_use.keys() {
            reads[block].push(value);
        }
        while let Some(block) = pending.pop() {
            waits.remove(&block);
            let mut out = BTreeSet::new();
            for &to in &graph.successors[block] {
                out.extend(&self.live_in[to]);
            }
            let in_block = |value: &usize| self.defined[*value].is_some_and(|(home, _)| home == block);
            let live: BTreeSet<usize> =
                out.iter().chain(&reads[block]).copied().filter(|value| !in_block(value)).collect();
            self.live_out[block] = out;
            if live != self.live_in[block] {
                self.live_in[block] = live;
                pending.extend(graph.predecessors[block].iter().filter(|&&from| waits.insert(from)));
            }
        }
    }

    fn is_variable(&self, body: &Body, plan: &Plan, value: usize) -> bool {
        let op = plan.op(body, ValueId(value as u32));
        self.defined[value].is_some() && !plan.folded[value] && !matches!(op, Some(Op::Alloca { .. }))
    }

    fn overlap(&self, one: usize, other: usize) -> bool {
        self.is_live_at_birth(one, other) || self.is_live_at_birth(other, one)
    }

    /// Whether `value` is still needed after the point where `newborn` is computed.
    fn is_live_at_birth(&self, value: usize, newborn: usize) -> bool {
        let Some((block, place)) = self.defined[newborn] else { return false };
        let already = self.live_in[block].contains(&value)
            || self.defined[value].is_some_and(|(home, at)| home == block && at <= place);
        let later = self.live_out[block].contains(&value)
            || self.last_use.get(&(block, value)).is_some_and(|&last| last > place);
        already && later
    }
}
