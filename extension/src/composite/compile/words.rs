//! Code of expressions that aren't TEXTs: their values come to r0.

use drystone_component::Type;

use super::assembler::Label;
use super::compiler::*;
use crate::bytecode::{Alu, Condition, Instruction, Register, Size, Width};
use crate::composite::fault::Fault;
use crate::composite::helpers;
use crate::composite::operate;
use crate::composite::table::WORD;
use crate::composite::tree::{Expression, Operation};

/// The most negative INTEGER.
const LEAST: i64 = i64::MIN;

impl Compiler {
    /// Evaluates an expression into r0, while so many values wait.
    pub(super) fn word(&mut self, expression: &Expression, waiting: usize) {
        match expression {
            Expression::Element(variable, index, location) => {
                self.word(index, waiting);
                self.locate(*variable, *location);
                self.load_from(R0, R1, 0);
            }
            Expression::Apply(operation, operands, location) => {
                self.apply(*operation, operands, *location, waiting, expression)
            }
            Expression::Test(call) => self.call(*call),
            Expression::Failed => self.helper(helpers::FAILED),
            leaf => self.leaf(R0, leaf),
        }
    }

    /// Loads a constant or a variable.
    pub(super) fn leaf(&mut self, to: Register, leaf: &Expression) {
        match leaf {
            Expression::Variable(variable) => self.load(to, self.layout.place(*variable)),
            constant => {
                let number = constant_of(constant).expect("all else isn't a leaf");
                self.number(to, number);
            }
        }
    }

    /// Puts into r1 the address of the element whose index is in r0.
    pub(super) fn locate(&mut self, variable: u32, location: u32) {
        self.within(variable, location);
        self.alu(Alu::ShiftLeft, R0, 3);
        self.copy(R1, BASE);
        self.alu(Alu::Add, R1, R0);
        let first = self.layout.place(variable) as usize * WORD;
        if first > 0 {
            self.alu(Alu::Add, R1, first as i32);
        }
    }

    /// Fails unless r0 is an index of an array.
    pub(super) fn within(&mut self, variable: u32, location: u32) {
        let failing = self.failing(Fault::IndexOutOfBounds, location);
        let count = self.layout.variable(variable).count();
        self.jump_if(Condition::AboveOrEqual, R0, count as i32, failing);
    }

    /// Evaluates two expressions into r0 and r1.
    pub(super) fn two(&mut self, a: &Expression, b: &Expression, waiting: usize) {
        if is_leaf(b) {
            self.word(a, waiting);
            self.leaf(R1, b);
        } else if is_leaf(a) {
            self.word(b, waiting);
            self.copy(R1, R0);
            self.leaf(R0, a);
        } else {
            self.word(a, waiting);
            self.wait(waiting, R0);
            self.word(b, waiting + 1);
            self.copy(R1, R0);
            self.take(R0, waiting);
        }
    }

    fn apply(
        &mut self,
        operation: Operation,
        operands: &[Expression],
        location: u32,
        waiting: usize,
        whole: &Expression,
    ) {
        use Operation::*;
        match operation {
            And | Or | Not | Compare(..) => self.truth(whole, waiting),
            CharacterToInteger | BooleanToInteger => self.word(&operands[0], waiting),
            IntegerToCharacter => {
                self.word(&operands[0], waiting);
                let failing = self.failing(Fault::InvalidConversion, location);
                self.jump_if(Condition::Above, R0, 255, failing);
            }
            IntegerToReal => {
                self.word(&operands[0], waiting);
                self.copy(R1, R0);
                self.helper(helpers::TO_REAL);
            }
            RealToInteger => {
                self.word(&operands[0], waiting);
                self.wait(waiting, R0);
                self.copy(R1, R0);
                self.helper(helpers::IS_INTEGER);
                let failing = self.failing(Fault::InvalidConversion, location);
                self.jump_if(Condition::Equal, R0, 0, failing);
                self.take(R1, waiting);
                self.helper(helpers::FLOOR);
            }
            NegateReal => {
                self.word(&operands[0], waiting);
                self.number(R1, LEAST);
                self.alu(Alu::Xor, R0, R1);
            }
            Length => {
                let text = self.text(&operands[0], waiting);
                self.slot(R1, text);
                self.helper(helpers::LENGTH);
                self.drop(text);
            }
            ByteOf => {
                let text = self.text(&operands[0], waiting);
                self.word(&operands[1], waiting + text.waits());
                self.copy(R2, R0);
                self.slot(R1, text);
                self.helper(helpers::BYTE_OF);
                self.drop(text);
                let failing = self.failing(Fault::IndexOutOfBounds, location);
                self.jump_if(Condition::SignedLess, R0, 0, failing);
            }
            Find => {
                let text = self.text(&operands[0], waiting);
                let part = self.text(&operands[1], waiting + text.waits());
                self.word(&operands[2], waiting + text.waits() + part.waits());
                self.copy(R3, R0);
                self.slot(R1, text);
                self.slot(R2, part);
                self.helper(helpers::FIND);
                self.drop(part);
                self.drop(text);
                let failing = self.failing(Fault::IndexOutOfBounds, location);
                self.jump_if(Condition::Equal, R0, -2, failing);
            }
            _ if operation.signature().1 == Type::Real => {
                match operands {
                    [a, b] => self.two(a, b, waiting),
                    others => {
                        self.word(&others[0], waiting);
                        self.number(R1, 0);
                    }
                }
                self.copy(R2, R1);
                self.copy(R1, R0);
                self.helper(helpers::of_reals(operation));
            }
            _ => self.integers(operation, operands, location, waiting),
        }
    }

