//! What a run has besides its words: texts, the state of its calls, and what it may use. Both the tree and compiled
//! programs do their calls here, so they do the same.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use drystone_component::Type;

use super::fault::Fault;
use super::program::{Action, Argument, Call};
use super::services::{Answer, Arguments, Results, Services};
use super::table::{Cell, Layout, set_word, word};
use super::tree::OnError;
use super::value::{Text, Value};
use crate::engine::Memory;

/// Texts that a run holds, and no more bytes than it may.
#[derive(Debug)]
pub(super) struct Texts {
    pub slots: Vec<Text>,
    /// Of all slots together; those that share bytes are counted each.
    bytes: usize,
    pub most: usize,
}

impl Texts {
    pub fn new(slots: Vec<Text>, most: usize) -> Texts {
        let bytes = slots.iter().map(|text| text.len()).sum();
        Texts { slots, bytes, most }
    }

    pub fn get(&self, slot: u64) -> &Text {
        &self.slots[slot as usize]
    }

    pub fn are_too_many(&self) -> bool {
        self.bytes > self.most
    }

    /// How many bytes more there may be.
    pub fn room(&self) -> usize {
        self.most.saturating_sub(self.bytes)
    }

    pub fn set(&mut self, slot: u64, text: Text) -> Result<(), Fault> {
        let others = self.bytes - self.get(slot).len();
        if others.saturating_add(text.len()) > self.most {
            return Err(Fault::OutOfMemory);
        }
        self.bytes = others + text.len();
        self.slots[slot as usize] = text;
        Ok(())
    }

    /// `to := a + b`; where `to` is `a`, it costs what `b` costs.
    pub fn join(&mut self, to: u64, a: u64, b: u64) -> Result<(), Fault> {
        let (a, b) =
            if to == a { (None, self.get(b).clone()) } else { (Some(self.get(a)), self.get(b).clone()) };
        match a {
            None => self.append(to, &b),
            Some(a) if a.len().saturating_add(b.len()) > self.most => Err(Fault::OutOfMemory),
            Some(a) => self.set(to, [&**a, &*b].concat().into()),
        }
    }

    /// `t := t + more`
    pub fn append(&mut self, slot: u64, more: &[u8]) -> Result<(), Fault> {
        if more.len() > self.room() {
            return Err(Fault::OutOfMemory);
        }
        self.bytes += more.len();
        let text = core::mem::take(&mut self.slots[slot as usize]);
        self.slots[slot as usize] = text.joined(more);
        Ok(())
    }

    /// `t[i] := byte`
    pub fn set_byte(&mut self, slot: u64, index: i64, byte: u8) -> Result<(), Fault> {
        let index = usize::try_from(index).ok().filter(|&index| index < self.get(slot).len());
        let index = index.ok_or(Fault::IndexOutOfBounds)?;
        self.slots[slot as usize].bytes_mut()[index] = byte;
        Ok(())
    }
}

/// Why a program can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error it is.
    pub fault: Fault,
    /// Where, in terms of who wrote the program.
    pub location: u32,
    /// What more is known: of calls, why they failed. It may be empty.
    pub detail: String,
}

/// How a call goes on.
pub(super) enum Called {
    /// With a value: of a test its answer, else whether it failed.
    Done(u64),
    Waits,
    Failed(Failure),
}

/// A run's part of the engine's context.
pub(super) struct Host<S> {
    pub services: S,
    pub texts: Texts,
    pub calls: Arc<Calls>,
    pub on_error: OnError,
    /// Whether the last call failed.
    pub failed: bool,
    /// Why it stops with an error.
    pub failure: Option<Failure>,
    /// Whether it goes on behind what told so, rather than doing that again.
    pub goes_on_behind: bool,
    /// What it used beyond its budget.
    pub debt: u64,
    /// The values of a message that was received, and the call whose they are, until the variables have them.
    received: Vec<Value>,
    received_by: Option<u64>,
    cells: Vec<Cell>,
}

