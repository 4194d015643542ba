//! The conversation of a responder with the sender of the request: the request comes from words of the stack, the reply
//! goes to them.

use super::compiler::*;
use super::responding::{Responding, own};
use crate::bytecode::{Condition, Register};
use crate::composite::program::{Action, Argument, Pattern};

impl Compiler {
    pub(super) fn responding(&self) -> &Responding {
        self.responding.as_ref().expect("a responder is being made")
    }

    pub(super) fn get_own(&mut self, to: Register, word: u32) {
        self.load_from(to, Register::FRAME, own::at(word));
    }

    pub(super) fn set_own(&mut self, word: u32, from: Register) {
        self.store_at(Register::FRAME, own::at(word), from);
    }

    /// A step of the conversation.
    pub(super) fn converse(&mut self, call: u32) {
        match self.calls[call as usize].action.clone() {
            Action::Receive { message, results } => self.receive(message, &results),
            Action::Send { message, arguments } => {
                for (number, argument) in arguments.iter().enumerate() {
                    self.load(R0, self.layout.place(argument.variable));
                    self.set_own(own::PARAMETERS + number as u32, R0);
                }
                self.number(R0, i64::from(message) + 1);
                self.set_own(own::REPLY, R0);
            }
            Action::Test(pattern) | Action::Input(pattern) => self.is_next(pattern),
            Action::Close => {}
        }
    }

    fn receive(&mut self, message: u32, results: &[Argument]) {
        let (done, leave) = (self.responding().done, self.responding().leave);
        self.get_own(R0, own::ARRIVED);
        // A request is one message: where the next one is awaited, the run ends.
        self.jump_if(Condition::Equal, R0, -1, done);
        self.jump_if(Condition::NotEqual, R0, message as i32, leave);
        self.number(R0, -1);
        self.set_own(own::ARRIVED, R0);
        for (number, result) in results.iter().enumerate() {
            self.get_own(R0, own::PARAMETERS + number as u32);
            self.store(self.layout.place(result.variable), R0);
        }
    }

    /// Puts into r0 whether the next message is this one.
    fn is_next(&mut self, pattern: Pattern) {
        let (condition, number) = match pattern {
            Pattern::Message(message) => (Condition::Equal, message as i32),
            Pattern::Any => (Condition::NotEqual, -1),
            Pattern::Finish => (Condition::Equal, -1),
        };
        let known = self.assembler.label();
        self.get_own(R1, own::ARRIVED);
        self.number(R0, 1);
        self.jump_if(condition, R1, number, known);
        self.number(R0, 0);
        self.assembler.place(known);
    }
}
