//! Hoists loads of texts out of loops in which the text stays the same: its pointer, its length and the place of its
//! bytes.
//!
//! # Why this is sound
//! A text changes only through the one variable that holds it. So it stays the same in a loop if nothing writes the
//! variable there: no instruction of the loop, nothing through an address (this code takes none), and no other code. A
//! procedure's frame is out of reach for other code unless its address is taken. Procedures can reach the variables of
//! a body and of its component, so such a loop must call none; other processes write those variables only while the
//! body waits. Loops that wait are left alone: the hoisted values would have to be saved.

use std::collections::{HashMap, HashSet};

use crate::liveness::{self, Access};
use crate::mir::*;

/// So many instructions before a loop are searched for loads of the text.
const LOOKED_AT: usize = 64;

/// Where a variable lies.
type Slot = (Base, i32);

/// Registers that hold a text, its length, and the address of its bytes.
#[derive(Clone, Copy)]
struct Held {
    text: Reg,
    length: Reg,
    /// None if the loop does not use it.
    bytes: Option<Reg>,
}

/// Loads texts that stay the same in a loop before the loop.
pub fn hoist(code: &mut Code) {
    if code.native || code.loops.is_empty() {
        return;
    }
    let facts = Facts::of(code);
    // A loop stands behind the loop around it.
    for number in 0..code.loops.len() {
        if let Some((before, blocks)) = facts.calm_loop(code, number) {
            for slot in facts.steady(code, &blocks) {
                let held = facts.hold(code, before, slot, asks_for_bytes(code, &blocks));
                facts.replace(code, &blocks, slot, held);
            }
        }
    }
}

/// Facts that moving loads does not change.
struct Facts {
    predecessors: Vec<Vec<BlockId>>,
    /// Registers that one instruction writes.
    written_once: HashSet<Reg>,
    /// Variables whose address is taken anywhere.
    exposed: HashSet<Slot>,
}

impl Facts {
    fn of(code: &Code) -> Facts {
        let mut writes: HashMap<Reg, usize> = HashMap::new();
        let mut exposed = HashSet::new();
        for block in &code.blocks {
            liveness::visit(block, &mut |reg, access| {
                *writes.entry(reg).or_default() += usize::from(access == Access::Write);
            });
            for instruction in &block.instructions {
                if let Inst::Address { of, .. } = instruction {
                    exposed.insert((of.base, of.offset));
                }
            }
        }
        let written_once = writes.into_iter().filter(|&(_, times)| times == 1).map(|(reg, _)| reg).collect();
        Facts { predecessors: liveness::predecessors(code), written_once, exposed }
    }

    /// The block before a loop that never waits, and the blocks from which the loop goes on.
    fn calm_loop(&self, code: &Code, number: usize) -> Option<(BlockId, HashSet<BlockId>)> {
        let header = code.loops[number].header;
        let is_inside = |id: &BlockId| code.is_inside(code.block(*id).in_loop, number);
        let (mut open, outside): (Vec<BlockId>, Vec<BlockId>) =
            self.predecessors[header.0 as usize].iter().partition(|id| is_inside(id));
        let [before] = outside[..] else { return None };
        let mut blocks = HashSet::from([header]);
        while let Some(id) = open.pop() {
            if blocks.insert(id) {
                open.extend(&self.predecessors[id.0 as usize]);
            }
        }
        let goes_on = matches!(code.block(before).end, Terminator::Goto(_));
        let waits = |id: &BlockId| {
            let block = code.block(*id);
            block.must_begin() || matches!(block.end, Terminator::CallProcedure { .. })
        };
        (goes_on && blocks.iter().all(is_inside) && !blocks.iter().any(waits)).then_some((before, blocks))
    }

    /// Variables with texts whose lengths are loaded in these blocks, and which stay the same there.
    fn steady(&self, code: &Code, blocks: &HashSet<BlockId>) -> Vec<Slot> {
        let mut loaded = HashMap::new();
        let (mut asked, mut calls) = (Vec::new(), false);
        let (mut changed, mut changed_bases) = (HashSet::new(), HashSet::new());
        let mut ordered: Vec<&BlockId> = blocks.iter().collect();
        ordered.sort();
        for id in ordered {
            for instruction in &code.block(*id).instructions {
                match instruction {
                    Inst::Load { to, from } if self.written_once.contains(to) => {
                        loaded.insert(*to, (from.base, from.offset));
                    }
                    Inst::Length { text, .. } => asked.push(*text),
                    Inst::Store { to, .. } => _ = changed.insert((to.base, to.offset)),
                    // The runtime finds all of it there.
                    Inst::Base(_, base) => _ = changed_bases.insert(*base),
                    Inst::CallNative { .. } => calls = true,
                    _ => {}
                }
            }
        }
        let mut seen = HashSet::new();
        let slots = asked.iter().filter_map(|text| loaded.get(text).copied());
        let steady = |slot: &Slot| {
            let is_changed = changed.contains(slot) || changed_bases.contains(&slot.0);
            !is_changed && self.is_own(code, *slot, calls) && seen.insert(*slot)
        };
        slots.filter(steady).collect()
    }