/// The calls of a program, and where their values are.
#[derive(Debug)]
pub(super) struct Calls {
    pub calls: Vec<Call>,
    pub layout: Arc<Layout>,
    /// Of the results of each.
    types: Vec<Vec<Type>>,
}

impl Calls {
    pub fn new(calls: Vec<Call>, layout: Arc<Layout>) -> Calls {
        let types_of = |call: &Call| match &call.action {
            Action::Receive { results, .. } => {
                results.iter().map(|it| layout.variable(it.variable).ty).collect()
            }
            _ => Vec::new(),
        };
        let types = calls.iter().map(types_of).collect();
        Calls { calls, layout, types }
    }
}

/// Bytes that cost as much as a round of a loop.
const BYTES_OF_A_ROUND: usize = 64;

/// What it costs to touch so many bytes, in rounds of loops.
pub(super) fn cost(bytes: usize) -> u64 {
    (bytes / BYTES_OF_A_ROUND) as u64
}

impl<S: Services> Host<S> {
    pub fn new(services: S, texts: Texts, calls: Arc<Calls>) -> Host<S> {
        Host {
            services,
            texts,
            calls,
            on_error: OnError::Abort,
            failed: false,
            failure: None,
            goes_on_behind: false,
            debt: 0,
            received: Vec::new(),
            received_by: None,
            cells: Vec::new(),
        }
    }

    /// Does a call. What it costs is added to `spent`.
    pub fn call(&mut self, memory: &mut Memory, number: u64, spent: &mut u64) -> Called {
        let calls = self.calls.clone();
        let call = &calls.calls[number as usize];
        let answer = match &call.action {
            Action::Send { message, arguments } => {
                if let Err(fault) = self.find(memory, arguments) {
                    return failed(fault, call);
                }
                let bytes: usize = self.cells.iter().map(|&cell| self.bytes_at(cell)).sum();
                *spent += cost(bytes);
                let values = Arguments { cells: &self.cells, memory, texts: &self.texts.slots };
                self.services.send(call.communication, *message, values)
            }
            Action::Receive { message, results } => {
                match self.receive(&calls, number, *message) {
                    // What has come can't be sent back: it is kept until it has its place.
                    Answer::Ready(()) => match self.put_received(memory, results, spent) {
                        Ok(()) => Answer::Ready(()),
                        Err(fault) => return failed(fault, call),
                    },
                    other => other,
                }
            }
            Action::Test(pattern) => {
                return match self.services.test(call.communication, *pattern) {
                    Answer::Ready(is_so) => Called::Done(is_so.into()),
                    Answer::Waits => Called::Waits,
                    // Nothing will come.
                    Answer::Lost(_) => Called::Done((*pattern == super::Pattern::Finish).into()),
                };
            }
            Action::Input(pattern) => {
                return Called::Done(self.services.input(call.communication, *pattern).into());
            }
            Action::Close => self.services.close(call.communication),
        };
        match answer {
            Answer::Ready(()) => self.done(false),
            Answer::Waits => Called::Waits,
            Answer::Lost(_) if self.on_error == OnError::Continue => self.done(true),
            Answer::Lost(detail) => {
                self.failed = true;
                Called::Failed(Failure { fault: Fault::ProtocolViolation, location: call.location, detail })
            }
        }
    }

    fn done(&mut self, failed: bool) -> Called {
        self.failed = failed;
        Called::Done(failed.into())
    }

    fn bytes_at(&self, cell: Cell) -> usize {
        if cell.ty == Type::Text { self.texts.slots[cell.place].len() } else { 0 }
    }

    fn receive(&mut self, calls: &Calls, number: u64, message: u32) -> Answer<()> {
        if self.received_by == Some(number) {
            return Answer::Ready(());
        }
        self.received.clear();
        let types = &calls.types[number as usize];
        let mut results = Results { types, values: &mut self.received };
        let communication = calls.calls[number as usize].communication;
        let answer = self.services.receive(communication, message, &mut results);
        if answer == Answer::Ready(()) {
            if self.received.len() < types.len() {
                let (came, all) = (self.received.len(), types.len());
                return Answer::Lost(format!("{came} values came where the program takes {all}"));
            }
            self.received_by = Some(number);
        }
        answer
    }

