//! Interprets a program's tree. When a run stops, each command from the innermost outwards records its position; when
//! the run is resumed, each takes its position back on the way in. Commands that are neither loops nor sequences are
//! repeated from their beginning.

mod expressions;

use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use drystone_component::Type;

use crate::composite::fault::Fault;
use crate::composite::host::{Called, Failure, Host, cost};
use crate::composite::operate;
use crate::composite::services::Services;
use crate::composite::table::{Layout, set_word, word};
use crate::composite::tree::{Command, Expression, For, Move, Operation};
use crate::composite::value::Text;
use crate::engine::Memory;

/// Why the walk stops.
pub(super) enum Halt {
    Ended,
    Waits,
    Budget,
    Cancelled,
    Failed(Failure),
}

/// The position in a command that contains others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// The part that is next, or under way.
    at: usize,
    /// Of a FOR: its bound and its step.
    to: i64,
    by: i64,
}

pub(super) struct Walk<'a, S> {
    pub host: &'a mut Host<S>,
    pub memory: &'a mut Memory,
    pub layout: &'a Layout,
    /// The innermost command first.
    pub positions: &'a mut Vec<Position>,
    pub budget: u64,
    /// Bytes of texts that were made since the last command began, or the last round.
    pub made: usize,
    pub cancelled: &'a AtomicBool,
}

type Done = Result<(), Halt>;