    /// Whether a variable is written only by this code's own stores.
    fn is_own(&self, code: &Code, slot: Slot, calls: bool) -> bool {
        let reachable = match slot.0 {
            Base::Frame => self.exposed.contains(&(Base::Frame, 0)),
            Base::Process | Base::Instance => calls || code.procedure.is_some(),
            Base::Reg(_) => true,
        };
        !reachable && !self.exposed.contains(&slot)
    }

    /// Loads a text, and what the loop uses of it, at the end of a block; uses registers that hold it already.
    fn hold(&self, code: &mut Code, before: BlockId, slot: Slot, with_bytes: bool) -> Held {
        let (text, length) = self.loaded_before(code, before, slot);
        let mut append = |inst: &dyn Fn(Reg) -> Inst| {
            code.registers.push(RegType::Int);
            let to = Reg(code.registers.len() as u32 - 1);
            code.blocks[before.0 as usize].instructions.push(inst(to));
            to
        };
        let from = Address { base: slot.0, offset: slot.1, byte: false };
        let text = text.unwrap_or_else(|| append(&|to| Inst::Load { to, from }));
        let length = length.unwrap_or_else(|| append(&|to| Inst::Length { to, text }));
        let bytes = with_bytes.then(|| append(&|to| Inst::Bytes { to, text }));
        Held { text, length, bytes }
    }

    /// The registers that a text and its length were loaded to on the only way to the end of a block.
    fn loaded_before(&self, code: &Code, mut id: BlockId, slot: Slot) -> (Option<Reg>, Option<Reg>) {
        let mut lengths = HashMap::new();
        let mut left = LOOKED_AT;
        loop {
            let block = code.block(id);
            for instruction in block.instructions.iter().rev() {
                left -= 1;
                match instruction {
                    Inst::Load { to, from }
                        if (from.base, from.offset) == slot && self.written_once.contains(to) =>
                    {
                        return (Some(*to), lengths.get(to).copied());
                    }
                    Inst::Length { to, text } if self.written_once.contains(to) => {
                        lengths.insert(*text, *to);
                    }
                    Inst::Store { to, .. } if (to.base, to.offset) == slot => return (None, None),
                    Inst::CallNative { .. } if slot.0 != Base::Frame => return (None, None),
                    _ => {}
                }
                if left == 0 {
                    return (None, None);
                }
            }
            match self.predecessors[id.0 as usize][..] {
                [only] if !block.must_begin() && code.block(only).goes_to().any(|to| to == id) => id = only,
                _ => return (None, None),
            }
        }
    }

    /// Replaces loads in these blocks by copies of what is held.
    fn replace(&self, code: &mut Code, blocks: &HashSet<BlockId>, slot: Slot, held: Held) {
        let mut copies = HashSet::new();
        let each = |code: &mut Code, change: &mut dyn FnMut(&mut Inst)| {
            blocks
                .iter()
                .for_each(|id| code.blocks[id.0 as usize].instructions.iter_mut().for_each(&mut *change));
        };
        each(code, &mut |instruction| match *instruction {
            Inst::Load { to, from }
                if (from.base, from.offset) == slot && self.written_once.contains(&to) =>
            {
                copies.insert(to);
                *instruction = Inst::Copy { to, from: held.text };
            }
            _ => {}
        });
        each(code, &mut |instruction| match *instruction {
            Inst::Length { to, text } if copies.contains(&text) => {
                *instruction = Inst::Copy { to, from: held.length };
            }
            Inst::Bytes { to, text } if copies.contains(&text) => {
                let from = held.bytes.expect("somebody asks");
                *instruction = Inst::Copy { to, from };
            }
            _ => {}
        });
    }
}

fn asks_for_bytes(code: &Code, blocks: &HashSet<BlockId>) -> bool {
    let asks = |instruction: &Inst| matches!(instruction, Inst::Bytes { .. });
    blocks.iter().any(|id| code.block(*id).instructions.iter().any(asks))
}
