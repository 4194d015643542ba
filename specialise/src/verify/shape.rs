//! Checks blocks, values and phis: what is mentioned must exist, and exist once. After this check, all others can look
//! up values and blocks without further checks.

use super::fault::{Fault, Place, Subject};
use crate::ir::{BlockId, Op, Operand, Type};

pub(super) fn verify(subject: &Subject) -> Result<(), Fault> {
    values(subject)?;
    targets(subject)?;
    definitions(subject)?;
    phis(subject)
}

/// Checks that parameters are the first values, and that all results are values; before that, values can't be named.
fn values(subject: &Subject) -> Result<(), Fault> {
    let (params, types) = (&subject.function.params, &subject.body.types);
    if params.len() > types.len() || params.iter().zip(types).any(|(param, ty)| param.ty != *ty) {
        return Err(subject.fault_of_body("the first values are not the parameters of the function"));
    }
    if subject.body.names.len() > types.len() {
        return Err(subject.fault_of_body("there are names of values that do not exist"));
    }
    let mut results = subject.instructions().filter_map(|(_, instruction)| instruction.result);
    match results.find(|result| result.0 as usize >= types.len()) {
        Some(result) => {
            Err(subject.fault_of_body(format!("a result is value {} of {}", result.0, types.len())))
        }
        None => Ok(()),
    }
}

/// Checks that there is an entry, that no block jumps to it, and that all targets exist.
fn targets(subject: &Subject) -> Result<(), Fault> {
    let blocks = &subject.body.blocks;
    if blocks.is_empty() {
        return Err(subject.fault_of_body("there is no entry block"));
    }
    for (at, block) in blocks.iter().enumerate() {
        let wrong = |what| Err(subject.fault(Place::Terminator(BlockId(at as u32)), what));
        for to in block.terminator.successors() {
            match to.0 as usize {
                0 => return wrong("nothing may jump to the entry block"),
                to if to >= blocks.len() => return wrong("it jumps to a block that does not exist"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Checks that every value but the parameters is the result of at most one instruction, and has its type.
fn definitions(subject: &Subject) -> Result<(), Fault> {
    let types = &subject.body.types;
    let mut defined = vec![false; types.len()];
    defined[..subject.function.params.len()].fill(true);
    for (place, instruction) in subject.instructions() {
        operands_exist(subject, place, instruction.op.operands())?;
        let ty = &instruction.ty;
        let Some(result) = instruction.result else {
            if *ty != Type::Void {
                return Err(subject.fault(place, format!("it gives {ty}, which has no name")));
            }
            continue;
        };
        if types[result.0 as usize] != *ty {
            let due = &types[result.0 as usize];
            return Err(subject.fault(place, format!("it gives {ty}, and its result is {due}")));
        }
        if *ty == Type::Void {
            return Err(subject.fault(place, "it gives nothing that could have a name"));
        }
        if std::mem::replace(&mut defined[result.0 as usize], true) {
            return Err(subject.fault(place, format!("{} has a second definition", subject.value(result))));
        }
    }
    for (at, block) in subject.body.blocks.iter().enumerate() {
        operands_exist(subject, Place::Terminator(BlockId(at as u32)), block.terminator.operand())?;
    }
    Ok(())
}

fn operands_exist<'a>(
    subject: &Subject,
    place: Place,
    operands: impl IntoIterator<Item = &'a Operand>,
) -> Result<(), Fault> {
    let count = subject.body.types.len();
    for operand in operands {
        if let Operand::Value(value) = operand
            && value.0 as usize >= count
        {
            return Err(subject.fault(place, format!("it uses value {} of {count}", value.0)));
        }
    }
    Ok(())
}

/// Checks that phis come first and have one input for each edge to their block; inputs from the same predecessor must
/// be equal.
fn phis(subject: &Subject) -> Result<(), Fault> {
    let mut predecessors = subject.body.predecessors();
    for (at, (block, from)) in subject.body.blocks.iter().zip(&mut predecessors).enumerate() {
        from.sort_unstable();
        let first = block.phi_count();
        for (index, instruction) in block.instructions.iter().enumerate() {
            let Op::Phi(inputs) = &instruction.op else { continue };
            let place = Place::Instruction(BlockId(at as u32), index);
            if index >= first {
                return Err(subject.fault(place, "phis stand first in a block"));
            }
            phi(subject, place, inputs, from)?;
        }
    }
    Ok(())
}

/// Checks a phi of a block with these predecessors, in order.
fn phi(
    subject: &Subject,
    place: Place,
    inputs: &[(Operand, BlockId)],
    predecessors: &[BlockId],
) -> Result<(), Fault> {
    let mut inputs: Vec<&(Operand, BlockId)> = inputs.iter().collect();
    inputs.sort_by_key(|(_, from)| *from);
    let named: Vec<BlockId> = inputs.iter().map(|(_, from)| *from).collect();
    if named != predecessors
        && let Some(block) = first_difference(&named, predecessors)
    {
        let (inputs, jumps) = (times(&named, block), times(predecessors, block));
        let block = subject.block(block);
        return Err(
            subject.fault(place, format!("it has {inputs} inputs for {jumps} jumps from block {block}"))
        );
    }
    let twice = inputs.windows(2).find(|pair| pair[0].1 == pair[1].1 && pair[0].0 != pair[1].0);
    twice.map_or(Ok(()), |pair| {
        let block = subject.block(pair[0].1);
        Err(subject.fault(place, format!("its inputs from block {block} differ")))
    })
}

/// A block that occurs with different frequency in the two lists.
fn first_difference(one: &[BlockId], other: &[BlockId]) -> Option<BlockId> {
    one.iter().chain(other).copied().find(|block| times(one, *block) != times(other, *block))
}

fn times(blocks: &[BlockId], block: BlockId) -> usize {
    blocks.iter().filter(|named| **named == block).count()
}
