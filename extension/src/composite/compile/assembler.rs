//! Instructions with labels in place of distances. A conditional jump reaches 32768 slots; one that leads farther
//! becomes two.

use alloc::vec;
use alloc::vec::Vec;

use crate::bytecode::{Condition, Instruction, Operand, Register, Slot, Width};

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

enum Item {
    Instruction(Instruction),
    Jump(Label),
    JumpIf { condition: Condition, left: Register, right: Operand, to: Label, is_far: bool },
}

/// Code that is being written.
#[derive(Default)]
pub struct Assembler {
    items: Vec<Item>,
    /// For each label, the item before which it stands.
    labels: Vec<usize>,
}

impl Assembler {
    /// A new label, to be placed once.
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places the label before the next instruction.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.items.len();
    }

    pub fn put(&mut self, instruction: Instruction) {
        self.items.push(Item::Instruction(instruction));
    }

    pub fn jump(&mut self, to: Label) {
        self.items.push(Item::Jump(to));
    }

    pub fn jump_if(&mut self, condition: Condition, left: Register, right: Operand, to: Label) {
        self.items.push(Item::JumpIf { condition, left, right, to, is_far: false });
    }

    /// Encodes the code. All labels that are jumped to have been placed.
    pub fn finish(mut self) -> Vec<Slot> {
        let mut at = self.places();
        while self.lengthen(&at) {
            at = self.places();
        }
        let mut slots = Vec::new();
        for (item, begin) in self.items.iter().zip(&at) {
            let distance =
                |to: &Label, from: usize| (at[self.labels[to.0 as usize]] as i64 - from as i64) as i32;
            let jump = |to, from| Instruction::Jump { width: Width::W32, offset: distance(to, from) };
            match item {
                Item::Instruction(instruction) => instruction.encode(&mut slots),
                Item::Jump(to) => jump(to, begin + 1).encode(&mut slots),
                Item::JumpIf { condition, left, right, to, is_far } => {
                    let (condition, offset) = match is_far {
                        // Over the far jump, unless it holds.
                        true => (opposite(*condition), 1),
                        false => (*condition, distance(to, begin + 1) as i16),
                    };
                    let near = Instruction::JumpIf {
                        width: Width::W64,
                        condition,
                        left: *left,
                        right: *right,
                        offset,
                    };
                    near.encode(&mut slots);
                    if *is_far {
                        jump(to, begin + 2).encode(&mut slots);
                    }
                }
            }
        }
        slots
    }

    /// The first slot of each item, and the slot behind the last.
    fn places(&self) -> Vec<usize> {
        let mut at = vec![0];
        for item in &self.items {
            let slots = match item {
                Item::Instruction(instruction) => instruction.slots(),
                Item::Jump(_) => 1,
                Item::JumpIf { is_far, .. } => 1 + usize::from(*is_far),
            };
            at.push(at[at.len() - 1] + slots);
        }
        at
    }

    /// Marks jumps that lead too far. Returns whether any was marked now.
    fn lengthen(&mut self, at: &[usize]) -> bool {
        let mut grows = false;
        for (item, begin) in self.items.iter_mut().zip(at) {
            if let Item::JumpIf { to, is_far, .. } = item {
                let distance = at[self.labels[to.0 as usize]] as i64 - *begin as i64 - 1;
                if !*is_far && i16::try_from(distance).is_err() {
                    (*is_far, grows) = (true, true);
                }
            }
        }
        grows
    }
}

fn opposite(condition: Condition) -> Condition {
    match condition {
        Condition::Equal => Condition::NotEqual,
        Condition::NotEqual => Condition::Equal,
        Condition::Above => Condition::BelowOrEqual,
        Condition::AboveOrEqual => Condition::Below,
        Condition::Below => Condition::AboveOrEqual,
        Condition::BelowOrEqual => Condition::Above,
        Condition::SignedGreater => Condition::SignedLessOrEqual,
        Condition::SignedGreaterOrEqual => Condition::SignedLess,
        Condition::SignedLess => Condition::SignedGreaterOrEqual,
        Condition::SignedLessOrEqual => Condition::SignedGreater,
        Condition::AnyBit => unreachable!("no such jump is written: none is its opposite"),
    }
}