    fn integers(&mut self, operation: Operation, operands: &[Expression], location: u32, waiting: usize) {
        use Operation::*;
        if let [a, b] = operands
            && let Some(b) = constant_of(b).and_then(|it| i32::try_from(it).ok())
            && self.with_number(operation, a, b, location, waiting)
        {
            return;
        }
        match operands {
            [a, b] => self.two(a, b, waiting),
            others => self.word(&others[0], waiting),
        }
        let overflow = |compiler: &mut Compiler| compiler.failing(Fault::Overflow, location);
        match operation {
            Negate => {
                self.copy(R2, R0);
                self.put(Instruction::Negate { width: Width::W64, destination: R0 });
                self.alu(Alu::And, R2, R0);
                let overflow = overflow(self);
                self.jump_if(Condition::SignedLess, R2, 0, overflow);
            }
            Add => {
                // It has overflowed if both operands have the opposite sign of the sum.
                self.copy(R2, R0);
                self.alu(Alu::Add, R0, R1);
                self.alu(Alu::Xor, R2, R0);
                self.alu(Alu::Xor, R1, R0);
                self.alu(Alu::And, R2, R1);
                let overflow = overflow(self);
                self.jump_if(Condition::SignedLess, R2, 0, overflow);
            }
            Subtract => {
                self.copy(R2, R0);
                self.alu(Alu::Sub, R0, R1);
                self.alu(Alu::Xor, R1, R2);
                self.alu(Alu::Xor, R2, R0);
                self.alu(Alu::And, R2, R1);
                let overflow = overflow(self);
                self.jump_if(Condition::SignedLess, R2, 0, overflow);
            }
            Multiply => {
                let overflow = overflow(self);
                let back = self.assembler.label();
                let slow = self.cold(Failing::Multiply { overflow, back, waiting });
                for factor in [R0, R1] {
                    let (width, from) = (Width::W64, Size::Word);
                    self.put(Instruction::Extend { width, from, destination: R2, source: factor });
                    self.jump_if(Condition::NotEqual, R2, factor, slow);
                }
                self.assembler.place(back);
                self.alu(Alu::Mul, R0, R1);
            }
            Div | Mod => self.divide(operation, location),
            Min | Max => {
                let done = self.assembler.label();
                let keeps = if operation == Min {
                    Condition::SignedLessOrEqual
                } else {
                    Condition::SignedGreaterOrEqual
                };
                self.jump_if(keeps, R0, R1, done);
                self.copy(R0, R1);
                self.assembler.place(done);
            }
            BitNot => self.alu(Alu::Xor, R0, -1),
            Shift => self.shift(),
            Rotate => self.rotate(),
            _ => {
                let alu = exact(operation).expect("all others are one instruction");
                self.alu(alu, R0, R1);
            }
        }
    }

    /// Shifts r0 by r1.
    fn shift(&mut self) {
        let [right, nothing, done] = [(); 3].map(|()| self.assembler.label());
        self.jump_if(Condition::SignedLess, R1, 0, right);
        self.jump_if(Condition::Above, R1, 63, nothing);
        self.alu(Alu::ShiftLeft, R0, R1);
        self.assembler.jump(done);
        self.assembler.place(right);
        self.put(Instruction::Negate { width: Width::W64, destination: R1 });
        self.jump_if(Condition::Above, R1, 63, nothing);
        self.alu(Alu::ShiftRight, R0, R1);
        self.assembler.jump(done);
        self.assembler.place(nothing);
        self.number(R0, 0);
        self.assembler.place(done);
    }

    /// Rotates r0 by r1.
    fn rotate(&mut self) {
        self.copy(R2, R0);
        self.alu(Alu::And, R1, 63);
        self.alu(Alu::ShiftLeft, R0, R1);
        self.put(Instruction::Negate { width: Width::W64, destination: R1 });
        self.alu(Alu::And, R1, 63);
        self.alu(Alu::ShiftRight, R2, R1);
        self.alu(Alu::Or, R0, R2);
    }

