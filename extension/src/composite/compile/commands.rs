//! Code of commands.

use drystone_component::Type;

use super::assembler::Label;
use super::compiler::*;
use super::texts::Slot;
use super::words::{constant_of, is_leaf};
use crate::bytecode::{Alu, Condition, Instruction, Operand, Register};
use crate::composite::fault::Fault;
use crate::composite::helpers;
use crate::composite::tree::{Command, Expression, For, Move, OnError, Operation};
use crate::composite::walk::{appended, location_of};

impl Compiler {
    pub(super) fn command(&mut self, command: &Command) {
        self.begin();
        match command {
            Command::Sequence(commands) => commands.iter().for_each(|command| self.command(command)),
            Command::Assign(variable, value) if self.ty(*variable) == Type::Text => {
                self.assign_text(*variable, value)
            }
            Command::Assign(variable, value) => {
                self.word(value, 0);
                self.store(self.layout.place(*variable), R0);
            }
            Command::AssignElement { variable, index, value, location } => {
                self.assign_element(*variable, index, value, *location)
            }
            Command::If(condition, yes, no) => self.if_else(condition, yes, no),
            Command::While(condition, body) => {
                let [round, test] = [(); 2].map(|()| self.assembler.label());
                self.assembler.jump(test);
                self.assembler.place(round);
                self.command(body);
                self.assembler.place(test);
                self.begin();
                self.jump_when(condition, true, round, 0);
            }
            Command::Repeat(body, condition) => {
                let round = self.assembler.label();
                self.assembler.place(round);
                self.command(body);
                self.begin();
                self.jump_when(condition, false, round, 0);
            }
            Command::For(it) => self.for_to(it),
            Command::Call(call) => self.call(*call),
            Command::Number { text, variable, is } => self.spelled(text, *variable, *is),
            Command::Move(it) => self.move_elements(it),
            Command::OnError(what) => {
                self.number(R1, (*what == OnError::Continue).into());
                self.helper(helpers::ON_ERROR);
            }
            Command::Fail(fault, location) => self.fail(Some(*fault), *location, self.again),
            Command::Stop if self.responding.is_some() => {
                let done = self.responding().done;
                self.assembler.jump(done);
            }
            Command::Stop => {
                self.number(R0, 0);
                self.put(Instruction::Exit);
            }
        }
    }

    pub(super) fn call(&mut self, call: u32) {
        if self.responding.is_some() {
            return self.converse(call);
        }
        self.number(R1, call.into());
        self.helper(helpers::CALL);
    }

    fn if_else(&mut self, condition: &Expression, yes: &Command, no: &Command) {
        let [otherwise, done] = [(); 2].map(|()| self.assembler.label());
        self.jump_when(condition, false, otherwise, 0);
        self.command(yes);
        let is_short = matches!(no, Command::Sequence(commands) if commands.is_empty());
        if !is_short {
            self.assembler.jump(done);
        }
        self.assembler.place(otherwise);
        if !is_short {
            self.command(no);
        }
        self.assembler.place(done);
    }

    fn assign_text(&mut self, variable: u32, value: &Expression) {
        let to = Slot::Fixed(self.layout.place(variable));
        let location = location_of(value);
        if let Some(parts) = appended(variable, value) {
            // The appended parts are concatenated first, so that the variable changes once or not at all.
            let rest = match *parts {
                [part] => self.text(part, 0),
                [first, ref others @ ..] => {
                    let mut all = first.clone();
                    for part in others {
                        let operands = [all, (*part).clone()].into();
                        all = Expression::Apply(Operation::Concatenate, operands, location);
                    }
                    self.text(&all, 0)
                }
                [] => unreachable!("there is something that is put behind"),
            };
            self.slot(R1, to);
            self.slot(R2, to);
            self.slot(R3, rest);
            self.helper(helpers::JOIN);
            self.drop(rest);
            return self.status(location);
        }
        if let Expression::Apply(operation, operands, location) = value {
            self.make(Some(to), *operation, operands, *location, 0);
            return;
        }
        let from = self.text(value, 0);
        self.slot(R1, to);
        self.slot(R2, from);
        self.helper(helpers::COPY);
        self.status(location);
    }

    fn assign_element(&mut self, variable: u32, index: &Expression, value: &Expression, location: u32) {
        let it = self.layout.variable(variable);
        let (is_text, is_array) = (it.ty == Type::Text, it.length.is_some());
        self.word(index, 0);
        if is_text && is_array {
            self.wait(0, R0);
            let from = self.text(value, 1);
            self.take(R0, 0);
            self.within(variable, location);
            self.number_of_slot(variable);
            self.copy(R1, R0);
            self.slot(R2, from);
            let is_temporary = matches!(from, Slot::Temporary(_));
            self.helper(if is_temporary { helpers::TAKE } else { helpers::COPY });
            self.drop(from);
            self.status(location);
        } else if is_text {
            self.wait(0, R0);
            self.word(value, 1);
            self.copy(R3, R0);
            self.take(R2, 0);
            self.number(R1, self.layout.place(variable).into());
            self.helper(helpers::SET_BYTE);
            self.status(location);
        } else if is_leaf(value) {
            self.locate(variable, location);
            self.leaf(R0, value);
            self.store_at(R1, 0, R0);
        } else {
            self.wait(0, R0);
            self.word(value, 1);
            self.copy(R2, R0);
            self.take(R0, 0);
            self.locate(variable, location);
            self.store_at(R1, 0, R2);
        }
    }

