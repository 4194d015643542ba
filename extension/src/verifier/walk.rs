//! Goes all ways through a function, until nothing new is found.

use alloc::{boxed::Box, vec::Vec};

use super::Verifier;
use super::branch::Comparison;
use super::call::Context;
use super::rejection::{Holds, Rejection};
use super::state::{Merge, State};
use super::value::Kind;
use super::vectors::filled;
use crate::bytecode::{Condition, Instruction, Operand, Register};

/// How often a state may grow before all that still changes is given up.
const PATIENCE: u8 = 48;

/// Blocks of a function that are still to be gone through; always the first is next, so that what stands behind a loop
/// waits for it.
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

impl Verifier<'_> {
    /// Goes through a function from what is known where it begins.
    pub(super) fn walk(&mut self, function: usize, context: &mut Context) -> Result<(), Rejection> {
        let first = self.flow.functions[function].blocks.start;
        let mut pending = Pending::new(context.states.len(), &mut self.pieces.pending);
        pending.insert(0);
        let mut entry = Some(self.pieces.copy(&context.entry));
        while let Some(index) = pending.take_first() {
            let is_kept = self.is_kept(first + index);
            let stored = &mut context.states[index];
            match (entry.take(), stored.as_deref_mut()) {
                // Where a function begins, a loop of it may begin too.
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

    /// Whether more may flow into a block after it was gone through.
    fn is_kept(&self, block: usize) -> bool {
        let block = &self.flow.blocks[block];
        block.within.is_some() && block.ways > 1
    }

    /// Goes through a block, and those behind it to which no other way leads.
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

    /// What is known at the end of one block holds at the beginning of another.
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
        // The frame is gone, and ties are a function's own.
        let gone = Kind::Stack(depth as u8);
        state.change_all(|value| value.kind == gone, |value| *value = super::Value::MIXED);
        state.untie_all();
        match &mut context.exit {
            Some(exit) => _ = exit.merge(&state, Merge::Join),
            None => context.exit = Some(state),
        }
        Ok(())
    }

    /// Notes what a loop's variables are compared with: there they will probably stop growing.
    fn note_landmarks(&mut self, block: usize, it: Comparison, state: &State) {
        let Some(within) = self.flow.blocks[block].within else { return };
        let mut note = |value: &super::Value| {
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

    /// What is known where an instruction stands, for tests.
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
