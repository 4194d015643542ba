//! The control flow of a program: its functions, basic blocks and loops.

use alloc::vec::Vec;
use core::ops::Range;

use super::rejection::Rejection;
use super::vectors::{emptied, filled};
use crate::bytecode::{Instruction, Program};

/// Blocks are numbered in program order; functions and loops in the order of their first blocks.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub blocks: Vec<Block>,
    pub functions: Vec<Function>,
    pub loops: Vec<Loop>,
    /// Memory for temporary use.
    ways: Vec<u32>,
    entries: Vec<(usize, bool)>,
    around: Vec<usize>,
}

/// A basic block.
#[derive(Debug)]
pub(super) struct Block {
    pub first: usize,
    /// The slot behind it.
    pub end: usize,
    /// How many predecessors it has, calls included.
    pub ways: u32,
    /// The innermost loop that contains it.
    pub within: Option<usize>,
}

/// A function: contiguous, and left only by `exit`.
#[derive(Debug)]
pub(super) struct Function {
    /// The slot in which it begins.
    pub first: usize,
    pub blocks: Range<usize>,
    /// Whether the program has its address as a constant, so that registers may hold it.
    pub named: bool,
}

/// A loop: the blocks between the target of jumps back and the last of these jumps. Every cycle has a jump back.
#[derive(Debug)]
pub(super) struct Loop {
    pub head: usize,
    /// The last block that jumps to the head.
    pub last: usize,
}

const NO_BLOCK: u32 = u32::MAX;

impl Flow {
    /// Finds the control flow of a program, reusing memory.
    pub fn read(&mut self, program: &Program, block_at: BlockAt) -> Result<BlockAt, Rejection> {
        self.blocks.clear();
        self.functions.clear();
        self.loops.clear();
        let block_at = self.find_blocks(program, block_at);
        self.find_functions(program, &block_at)?;
        self.find_loops(program, &block_at);
        Ok(block_at)
    }

    fn find_blocks(&mut self, program: &Program, mut used: BlockAt) -> BlockAt {
        let mut ways = filled(&mut self.ways, program.slots(), 0);
        let mut begins = filled(&mut used.0, program.slots(), NO_BLOCK);
        let mut begin = |slot: usize| begins[slot] = 0;
        let mut falls = false;
        let mut after_jump = true;
        for (at, instruction) in program.instructions() {
            if after_jump {
                begin(at);
            }
            ways[at] += u32::from(falls);
            if let Some(target) = instruction.target(at) {
                begin(target as usize);
                ways[target as usize] += 1;
            }
            falls = instruction.falls_through();
            after_jump = !falls || matches!(instruction, Instruction::JumpIf { .. });
        }
        for (slot, begins) in begins.iter_mut().enumerate().filter(|(_, begins)| **begins == 0) {
            *begins = self.blocks.len() as u32;
            if let Some(before) = self.blocks.last_mut() {
                before.end = slot;
            }
            let (end, ways) = (program.slots(), ways[slot]);
            self.blocks.push(Block { first: slot, end, ways, within: None });
        }
        self.ways = ways;
        BlockAt(begins)
    }

    fn find_functions(&mut self, program: &Program, block_at: &BlockAt) -> Result<(), Rejection> {
        let mut entries = emptied(&mut self.entries);
        entries.push((0, false));
        for (at, instruction) in program.instructions().filter(|it| begins_function(it.1)) {
            let named = matches!(instruction, Instruction::Constant { .. });
            entries.extend(instruction.target(at).map(|target| (target as usize, named)));
        }
        entries.sort_unstable_by_key(|&(first, named)| (first, !named));
        entries.dedup_by_key(|entry| entry.0);
        for (index, &(first, named)) in entries.iter().enumerate() {
            let end = entries.get(index + 1).map_or(self.blocks.len(), |next| block_at.slot(next.0));
            let blocks = block_at.slot(first)..end;
            // The call is a predecessor, too.
            self.blocks[blocks.start].ways += 1;
            self.functions.push(Function { first, blocks, named });
        }
        self.entries = entries;
        match self.functions.len() {
            1 => Ok(()),
            _ => self.functions.iter().try_for_each(|function| self.check_function(program, function)),
        }
    }

    fn check_function(&self, program: &Program, function: &Function) -> Result<(), Rejection> {
        let end = self.blocks[function.blocks.end - 1].end;
        for block in &self.blocks[function.blocks.clone()] {
            let last = block.last(program);
            let Some(instruction) = program.at(last) else { continue };
            let outside = |target: i64| !(function.first..end).contains(&(target as usize));
            let jumps_out = !begins_function(instruction) && instruction.target(last).is_some_and(outside);
            if jumps_out || block.end == end && instruction.falls_through() {
                let what = "it leaves its function without exit; a function is contiguous, extends to where the next \
                            one begins, and ends with exit or a jump";
                return Err(Rejection::new(program, last, what));
            }
        }
        Ok(())
    }

    /// The loop with this head.
    pub fn loop_at(&self, head: usize) -> Option<usize> {
        self.loops.binary_search_by_key(&head, |it| it.head).ok()
    }

    /// The function that contains a slot.
    pub fn function_at(&self, slot: usize) -> usize {
        self.functions.partition_point(|function| function.first <= slot) - 1
    }

    /// The block that an instruction jumps back to, if it does.
    pub fn jumps_back(&self, program: &Program, at: usize, block_at: &BlockAt) -> Option<usize> {
        let instruction = program.at(at).filter(|&it| !begins_function(it))?;
        let target = instruction.target(at).filter(|&target| target <= at as i64)?;
        Some(block_at.slot(target as usize))
    }

    fn find_loops(&mut self, program: &Program, block_at: &BlockAt) {
        for (block, it) in self.blocks.iter().enumerate() {
            if let Some(head) = self.jumps_back(program, it.last(program), block_at) {
                self.loops.push(Loop { head, last: block });
            }
        }
        if self.loops.is_empty() {
            return;
        }
        self.loops.sort_unstable_by_key(|it| (it.head, core::cmp::Reverse(it.last)));
        self.loops.dedup_by_key(|it| it.head);
        let mut around = emptied(&mut self.around);
        let mut next = 0;
        for block in 0..self.blocks.len() {
            while around.last().is_some_and(|&it| self.loops[it].last < block) {
                around.pop();
            }
            if self.loops.get(next).is_some_and(|it| it.head == block) {
                around.push(next);
                next += 1;
            }
            self.blocks[block].within = around.last().copied();
        }
        self.around = around;
    }
}

impl Block {
    /// The slot of its last instruction.
    pub fn last(&self, program: &Program) -> usize {
        if program.at(self.end - 1).is_some() { self.end - 1 } else { self.end - 2 }
    }
}

/// The block that begins in each slot.
#[derive(Debug, Default)]
pub(super) struct BlockAt(Vec<u32>);

impl BlockAt {
    /// The block that begins in this slot, where one does.
    pub fn slot(&self, slot: usize) -> usize {
        debug_assert_ne!(self.0[slot], NO_BLOCK, "no block begins in slot {slot}");
        self.0[slot] as usize
    }
}

/// Whether an instruction's target is the beginning of a function, and not a jump's.
pub(super) fn begins_function(instruction: Instruction) -> bool {
    matches!(instruction, Instruction::CallLocal { .. } | Instruction::Constant { .. })
}
