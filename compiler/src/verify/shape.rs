//! Blocks: where they lead, how they end, and which terminators and suspension points their kind of code may have.

use drystone_runtime::layout::FrameHead;

use super::spot::{At, Broken, Spot};
use crate::entries;
use crate::mir::*;

pub fn verify(code: &Code) -> Result<(), Broken> {
    let entry = Spot { code, block: BlockId(0), at: At::Beginning };
    entry.require(!code.blocks.is_empty(), || "it has no blocks".to_string())?;
    frame(code, entry)?;
    for (index, block) in code.blocks.iter().enumerate() {
        let spot = Spot { code, block: BlockId(index as u32), at: At::Beginning };
        targets(spot, block)?;
        loops(spot, block)?;
    }
    let conditions = conditions(code);
    for (id, block) in code.reachable() {
        let spot = Spot { code, block: id, at: At::End };
        match conditions[id.0 as usize] {
            true => inside_condition(spot, block)?,
            false => outside_condition(spot, block)?,
        }
    }
    Ok(())
}

/// Owned slots lie in the frame, each in a place of its own.
fn frame(code: &Code, spot: Spot) -> Result<(), Broken> {
    let mut taken: Vec<u32> = code.owned.iter().map(|slot| slot.offset).collect();
    taken.sort();
    for &offset in &taken {
        let fits =
            offset % 8 == 0 && offset + 8 <= code.frame_size && offset >= size_of::<FrameHead>() as u32;
        spot.require(fits, || format!("what it owns at {offset} lies outside its frame"))?;
    }
    match taken.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => spot.broken(format!("it owns two things at {}", two[0])),
        None => Ok(()),
    }
}

fn targets(spot: Spot, block: &Block) -> Result<(), Broken> {
    for to in block.successors() {
        spot.require(exists(spot.code, to), || format!("there is no {to}"))?;
    }
    if let Some(again) = block.tested_again() {
        let begins = spot.code.block(again).must_begin();
        spot.require(begins, || format!("it tests again from {again}, where no segment begins"))?;
    }
    if let Terminator::CallProcedure { then, .. } = block.end {
        let begins = spot.code.block(then).must_begin();
        spot.at(At::End).require(begins, || format!("it returns to {then}, where no segment begins"))?;
    }
    Ok(())
}

fn loops(spot: Spot, block: &Block) -> Result<(), Broken> {
    let loops = &spot.code.loops;
    for number in block.in_loop.into_iter().chain(block.header_of) {
        let Some(inner) = loops.get(number) else { return spot.broken(format!("there is no loop {number}")) };
        let nested = inner.outer.is_none_or(|outer| outer < number);
        spot.require(nested, || format!("the loop around loop {number} is not declared before it"))?;
        if let Some(counter) = &inner.counter {
            let all = exists(spot.code, counter.before) && exists(spot.code, counter.next);
            spot.require(all, || format!("the counter of loop {number} names blocks that are not there"))?;
        }
    }
    if let Some(number) = block.header_of {
        let is_header = loops[number].header == spot.block && block.in_loop == Some(number);
        spot.require(is_header, || format!("it is not the header of loop {number}"))?;
    }
    Ok(())
}

/// Which blocks belong to conditions.
fn conditions(code: &Code) -> Vec<bool> {
    let mut inside = vec![false; code.blocks.len()];
    let mut open: Vec<BlockId> = code.blocks.iter().filter_map(Block::condition).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut inside[id.0 as usize], true) {
            open.extend(code.block(id).goes_to());
        }
    }
    inside
}

fn inside_condition(spot: Spot, block: &Block) -> Result<(), Broken> {
    spot.require(block.suspension.is_none(), || "a condition waits".to_string())?;
    match block.end {
        Terminator::Goto(_) | Terminator::Branch { .. } | Terminator::Answer(_) => Ok(()),
        Terminator::Unreachable => cannot_be_passed(spot, block),
        _ => spot.broken("a condition does not answer"),
    }
}

fn outside_condition(spot: Spot, block: &Block) -> Result<(), Broken> {
    let code = spot.code;
    spot.require(!code.native || block.suspension.is_none(), || {
        "it waits on the processor's stack".to_string()
    })?;
    match block.end {
        Terminator::Goto(_) | Terminator::Branch { .. } => Ok(()),
        Terminator::CallProcedure { .. } => spot.require(!code.native, || {
            "it calls a procedure with a frame from the processor's stack".to_string()
        }),
        Terminator::Return(result) => {
            spot.require(code.procedure.is_some(), || "a body returns".to_string())?;
            spot.require(result.is_some() == code.result.is_some(), || {
                "it returns a result that it does not declare, or declares one that it does not return"
                    .to_string()
            })
        }
        Terminator::Finish(_) => {
            spot.require(code.procedure.is_none(), || "a procedure finishes its process".to_string())
        }
        Terminator::Answer(_) => spot.broken("it answers outside a condition"),
        Terminator::Unreachable => cannot_be_passed(spot, block),
    }
}

/// Control does not come to the end of a block whose terminator is unreachable.
fn cannot_be_passed(spot: Spot, block: &Block) -> Result<(), Broken> {
    let halts = match &block.suspension {
        Some(SuspensionPoint { op: SuspensionOp::Call { entry, .. }, .. }) => {
            entry.name == entries::HALT.name
        }
        _ => false,
    };
    let fails = block.instructions.iter().any(|instruction| matches!(instruction, Inst::Fail(..)));
    spot.require(halts || fails, || {
        "control comes to its end, where it is said to be unreachable".to_string()
    })
}

fn exists(code: &Code, id: BlockId) -> bool {
    (id.0 as usize) < code.blocks.len()
}
