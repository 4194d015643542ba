//! Whether each definition dominates its uses. A phi uses its inputs at the ends of the blocks that they come from.

use super::fault::{Fault, Place, Subject};
use crate::graph::{Graph, successors};
use crate::ir::{BlockId, Op, Operand, ValueId};

pub(super) fn verify(subject: &Subject) -> Result<(), Fault> {
    let body = subject.body;
    let tree = Tree::of(&Graph::of(successors(body)));
    let definitions = body.definitions();
    let params = subject.function.params.len();
    // Before which instruction of a block it is used; the terminator comes after all of them.
    let computed = |value: ValueId, block: usize, before: usize| match definitions[value.0 as usize] {
        Some((at, index)) if at == block => index < before,
        Some((at, _)) => tree.dominates(at, block),
        None => (value.0 as usize) < params,
    };
    let check = |operand: &Operand, place: Place, block: usize, before: usize| match operand {
        Operand::Value(value) if tree.is_reachable(block) && !computed(*value, block, before) => {
            let name = subject.value(*value);
            let what = match definitions[value.0 as usize] {
                Some(_) => format!("{name} is not computed on every path to its use"),
                None => format!("{name} is nowhere defined"),
            };
            Err(subject.fault(place, what))
        }
        _ => Ok(()),
    };
    for (block, code) in body.blocks.iter().enumerate() {
        for (index, instruction) in code.instructions.iter().enumerate() {
            let place = Place::Instruction(BlockId(block as u32), index);
            if let Op::Phi(inputs) = &instruction.op {
                if tree.is_reachable(block) {
                    inputs
                        .iter()
                        .try_for_each(|(input, from)| check(input, place, from.0 as usize, usize::MAX))?;
                }
            } else {
                instruction.op.operands().try_for_each(|operand| check(operand, place, block, index))?;
            }
        }
        if let Some(operand) = code.terminator.operand() {
            check(operand, Place::Terminator(BlockId(block as u32)), block, usize::MAX)?;
        }
    }
    Ok(())
}

/// The dominator tree, each block with the span of those below it.
struct Tree {
    /// When a walk down the tree comes to each block and when it leaves it; none if the block is unreachable.
    spans: Vec<Option<(usize, usize)>>,
}

impl Tree {
    fn of(graph: &Graph) -> Tree {
        let mut spans = vec![None; graph.children.len()];
        let mut time = 0;
        let mut open: Vec<(usize, usize, usize)> = Vec::new(); // a block, its next child, and when it was come to
        open.extend(graph.order.first().map(|entry| (*entry, 0, 0)));
        while let Some((block, child, since)) = open.pop() {
            match graph.children[block].get(child) {
                Some(next) => {
                    time += 1;
                    open.extend([(block, child + 1, since), (*next, 0, time)]);
                }
                None => spans[block] = Some((since, time)),
            }
        }
        Tree { spans }
    }

    fn is_reachable(&self, block: usize) -> bool {
        self.spans[block].is_some()
    }

    fn dominates(&self, over: usize, block: usize) -> bool {
        match (self.spans[over], self.spans[block]) {
            (Some((from, to)), Some((at, _))) => (from..=to).contains(&at),
            _ => false,
        }
    }
}
