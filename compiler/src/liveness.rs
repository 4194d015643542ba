//! Liveness: which registers are still needed at the beginning of each block.

use crate::mir::*;

/// The predecessors of each block.
pub fn predecessors(code: &Code) -> Vec<Vec<BlockId>> {
    let mut predecessors = vec![Vec::new(); code.blocks.len()];
    for (index, block) in code.blocks.iter().enumerate() {
        for successor in block.successors() {
            predecessors[successor.0 as usize].push(BlockId(index as u32));
        }
    }
    predecessors
}

/// The registers, ascending, that are live at the beginning of each block.
///
/// Each register is followed from the blocks that read it back to those that write it. Most registers live in one block
/// only, and cost nothing.
pub fn live_in(code: &Code, predecessors: &[Vec<BlockId>]) -> Vec<Vec<Reg>> {
    let mut readers = vec![Vec::new(); code.registers.len()];
    let mut writers = vec![Vec::new(); code.registers.len()];
    for (index, block) in code.blocks.iter().enumerate() {
        let id = BlockId(index as u32);
        visit(block, &mut |reg, access| {
            let (read, written) = (&mut readers[reg.0 as usize], &mut writers[reg.0 as usize]);
            match access {
                Access::Read if written.last() != Some(&id) && read.last() != Some(&id) => read.push(id),
                Access::Write if written.last() != Some(&id) => written.push(id),
                _ => {}
            }
        });
    }
    let mut live: Vec<Vec<Reg>> = vec![Vec::new(); code.blocks.len()];
    // The last register that was found to be written there.
    let mut written_by = vec![None; code.blocks.len()];
    for (index, (mut open, writers)) in readers.into_iter().zip(writers).enumerate() {
        let reg = Reg(index as u32);
        if !open.is_empty() {
            writers.iter().for_each(|block| written_by[block.0 as usize] = Some(reg));
        }
        while let Some(block) = open.pop() {
            if live[block.0 as usize].last() == Some(&reg) {
                continue;
            }
            live[block.0 as usize].push(reg);
            for &before in &predecessors[block.0 as usize] {
                // A condition reads what is live when its AWAIT begins, whatever the block itself writes later.
                let is_condition = code.block(before).condition() == Some(block);
                if is_condition || written_by[before.0 as usize] != Some(reg) {
                    open.push(before);
                }
            }
        }
    }
    live
}

/// How an instruction accesses a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Uses its value.
    Read,
    /// Gives it a value.
    Write,
}

/// Calls `touch` for every register of a block, in the order of execution.
pub fn visit(block: &Block, touch: &mut impl FnMut(Reg, Access)) {
    if let Some(point) = &block.suspension {
        visit_suspension(&point.op, touch);
    }
    for instruction in &block.instructions {
        visit_instruction(instruction, touch);
    }
    match &block.end {
        Terminator::Branch { condition: reg, .. }
        | Terminator::Return(Some(reg))
        | Terminator::Answer(reg) => {
            touch(*reg, Access::Read);
        }
        Terminator::CallProcedure { arguments, outer, .. } => {
            arguments.iter().chain(outer).for_each(|reg| touch(*reg, Access::Read));
        }
        Terminator::Goto(_) | Terminator::Return(None) | Terminator::Finish(_) | Terminator::Unreachable => {}
    }
}