    fn for_to(&mut self, it: &For) {
        let variable = self.layout.place(it.variable);
        let [round, done] = [(); 2].map(|()| self.assembler.label());
        self.word(&it.from, 0);
        self.wait(0, R0);
        let to = self.once(&it.to);
        let by = self.once(&it.by);
        if let Once::Word(by) = by {
            self.load(R0, by);
            let failing = self.failing(Fault::InvalidArgument, it.location);
            self.jump_if(Condition::Equal, R0, 0, failing);
        } else if let Once::Number(0) = by {
            return self.fail(Some(Fault::InvalidArgument), it.location, self.again);
        }
        self.take(R0, 0);
        self.store(variable, R0);
        self.leave_behind(to, by, done);
        self.assembler.place(round);
        self.command(&it.body);
        self.load(R0, variable);
        self.copy(R2, R0);
        match by {
            Once::Number(by) => self.alu(Alu::Add, R0, by),
            Once::Word(by) => {
                self.load(R1, by);
                self.alu(Alu::Add, R0, R1);
            }
        }
        self.leave_wrapped(by, done);
        self.leave_behind(to, by, done);
        self.store(variable, R0);
        self.assembler.jump(round);
        self.assembler.place(done);
    }

    /// Evaluates a bound or step of a loop once.
    fn once(&mut self, expression: &Expression) -> Once {
        if let Some(number) = constant_of(expression).and_then(|it| i32::try_from(it).ok()) {
            return Once::Number(number);
        }
        self.word(expression, 1);
        let word = self.new_word();
        self.store(word, R0);
        Once::Word(word)
    }

    /// Leaves a FOR if its next number, in r0, is past its bound.
    fn leave_behind(&mut self, to: Once, by: Once, done: Label) {
        let bound: Operand = match to {
            Once::Number(number) => number.into(),
            Once::Word(word) => {
                self.load(R1, word);
                R1.into()
            }
        };
        self.by_sign(by, |compiler, grows| {
            let past = if grows { Condition::SignedGreater } else { Condition::SignedLess };
            compiler.jump_if(past, R0, bound, done);
        });
    }

    /// Leaves a FOR if the step has overflowed: r0 is the number after it, r2 the one before.
    fn leave_wrapped(&mut self, by: Once, done: Label) {
        self.by_sign(by, |compiler, grows| {
            let wraps = if grows { Condition::SignedLess } else { Condition::SignedGreater };
            compiler.jump_if(wraps, R0, R2, done);
        });
    }

    fn by_sign(&mut self, by: Once, mut which: impl FnMut(&mut Self, bool)) {
        match by {
            Once::Number(by) => which(self, by > 0),
            Once::Word(by) => {
                let [falls, on] = [(); 2].map(|()| self.assembler.label());
                self.load(R3, by);
                self.jump_if(Condition::SignedLess, R3, 0, falls);
                which(self, true);
                self.assembler.jump(on);
                self.assembler.place(falls);
                which(self, false);
                self.assembler.place(on);
            }
        }
    }

    fn spelled(&mut self, text: &Expression, variable: u32, is: u32) {
        let done = self.assembler.label();
        let text = self.text(text, 0);
        self.slot(R1, text);
        self.number(R2, (self.ty(variable) == Type::Real).into());
        self.address_for_helper(R3);
        self.helper(helpers::NUMBER);
        self.drop(text);
        self.jump_if(Condition::Equal, R0, 0, done);
        self.load_from(R1, Register::FRAME, FOR_HELPERS);
        self.store(self.layout.place(variable), R1);
        self.assembler.place(done);
        self.store(self.layout.place(is), R0);
    }

    fn move_elements(&mut self, it: &Move) {
        let numbers = [&it.from_at, &it.from_step, &it.to_at, &it.to_step, &it.size, &it.count];
        for (number, expression) in numbers.into_iter().enumerate() {
            self.word(expression, 0);
            self.store_at(Register::FRAME, FOR_HELPERS + 8 * number as i16, R0);
        }
        self.number(R1, it.from.into());
        self.number(R2, it.to.into());
        self.address_for_helper(R3);
        self.helper(helpers::MOVE);
        self.status(it.location);
    }

    fn address_for_helper(&mut self, to: Register) {
        self.copy(to, Register::FRAME);
        self.alu(Alu::Add, to, FOR_HELPERS as i32);
    }
}

/// A value that was evaluated once.
#[derive(Clone, Copy)]
enum Once {
    Number(i32),
    Word(u32),
}
