//! Checks that each definition dominates its uses. A phi uses its inputs at the ends of the blocks from which they
//! come.

use super::fault::{Fault, Place, Subject};
use crate::graph::{Graph, successors};
use crate::ir::{BlockId, Op, Operand, ValueId};

pub(super) fn verify(subject: &Subject) -> Result<(), Fault> {
    let body = subject.body;
    let graph = Graph::without_loops(successors(body));
    let is_reachable = |block: usize| graph.position[block].is_some();
    let definitions = body.definitions();
    let params = subject.function.params.len();
    // `before` is the position of the use in its block; the terminator comes after all instructions.
    let computed = |value: ValueId, block: usize, before: usize| match definitions[value.0 as usize] {
        Some((at, index)) if at == block => index < before,
        Some((at, _)) => graph.dominates(at, block),
        None => (value.0 as usize) < params,
    };
    let check = |operand: &Operand, place: Place, block: usize, before: usize| match operand {
        Operand::Value(value) if is_reachable(block) && !computed(*value, block, before) => {
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
                if is_reachable(block) {
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
