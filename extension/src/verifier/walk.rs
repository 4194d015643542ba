//! Walks a function's blocks until a fixed point is reached.

use alloc::{boxed::Box, vec::Vec};

use super::analysis::Analysis;
use super::branch::Comparison;
use super::context::Context;
use super::rejection::{Holds, Rejection};
use super::state::{Merge, State};
use super::value::{Kind, Value};
use super::vectors::filled;
use crate::bytecode::{Condition, Instruction, Operand, Register};

/// How often a state may grow before whatever still changes becomes unknown.
const PATIENCE: u8 = 48;

/// The worklist: blocks that are still to be analysed. The first one is always next, so that code behind a loop waits
/// for the loop.
pub(super) struct Pending {
    words: Vec<u64>,
    /// No word before this one has a bit.
    from: usize,
}

impl Pending {
    fn new(blocks: usize, used: &mut Vec<u64>) -> Pending {
        Pending { words: filled(used, blocks.div_ceil(64), 0), from: 0 }
    }

    fn insert(&mut self, block: usize) {
        self.words[block / 64] |= 1 << (block % 64);
        self.from = self.from.min(block / 64);
    }

    fn take_first(&mut self) -> Option<usize> {
        while *self.words.get(self.from)? == 0 {
            self.from += 1;
        }
        let word = &mut self.words[self.from];
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(self.from * 64 + bit)
    }
}