impl<S: Services> Walk<'_, S> {
    /// Runs a command from its beginning, or from where it stopped.
    pub fn command(&mut self, command: &Command) -> Done {
        // Else a sequence of operations on long texts would never stop.
        if self.host.debt > 0 {
            return Err(Halt::Budget);
        }
        self.made = 0;
        match command {
            Command::Sequence(commands) => self.parts(Position::default(), |walk, position| {
                let Some(next) = commands.get(position.at) else { return Ok(false) };
                walk.command(next)?;
                position.at += 1;
                Ok(true)
            }),
            Command::Assign(variable, value) if self.is_text(*variable) => self.assign_text(*variable, value),
            Command::Assign(variable, value) => {
                let value = self.word(value)?;
                self.set(*variable, value);
                Ok(())
            }
            Command::AssignElement { variable, index, value, location } => {
                self.assign_element(*variable, index, value, *location)
            }
            Command::If(condition, yes, no) => self.parts(Position::default(), |walk, position| {
                if position.at == 0 {
                    position.at = if walk.word(condition)? != 0 { 1 } else { 2 };
                }
                walk.command(if position.at == 1 { yes } else { no })?;
                Ok(false)
            }),
            Command::While(condition, body) => self.parts(Position::default(), |walk, position| {
                if position.at == 0 {
                    if walk.word(condition)? == 0 {
                        return Ok(false);
                    }
                    position.at = 1;
                }
                if position.at == 1 {
                    walk.command(body)?;
                    position.at = 2;
                }
                walk.spend()?;
                position.at = 0;
                Ok(true)
            }),
            Command::Repeat(body, condition) => self.parts(Position::default(), |walk, position| {
                if position.at == 0 {
                    walk.command(body)?;
                    position.at = 1;
                }
                if position.at == 1 {
                    if walk.word(condition)? != 0 {
                        return Ok(false);
                    }
                    position.at = 2;
                }
                walk.spend()?;
                position.at = 0;
                Ok(true)
            }),
            Command::For(it) => self.parts(Position::default(), |walk, position| walk.round(it, position)),
            Command::Call(call) => self.call(*call).map(|_| ()),
            Command::Number { text, variable, is } => {
                let text = self.text(text)?;
                self.pay(cost(text.len()));
                let real = self.layout.variable(*variable).ty == Type::Real;
                let number = operate::number(&text, real);
                if let Some(word) = number {
                    self.set(*variable, word);
                }
                self.set(*is, number.is_some().into());
                Ok(())
            }
            Command::Move(it) => self.move_elements(it),
            Command::OnError(what) => {
                self.host.on_error = *what;
                Ok(())
            }
            Command::Fail(fault, location) => Err(fail(*fault, *location)),
            Command::Stop => Err(Halt::Ended),
        }
    }

    /// Runs a command step by step until there are no more; records where it stops.
    fn parts(
        &mut self,
        begin: Position,
        mut step: impl FnMut(&mut Self, &mut Position) -> Result<bool, Halt>,
    ) -> Done {
        let mut position = self.positions.pop().unwrap_or(begin);
        loop {
            match step(self, &mut position) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(halt) => {
                    self.positions.push(position);
                    return Err(halt);
                }
            }
        }
    }

    /// One round of a FOR: its parts are the bounds, the body, what is paid for the round, and going on.
    fn round(&mut self, it: &For, position: &mut Position) -> Result<bool, Halt> {
        if position.at == 0 {
            let from = self.word(&it.from)?;
            position.to = self.word(&it.to)? as i64;
            position.by = self.word(&it.by)? as i64;
            if position.by == 0 {
                return Err(fail(Fault::InvalidArgument, it.location));
            }
            self.set(it.variable, from);
            if !within(from as i64, position) {
                return Ok(false);
            }
            position.at = 1;
        }
        if position.at == 1 {
            self.command(&it.body)?;
            let now = self.get(it.variable) as i64;
            match now.checked_add(position.by).filter(|next| within(*next, position)) {
                Some(next) => self.set(it.variable, next as u64),
                None => return Ok(false),
            }
            position.at = 2;
        }
        self.spend()?;
        position.at = 1;
        Ok(true)
    }

    /// Pays for a round of a loop.
    fn spend(&mut self) -> Done {
        self.made = 0;
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Halt::Cancelled);
        }
        self.budget = self.budget.checked_sub(1).ok_or(Halt::Budget)?;
        Ok(())
    }

    /// Pays for work that was done.
    fn pay(&mut self, cost: u64) {
        let left = self.budget.checked_sub(cost);
        if left.is_none() {
            self.host.debt += cost - self.budget;
        }
        self.budget = left.unwrap_or(0);
    }

    fn call(&mut self, call: u32) -> Result<u64, Halt> {
        if self.budget == 0 {
            return Err(Halt::Budget);
        }
        let mut spent = 1;
        match self.host.call(self.memory, call.into(), &mut spent) {
            Called::Done(value) => {
                self.pay(spent);
                Ok(value)
            }
            Called::Waits => Err(Halt::Waits),
            Called::Failed(failure) => Err(Halt::Failed(failure)),
        }
    }

    fn is_text(&self, variable: u32) -> bool {
        self.layout.variable(variable).ty == Type::Text
    }

    fn get(&self, variable: u32) -> u64 {
        word(self.memory, self.layout.place(variable) as usize)
    }

    fn set(&mut self, variable: u32, word: u64) {
        set_word(self.memory, self.layout.place(variable) as usize, word);
    }

    /// The number of an element among all words or slots.
    fn place(&self, variable: u32, index: u64, location: u32) -> Result<usize, Halt> {
        let count = self.layout.variable(variable).count();
        if index >= count.into() {
            return Err(fail(Fault::IndexOutOfBounds, location));
        }
        Ok(self.layout.place(variable) as usize + index as usize)
    }

    fn assign_element(
        &mut self,
        variable: u32,
        index: &Expression,
        value: &Expression,
        location: u32,
    ) -> Done {
        let index = self.word(index)?;
        let it = self.layout.variable(variable);
        if it.ty != Type::Text {
            let value = self.word(value)?;
            let place = self.place(variable, index, location)?;
            set_word(self.memory, place, value);
        } else if it.length.is_some() {
            let value = self.text(value)?;
            let slot = self.place(variable, index, location)?;
            self.host.texts.set(slot as u64, value).map_err(|fault| fail(fault, location))?;
        } else {
            let byte = self.word(value)? as u8;
            let slot = self.layout.place(variable).into();
            self.pay(cost(self.host.texts.copied_by_change(slot)));
            let set = self.host.texts.set_byte(slot, index as i64, byte);
            set.map_err(|fault| fail(fault, location))?;
        }
        Ok(())
    }

    /// Concatenates in the variable's slot, so that appending costs only what is appended, unless the text is shared.
    fn assign_text(&mut self, variable: u32, value: &Expression) -> Done {
        let slot = u64::from(self.layout.place(variable));
        let location = location_of(value);
        if let Some(parts) = appended(variable, value) {
            let mut rest = Text::default();
            for part in parts {
                let part = self.text(part)?;
                self.make(part.len()).map_err(|fault| fail(fault, location))?;
                rest = rest.joined(&part);
            }
            self.pay(cost(rest.len() + self.host.texts.copied_by_change(slot)));
            return self.host.texts.append(slot, &rest).map_err(|fault| fail(fault, location));
        }
        let text = self.text(value)?;
        self.host.texts.set(slot, text).map_err(|fault| fail(fault, location))
    }

    fn move_elements(&mut self, it: &Move) -> Done {
        let numbers = [&it.from_at, &it.from_step, &it.to_at, &it.to_step, &it.size, &it.count];
        let mut values = [0; 6];
        for (value, expression) in values.iter_mut().zip(numbers) {
            *value = self.word(expression)? as i64;
        }
        let moved = self.host.move_elements(self.memory, it.from, it.to, values);
        let spent = moved.map_err(|fault| fail(fault, it.location))?;
        self.pay(spent);
        Ok(())
    }
}

fn within(number: i64, position: &Position) -> bool {
    if position.by > 0 { number <= position.to } else { number >= position.to }
}

fn fail(fault: Fault, location: u32) -> Halt {
    Halt::Failed(Failure { fault, location, detail: String::new() })
}

/// What an assignment appends to its TEXT variable, if it has the form `t := t + a + b`.
pub(super) fn appended(variable: u32, value: &Expression) -> Option<Vec<&Expression>> {
    let mut parts = Vec::new();
    let mut left = value;
    while let Expression::Apply(Operation::Concatenate, operands, _) = left {
        parts.push(&operands[1]);
        left = &operands[0];
    }
    parts.reverse();
    (*left == Expression::Variable(variable) && !parts.is_empty()).then_some(parts)
}

/// The location of an expression, for errors.
pub(super) fn location_of(value: &Expression) -> u32 {
    match value {
        Expression::Apply(_, _, location) | Expression::Element(_, _, location) => *location,
        _ => 0,
    }
}
