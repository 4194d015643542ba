//! Which registers are still needed at the beginning of each block.

use crate::mir::*;

/// A set of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegSet(Vec<u64>);

impl RegSet {
    /// An empty set for so many registers.
    pub fn new(registers: usize) -> RegSet {
        RegSet(vec![0; registers.div_ceil(64)])
    }

    /// Whether it holds the register.
    pub fn contains(&self, reg: Reg) -> bool {
        self.0[reg.0 as usize / 64] >> (reg.0 % 64) & 1 != 0
    }

    /// Adds a register.
    pub fn insert(&mut self, reg: Reg) {
        self.0[reg.0 as usize / 64] |= 1 << (reg.0 % 64);
    }

    /// The registers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| Reg(index as u32 * 64 + bit))
        })
    }

    /// Adds `others - without`; tells whether anything was new.
    fn add(&mut self, others: &RegSet, without: &RegSet) -> bool {
        let mut changed = false;
        for ((mine, other), without) in self.0.iter_mut().zip(&others.0).zip(&without.0) {
            let sum = *mine | (other & !without);
            changed |= sum != *mine;
            *mine = sum;
        }
        changed
    }
}

/// What a block reads before it writes, and all that it writes.
pub struct Uses {
    /// Read before written.
    pub read: RegSet,
    /// Written.
    pub written: RegSet,
}

/// Registers that each block reads and writes.
pub fn uses(code: &Code) -> Vec<Uses> {
    code.blocks
        .iter()
        .map(|block| {
            let mut uses =
                Uses { read: RegSet::new(code.registers.len()), written: RegSet::new(code.registers.len()) };
            visit(block, &mut |reg, access| match access {
                Access::Read if !uses.written.contains(reg) => uses.read.insert(reg),
                Access::Read => {}
                Access::Write => uses.written.insert(reg),
            });
            uses
        })
        .collect()
}

/// The blocks that each block can be reached from.
pub fn predecessors(code: &Code) -> Vec<Vec<BlockId>> {
    let mut predecessors = vec![Vec::new(); code.blocks.len()];
    for (index, block) in code.blocks.iter().enumerate() {
        for successor in block.successors() {
            predecessors[successor.0 as usize].push(BlockId(index as u32));
        }
    }
    predecessors
}

/// The registers that are live at the beginning of each block.
pub fn live_in(code: &Code, uses: &[Uses]) -> Vec<RegSet> {
    let nothing = RegSet::new(code.registers.len());
    let mut live: Vec<RegSet> = uses.iter().map(|uses| uses.read.clone()).collect();
    let predecessors = predecessors(code);
    let mut open: Vec<usize> = (0..code.blocks.len()).collect();
    let mut queued = vec![true; code.blocks.len()];
    while let Some(index) = open.pop() {
        queued[index] = false;
        let mut out = nothing.clone();
        for successor in code.blocks[index].successors() {
            out.add(&live[successor.0 as usize], &nothing);
        }
        // A condition reads what is live when its AWAIT begins, whatever the block itself writes later.
        let mut changed = live[index].add(&out, &uses[index].written);
        if let Some(Head { op: HeadOp::Await(condition), .. }) = &code.blocks[index].head {
            let needed = live[condition.0 as usize].clone();
            changed |= live[index].add(&needed, &nothing);
        }
        if changed {
            for predecessor in predecessors[index].iter().map(|block| block.0 as usize) {
                if !queued[predecessor] {
                    queued[predecessor] = true;
                    open.push(predecessor);
                }
            }
        }
    }
    live
}

/// How an instruction touches a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Uses its value.
    Read,
    /// Gives it a value.
    Write,
}

/// Calls `touch` for every register of a block, in the order of execution.
pub fn visit(block: &Block, touch: &mut impl FnMut(Reg, Access)) {
    if let Some(head) = &block.head {
        visit_head(&head.op, touch);
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

/// The same for what a head does.
pub fn visit_head(op: &HeadOp, touch: &mut impl FnMut(Reg, Access)) {
    let mut reach = |reach: &Reach| match reach {
        Reach::Service | Reach::Required(_) => {}
        Reach::Slot(reg) | Reach::Held { instance: reg, .. } => touch(*reg, Access::Read),
        Reach::HeldSlot { instance, slot } => {
            touch(*instance, Access::Read);
            touch(*slot, Access::Read);
        }
    };
    match op {
        HeadOp::Send { reach: r, payload, .. } | HeadOp::Receive { reach: r, payload, .. } => {
            reach(r);
            touch(payload.communication, Access::Write);
            touch(payload.word, Access::Write);
        }
        HeadOp::Test { reach: r, to, .. } | HeadOp::Input { reach: r, to, .. } => {
            reach(r);
            touch(*to, Access::Write);
        }
        HeadOp::Call { to, arguments, .. } => {
            arguments.iter().for_each(|reg| touch(*reg, Access::Read));
            to.iter().for_each(|reg| touch(*reg, Access::Write));
        }
        HeadOp::Lock(_) | HeadOp::Unlock(_) | HeadOp::Home | HeadOp::Await(_) => {}
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
        Inst::Copy { to, from } | Inst::Unary { to, from, .. } => {
            touch(*from, Read);
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
        Inst::Sent { payload, .. } | Inst::Received(payload) => {
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
        Inst::Words(to, values) => {
            values.iter().for_each(|reg| touch(*reg, Read));
            touch(*to, Write);
        }
    }
}