impl Analysis<'_> {
    /// Analyses a function from the entry of its context.
    pub(super) fn walk(&mut self, function: usize, context: &mut Context) -> Result<(), Rejection> {
        let first = self.flow.functions[function].blocks.start;
        let mut pending = Pending::new(context.states.len(), &mut self.pieces.pending);
        pending.insert(0);
        let mut entry = Some(self.pieces.copy(&context.entry));
        while let Some(index) = pending.take_first() {
            let is_kept = self.is_kept(first + index);
            let stored = &mut context.states[index];
            match (entry.take(), stored.as_deref_mut()) {
                // The first block of a function may be the head of a loop.
                (Some(entry), Some(stored)) => _ = stored.merge(&entry, Merge::Join),
                (Some(entry), None) => *stored = Some(entry),
                (None, _) => {}
            }
            let kept = stored.as_deref().filter(|_| is_kept);
            let state = match kept {
                Some(kept) => self.pieces.copy(kept),
                None => stored.take().expect("a pending block has a state"),
            };
            self.go_on(first + index, state, (first, context, &mut pending))?;
        }
        self.pieces.pending = pending.words;
        Ok(())
    }

    /// Whether a block's state is kept, because the block may be analysed again.
    fn is_kept(&self, block: usize) -> bool {
        let block = &self.flow.blocks[block];
        block.within.is_some() && block.ways > 1
    }

    /// Analyses a block, and those behind it that have no other predecessor.
    fn go_on(
        &mut self,
        mut block: usize,
        mut state: Box<State>,
        (first, context, pending): (usize, &mut Context, &mut Pending),
    ) -> Result<(), Rejection> {
        loop {
            let mut next = block + 1;
            let (mut at, end) = (self.flow.blocks[block].first, self.flow.blocks[block].end);
            while at < end {
                let Some(instruction) = self.program.at(at) else {
                    unreachable!("blocks begin with instructions")
                };
                self.see(at, &state);
                match instruction {
                    Instruction::Exit => return self.exit(at, state, context),
                    Instruction::Jump { .. } => next = self.target(at, instruction),
                    Instruction::JumpIf { width, condition, left, right, .. } => {
                        let it = Comparison { width, condition, left, right };
                        self.compares(at, it, &state)?;
                        self.note_landmarks(block, it, &state);
                        let mut jumping = self.pieces.copy(&state);
                        if self.assume(it, true, &mut jumping) {
                            let target = self.target(at, instruction);
                            self.flow_to(block, target, jumping, (first, context, pending));
                        } else {
                            self.pieces.give_up(jumping);
                        }
                        if !self.assume(it, false, &mut state) {
                            self.pieces.give_up(state);
                            return Ok(());
                        }
                    }
                    Instruction::CallLocal { .. } => {
                        let function = self.flow.function_at(instruction.target(at).unwrap_or(0) as usize);
                        if !self.call_function(at, function, &mut state)? {
                            return Ok(());
                        }
                    }
                    Instruction::CallRegister { target } => {
                        if !self.call_register(at, target, &mut state)? {
                            return Ok(());
                        }
                    }
                    _ => self.step(at, instruction, &mut state)?,
                }
                at += instruction.slots();
            }
            if next != block + 1 || self.flow.blocks[next].ways > 1 {
                self.flow_to(block, next, state, (first, context, pending));
                return Ok(());
            }
            block = next;
        }
    }

    fn target(&self, at: usize, instruction: Instruction) -> usize {
        self.block_at.slot(instruction.target(at).unwrap_or(0) as usize)
    }

    /// Merges the state at the end of one block into that at the beginning of another.
    fn flow_to(
        &mut self,
        from: usize,
        to: usize,
        state: Box<State>,
        (first, context, pending): (usize, &mut Context, &mut Pending),
    ) {
        let back = to <= from;
        if back {
            self.note_round(to, &state);
        }
        let (stored, grown) = (&mut context.states[to - first], &mut context.grown[to - first]);
        match stored {
            Some(stored) if self.flow.blocks[to].ways > 1 => {
                let how = match back {
                    _ if *grown >= PATIENCE => Merge::GiveUp,
                    true => Merge::Widen(self.landmarks(to)),
                    false => Merge::Join,
                };
                let changed = stored.merge(&state, how);
                self.pieces.give_up(state);
                if !changed {
                    return;
                }
                *grown = grown.saturating_add(1);
            }
            _ => *stored = Some(state),
        }
        pending.insert(to - first);
    }

    fn exit(&mut self, at: usize, mut state: Box<State>, context: &mut Context) -> Result<(), Rejection> {
        let result = Register::new(0).expect("r0 is a register");
        let depth = state.depth();
        if depth == 0 {
            let value = self.readable(at, result, &state)?;
            if self.is_secret(value) {
                let holds = Holds(result, value, self.contract);
                let what =
                    alloc::format!("{holds}, and addresses are secret; set {result} to a number before exit");
                return Err(self.refuse(at, what));
            }
            self.pieces.give_up(state);
            return Ok(());
        }
        // The frame is gone, and ties are valid within one function.
        let gone = Kind::Stack(depth as u8);
        state.change_all(|value| value.kind == gone, |value| *value = Value::MIXED);
        state.untie_all();
        match &mut context.exit {
            Some(exit) => _ = exit.merge(&state, Merge::Join),
            None => context.exit = Some(state),
        }
        Ok(())
    }

    /// Notes the state at a jump back.
    fn note_round(&mut self, head: usize, state: &State) {
        if let Some(index) = self.flow.loop_at(head) {
            self.rounds[index].note(state.registers());
        }
    }

    /// The landmarks of a loop.
    fn landmarks(&self, head: usize) -> &[i64] {
        self.flow.loop_at(head).map_or(&[], |index| self.rounds[index].landmarks())
    }

    /// Notes the numbers that a loop's variables are compared with as landmarks: the variables will probably stop
    /// growing there.
    fn note_landmarks(&mut self, block: usize, it: Comparison, state: &State) {
        let Some(within) = self.flow.blocks[block].within else { return };
        let mut note = |value: &Value| {
            if value.is_number() && value.number.signed_most < i64::MAX {
                self.rounds[within].note_landmark(value.number.signed_most);
            }
        };
        if it.condition == Condition::AnyBit {
            return;
        }
        note(&state.operand(it.right));
        if let Operand::Register(_) = it.right {
            note(state.get(it.left));
        }
    }

    /// Records the state before an instruction, for tests.
    #[cfg(test)]
    fn see(&mut self, at: usize, state: &State) {
        if let Some(seen) = &mut self.seen {
            seen.entry(at).or_default().push(state.clone());
        }
    }

    #[cfg(not(test))]
    #[inline(always)]
    fn see(&mut self, _: usize, _: &State) {}
}