    /// Finds where results go before any of them is there, because one may be another's index.
    fn put_received(
        &mut self,
        memory: &mut Memory,
        results: &[Argument],
        spent: &mut u64,
    ) -> Result<(), Fault> {
        self.find(memory, results)?;
        // All or nothing, so that it can be done again.
        let come: usize = self
            .received
            .iter()
            .map(|value| if let Value::Text(text) = value { text.len() } else { 0 })
            .sum();
        let gone: usize = self.cells.iter().map(|&cell| self.bytes_at(cell)).sum();
        if come > gone.saturating_add(self.texts.room()) {
            return Err(Fault::OutOfMemory);
        }
        let received = core::mem::take(&mut self.received);
        let fits = received.iter().zip(&self.cells).try_for_each(|(value, cell)| match value {
            Value::Text(text) => {
                *spent += cost(text.len());
                self.texts.set(cell.place as u64, text.clone())
            }
            other => {
                set_word(memory, cell.place, other.word());
                Ok(())
            }
        });
        self.received = received;
        fits?;
        self.received.clear();
        self.received_by = None;
        Ok(())
    }

    /// Finds where arguments are.
    fn find(&mut self, memory: &Memory, arguments: &[Argument]) -> Result<(), Fault> {
        self.cells.clear();
        let layout = &self.calls.layout;
        for argument in arguments {
            let count = layout.variable(argument.variable).count();
            let index = match argument.index {
                None => 0,
                Some(index) => {
                    let index = word(memory, layout.place(index) as usize) as i64;
                    u32::try_from(index).ok().filter(|&it| it < count).ok_or(Fault::IndexOutOfBounds)?
                }
            };
            self.cells.push(layout.cell(argument.variable, index));
        }
        Ok(())
    }
}

impl<S> Host<S> {
    /// See [`super::tree::Move`]: the numbers are in its order. Gives what it costs.
    pub fn move_elements(
        &mut self,
        memory: &mut Memory,
        from: u32,
        to: u32,
        [from_at, from_step, to_at, to_step, size, count]: [i64; 6],
    ) -> Result<u64, Fault> {
        let layout = &self.calls.clone().layout;
        let differ = layout.variable(from).ty != layout.variable(to).ty;
        if differ || size < 0 || count < 0 {
            return Err(Fault::InvalidArgument);
        }
        if size == 0 || count == 0 {
            return Ok(0);
        }
        let there = |variable: u32, at: i64, step: i64| {
            let end = i128::from(layout.variable(variable).count());
            let last = i128::from(at) + i128::from(count - 1) * i128::from(step);
            let first = i128::from(at).min(last);
            let inside = first >= 0 && i128::from(at).max(last) + i128::from(size) <= end;
            if inside { Ok(()) } else { Err(Fault::IndexOutOfBounds) }
        };
        // So no more is copied than there is room for.
        if count > 1 && to_step.unsigned_abs() < size.unsigned_abs() {
            return Err(Fault::InvalidArgument);
        }
        there(from, from_at, from_step)?;
        there(to, to_at, to_step)?;
        let all = size.saturating_mul(count);
        let is_text = layout.variable(from).ty == Type::Text;
        for item in 0..count {
            for element in 0..size {
                let at = |variable, at: i64, step: i64| {
                    layout.cell(variable, (at + item * step + element) as u32).place
                };
                let (source, target) = (at(from, from_at, from_step), at(to, to_at, to_step));
                if is_text {
                    self.texts.set(target as u64, self.texts.slots[source].clone())?;
                } else {
                    set_word(memory, target, word(memory, source));
                }
            }
        }
        Ok(cost(all as usize * 8))
    }
}

fn failed(fault: Fault, call: &Call) -> Called {
    Called::Failed(Failure { fault, location: call.location, detail: String::new() })
}