    /// Makes the shorter code that there is for some operations with a constant. Returns whether it did.
    fn with_number(
        &mut self,
        operation: Operation,
        a: &Expression,
        b: i32,
        location: u32,
        waiting: usize,
    ) -> bool {
        use Operation::*;
        match operation {
            Add | Subtract => {
                self.word(a, waiting);
                self.copy(R2, R0);
                self.alu(if operation == Add { Alu::Add } else { Alu::Sub }, R0, b);
                let overflow = self.failing(Fault::Overflow, location);
                let grows = (b >= 0) == (operation == Add);
                let wraps = if grows { Condition::SignedLess } else { Condition::SignedGreater };
                self.jump_if(wraps, R0, R2, overflow);
            }
            Div if b > 0 && b.count_ones() == 1 => {
                self.word(a, waiting);
                self.alu(Alu::ShiftRightSigned, R0, b.trailing_zeros() as i32);
            }
            Mod if b > 0 && b.count_ones() == 1 => {
                self.word(a, waiting);
                self.alu(Alu::And, R0, b - 1);
            }
            Shift => {
                self.word(a, waiting);
                match b {
                    -63..=-1 => self.alu(Alu::ShiftRight, R0, -b),
                    0..=63 => self.alu(Alu::ShiftLeft, R0, b),
                    _ => self.number(R0, 0),
                }
            }
            _ => {
                let Some(alu) = exact(operation) else { return false };
                self.word(a, waiting);
                self.alu(alu, R0, b);
            }
        }
        true
    }

    /// Divides r0 by r1.
    fn divide(&mut self, operation: Operation, location: u32) {
        let [done, fits] = [(); 2].map(|()| self.assembler.label());
        let by_zero = self.failing(Fault::DivisionByZero, location);
        self.jump_if(Condition::Equal, R1, 0, by_zero);
        if operation == Operation::Mod {
            self.alu(Alu::SignedMod, R0, R1);
            self.jump_if(Condition::Equal, R0, 0, done);
            self.copy(R2, R0);
            self.alu(Alu::Xor, R2, R1);
            self.jump_if(Condition::SignedGreaterOrEqual, R2, 0, done);
            self.alu(Alu::Add, R0, R1);
            self.assembler.place(done);
            return;
        }
        self.jump_if(Condition::NotEqual, R1, -1, fits);
        let overflow = self.failing(Fault::Overflow, location);
        self.number(R2, LEAST);
        self.jump_if(Condition::Equal, R0, R2, overflow);
        self.assembler.place(fits);
        self.copy(R2, R0);
        self.alu(Alu::SignedDiv, R2, R1);
        self.copy(R3, R2);
        self.alu(Alu::Mul, R3, R1);
        // The quotient is rounded towards 0: if there is a remainder, with the opposite sign of the divisor, it is 1
        // too great.
        self.alu(Alu::Sub, R0, R3);
        self.copy(R3, R0);
        self.copy(R0, R2);
        self.jump_if(Condition::Equal, R3, 0, done);
        self.alu(Alu::Xor, R3, R1);
        self.jump_if(Condition::SignedGreaterOrEqual, R3, 0, done);
        self.alu(Alu::Sub, R0, 1);
        self.assembler.place(done);
    }

    pub(super) fn multiply_slowly(&mut self, overflow: Label, back: Label, waiting: usize) {
        if self.responding.is_some() {
            // The process finds out whether it overflows.
            return self.assembler.jump(overflow);
        }
        self.wait(waiting, R0);
        self.wait(waiting + 1, R1);
        self.copy(R2, R1);
        self.copy(R1, R0);
        self.helper(helpers::MULTIPLIES);
        self.jump_if(Condition::Equal, R0, 0, overflow);
        self.take(R0, waiting);
        self.take(R1, waiting + 1);
        self.assembler.jump(back);
    }
}

/// Of operations that are one instruction.
fn exact(operation: Operation) -> Option<Alu> {
    Some(match operation {
        Operation::BitAnd => Alu::And,
        Operation::BitOr => Alu::Or,
        Operation::BitXor => Alu::Xor,
        Operation::AddWrap => Alu::Add,
        Operation::SubtractWrap => Alu::Sub,
        Operation::MultiplyWrap => Alu::Mul,
        _ => return None,
    })
}

pub(super) fn is_leaf(expression: &Expression) -> bool {
    matches!(expression, Expression::Variable(_)) || constant_of(expression).is_some()
}

/// The word of a constant, or of a negated one.
pub(super) fn constant_of(expression: &Expression) -> Option<i64> {
    match expression {
        Expression::Boolean(it) => Some((*it).into()),
        Expression::Character(it) => Some((*it).into()),
        Expression::Integer(it) => Some(*it),
        Expression::Real(it) => Some(it.to_bits() as i64),
        Expression::Apply(Operation::Negate, operands, _) => {
            operate::integer(Operation::Negate, constant_of(&operands[0])?, 0).ok()
        }
        _ => None,
    }
}
