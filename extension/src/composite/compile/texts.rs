//! Code of expressions that are TEXTs: their values are in slots.

use super::compiler::*;
use crate::bytecode::{Alu, Condition, Register};
use crate::composite::helpers;
use crate::composite::tree::{Expression, Operation};
use crate::composite::value::Text;

/// The slot of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// A variable's, or a constant's.
    Fixed(u32),
    /// A temporary one, which is dropped after use.
    Temporary(u32),
    /// A slot whose number is a waiting value: the index of that.
    Waiting(usize),
}

impl Slot {
    /// How many waiting values it takes.
    pub fn waits(self) -> usize {
        usize::from(matches!(self, Slot::Waiting(_)))
    }
}

impl Compiler {
    /// Evaluates an expression to a slot. Slots are to be dropped in reverse order.
    pub(super) fn text(&mut self, expression: &Expression, waiting: usize) -> Slot {
        match expression {
            Expression::Text(text) => Slot::Fixed(self.constant(text)),
            Expression::Variable(variable) => Slot::Fixed(self.layout.place(*variable)),
            Expression::Element(variable, index, location) => {
                self.word(index, waiting);
                self.within(*variable, *location);
                self.number_of_slot(*variable);
                self.wait(waiting, R0);
                Slot::Waiting(waiting)
            }
            Expression::Apply(operation, operands, location) => {
                self.make(None, *operation, operands, *location, waiting)
            }
            _ => unreachable!("checked: it is a TEXT"),
        }
    }

    /// Turns an index of an array of texts, in r0, into the number of its slot.
    pub(super) fn number_of_slot(&mut self, variable: u32) {
        let first = self.layout.place(variable);
        if first > 0 {
            self.alu(Alu::Add, R0, first as i32);
        }
    }

    fn constant(&mut self, text: &Text) -> u32 {
        if let Some((_, slot)) = self.constants.iter().find(|(known, _)| known == text) {
            return *slot;
        }
        let slot = self.new_text(text.clone());
        self.constants.push((text.clone(), slot));
        slot
    }

    /// Puts the number of a slot into a register.
    pub(super) fn slot(&mut self, to: Register, slot: Slot) {
        match slot {
            Slot::Fixed(slot) | Slot::Temporary(slot) => self.number(to, slot.into()),
            Slot::Waiting(number) => self.take(to, number),
        }
    }

    /// Frees a slot, if it is temporary.
    pub(super) fn drop(&mut self, slot: Slot) {
        if let Slot::Temporary(slot) = slot {
            self.taken -= 1;
            debug_assert_eq!(self.temporaries[self.taken], slot);
        }
    }

    fn temporary(&mut self) -> Slot {
        if self.taken == self.temporaries.len() {
            let slot = self.new_text(Text::default());
            self.temporaries.push(slot);
        }
        self.taken += 1;
        Slot::Temporary(self.temporaries[self.taken - 1])
    }

    /// Computes a text into a slot, or into a temporary one. That slot holds no operand but perhaps the first.
    pub(super) fn make(
        &mut self,
        to: Option<Slot>,
        operation: Operation,
        operands: &[Expression],
        location: u32,
        waiting: usize,
    ) -> Slot {
        let to = match operation {
            Operation::Concatenate => {
                let a = self.text(&operands[0], waiting);
                let b = self.text(&operands[1], waiting + a.waits());
                // The result takes the slot of a temporary part, by preference the first one's, which is appended to.
                let result = match (to, a, b) {
                    (Some(to), ..) => to,
                    (None, Slot::Temporary(_), _) => a,
                    (None, _, Slot::Temporary(_)) => b,
                    (None, ..) => self.temporary(),
                };
                self.slot(R1, result);
                self.slot(R2, a);
                self.slot(R3, b);
                self.helper(helpers::JOIN);
                return self.made(result, &[a, b], location);
            }
            Operation::Slice => {
                let text = self.text(&operands[0], waiting);
                let waiting = waiting + text.waits();
                self.two(&operands[1], &operands[2], waiting);
                self.copy(r(4), R1);
                self.copy(R3, R0);
                let result = match (to, text) {
                    (Some(to), _) => to,
                    (None, Slot::Temporary(_)) => text,
                    (None, _) => self.temporary(),
                };
                self.slot(R2, text);
                self.slot(R1, result);
                self.helper(helpers::SLICE);
                return self.made(result, &[text], location);
            }
            Operation::Zeros => {
                self.word(&operands[0], waiting);
                self.copy(R2, R0);
                let to = to.unwrap_or_else(|| self.temporary());
                self.slot(R1, to);
                self.helper(helpers::ZEROS);
                to
            }
            _ => {
                let ty = helpers::written_type(operation).expect("all others make no text");
                self.word(&operands[0], waiting);
                self.copy(R3, R0);
                self.number(R2, ty as i64);
                let to = to.unwrap_or_else(|| self.temporary());
                self.slot(R1, to);
                self.helper(helpers::WRITE);
                to
            }
        };
        self.status(location);
        to
    }

    /// Goes on if a helper gave 0.
    pub(super) fn status(&mut self, location: u32) {
        let failing = self.failing_as_r0_says(location);
        self.jump_if(Condition::Above, R0, 0, failing);
    }

    /// Ends an operation on texts: checks the status, and drops temporary operands but the one that holds the result.
    fn made(&mut self, result: Slot, of: &[Slot], location: u32) -> Slot {
        self.status(location);
        let is = |slot: &Slot| match (*slot, result) {
            (Slot::Temporary(slot), Slot::Temporary(result)) => slot == result,
            _ => false,
        };
        for slot in of.iter().rev().filter(|slot| !is(slot)) {
            self.drop(*slot);
        }
        result
    }
}