/// The same for what a suspension point does.
pub fn visit_suspension(op: &SuspensionOp, touch: &mut impl FnMut(Reg, Access)) {
    match op {
        SuspensionOp::Send { reach, payload, .. } | SuspensionOp::Receive { reach, payload, .. } => {
            visit_reach(reach, touch);
            touch(payload.communication, Access::Write);
            touch(payload.word, Access::Write);
        }
        SuspensionOp::Test { reach, to, .. } | SuspensionOp::Input { reach, to, .. } => {
            visit_reach(reach, touch);
            touch(*to, Access::Write);
        }
        SuspensionOp::Select { sources, until, to, .. } => {
            for source in sources {
                match source {
                    Source::Arrival { reach, .. } => visit_reach(reach, touch),
                    Source::Condition(reg) => touch(*reg, Access::Read),
                }
            }
            until.iter().for_each(|reg| touch(*reg, Access::Read));
            touch(*to, Access::Write);
        }
        SuspensionOp::Call { to, arguments, .. } => {
            arguments.iter().for_each(|reg| touch(*reg, Access::Read));
            to.iter().for_each(|reg| touch(*reg, Access::Write));
        }
        SuspensionOp::AwaitTested { holds, .. } => touch(*holds, Access::Read),
        SuspensionOp::Lock(_)
        | SuspensionOp::Unlock { .. }
        | SuspensionOp::Home
        | SuspensionOp::Await { .. } => {}
    }
}

fn visit_reach(reach: &Reach, touch: &mut impl FnMut(Reg, Access)) {
    match reach {
        Reach::Service | Reach::Required(_) => {}
        Reach::Indexed { k: reg, .. } | Reach::Held { instance: reg, .. } => touch(*reg, Access::Read),
        Reach::HeldSlot { instance, slot } => {
            touch(*instance, Access::Read);
            touch(*slot, Access::Read);
        }
    }
}

/// The same for an instruction.
pub fn visit_instruction(instruction: &Inst, touch: &mut impl FnMut(Reg, Access)) {
    use Access::*;
    let address = |address: &Address, touch: &mut dyn FnMut(Reg, Access)| {
        if let Base::Reg(reg) = address.base {
            touch(reg, Read);
        }
    };
    match instruction {
        Inst::Int(to, _) | Inst::Real(to, _) | Inst::Base(to, _) | Inst::Symbol(to, _) | Inst::Result(to) => {
            touch(*to, Write);
        }
        Inst::Copy { to, from }
        | Inst::Unary { to, from, .. }
        | Inst::Word { to, record: from, .. }
        | Inst::Count { to, sequence: from }
        | Inst::Length { to, text: from }
        | Inst::Bytes { to, text: from } => {
            touch(*from, Read);
            touch(*to, Write);
        }
        Inst::Place { to, cell, index, .. } => {
            touch(*cell, Read);
            touch(*index, Read);
            touch(*to, Write);
        }
        Inst::Op { to, a, b, .. } | Inst::Checked { to, a, b, .. } => {
            touch(*a, Read);
            touch(*b, Read);
            touch(*to, Write);
        }
        Inst::Load { to, from } | Inst::Address { to, of: from } => {
            address(from, touch);
            touch(*to, Write);
        }
        Inst::Store { to, value } => {
            address(to, touch);
            touch(*value, Read);
        }
        Inst::Require(reg, ..) => touch(*reg, Read),
        Inst::Sent { payload, .. } | Inst::Received { payload, .. } => {
            touch(payload.communication, Read);
            touch(payload.word, Read);
        }
        Inst::Room { payload, .. } => {
            touch(payload.communication, Write);
            touch(payload.word, Write);
        }
        Inst::Fail(..) => {}
        Inst::Call { to, arguments, .. } | Inst::CallNative { to, arguments, .. } => {
            arguments.iter().for_each(|reg| touch(*reg, Read));
            to.iter().for_each(|reg| touch(*reg, Write));
        }
        Inst::Find { to, collection, keys, .. } => {
            address(collection, touch);
            keys.iter().for_each(|reg| touch(*reg, Read));
            touch(*to, Write);
        }
        Inst::Watch { collection, keys, .. } | Inst::Wrote { collection, keys, .. } => {
            address(collection, touch);
            keys.iter().for_each(|reg| touch(*reg, Read));
        }
        Inst::Words(to, values) => {
            values.iter().for_each(|reg| touch(*reg, Read));
            touch(*to, Write);
        }
    }
}
