//! What a run has besides its words: its texts, and the state of its calls. The interpreter of trees and compiled
//! programs both do their calls here, so that they behave alike.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use drystone_component::Type;

use super::fault::Fault;
use super::program::{Action, Call, Pattern};
use super::services::{Answer, Arguments, Results, Services};
use super::table::{Cell, Layout, set_word, word};
use super::tree::OnError;
use super::value::{Text, Value};
use crate::engine::Memory;

/// The texts of a run, bounded in bytes.
#[derive(Debug)]
pub(super) struct Texts {
    pub slots: Vec<Text>,
    /// Bytes of all slots together. Slots that share bytes are counted each.
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

    /// Bytes of the text in a cell; 0 if it holds another value.
    fn bytes_at(&self, cell: Cell) -> usize {
        if cell.ty == Type::Text { self.slots[cell.place].len() } else { 0 }
    }

    /// Bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn are_too_many(&self) -> bool {
        self.bytes > self.most
    }

    /// How many more bytes the run may hold.
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

    /// Bytes that a change of a text copies first, because they are shared.
    pub fn copied_by_change(&self, slot: u64) -> usize {
        let text = self.get(slot);
        if text.is_shared() { text.len() } else { 0 }
    }

    /// `to := a + b`. If `to` is `a`, and `a` isn't shared, only `b` is copied.
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
    /// Where: the location that the author of the program gave.
    pub location: u32,
    /// More about it, perhaps nothing: of a call, why it failed.
    pub detail: String,
}

/// How a call goes on.
pub(super) enum Called {
    /// It is done: the answer of a test, and of other calls whether they failed.
    Done(u64),
    Waits,
    Failed(Failure),
}

impl Called {
    fn failed(fault: Fault, call: &Call) -> Called {
        Called::Failed(Failure { fault, location: call.location, detail: String::new() })
    }
}

/// A run's part of the engine's context.
pub(super) struct Host<S> {
    pub services: S,
    pub texts: Texts,
    pub calls: Arc<Calls>,
    pub on_error: OnError,
    /// Whether the last call failed.
    pub failed: bool,
    /// The error with which it stops.
    pub failure: Option<Failure>,
    /// Whether a resumed run continues behind the instruction that failed, instead of repeating it.
    pub goes_on_behind: bool,
    /// Rounds that it used beyond its budget.
    pub debt: u64,
    /// The values of a message that was received, with its call, until they are in the variables.
    received: Vec<Value>,
    received_by: Option<u64>,
    cells: Vec<Cell>,
}

/// The calls of a program, and where their values are.
#[derive(Debug)]
pub(super) struct Calls {
    calls: Vec<Known>,
    pub layout: Arc<Layout>,
}

#[derive(Debug)]
struct Known {
    call: Call,
    /// The places of its arguments or results, if they don't depend on an index.
    cells: Option<Vec<Cell>>,
    /// Of its results.
    types: Vec<Type>,
}

impl Calls {
    pub fn new(calls: &[Call], layout: Arc<Layout>) -> Calls {
        let known = |call: &Call| {
            let cells = call.arguments().iter().map(|it| (it.index, layout.cell(it.variable, 0)));
            let types = match call.action {
                Action::Receive { .. } => cells.clone().map(|(_, cell)| cell.ty).collect(),
                _ => Vec::new(),
            };
            let cells = cells.map(|(index, cell)| if index.is_none() { Some(cell) } else { None });
            Known { call: call.clone(), cells: cells.collect(), types }
        };
        let calls = calls.iter().map(known).collect();
        Calls { calls, layout }
    }

    /// The places of the arguments of a call, for the present values of their indices.
    fn find<'a>(
        &'a self,
        known: &'a Known,
        memory: &Memory,
        found: &'a mut Vec<Cell>,
    ) -> Result<&'a [Cell], Fault> {
        if let Some(cells) = &known.cells {
            return Ok(cells);
        }
        found.clear();
        for argument in known.call.arguments() {
            let count = self.layout.variable(argument.variable).count();
            let index = match argument.index {
                None => 0,
                Some(index) => {
                    let index = word(memory, self.layout.place(index) as usize) as i64;
                    u32::try_from(index).ok().filter(|&it| it < count).ok_or(Fault::IndexOutOfBounds)?
                }
            };
            found.push(self.layout.cell(argument.variable, index));
        }
        Ok(found)
    }
}

/// Bytes that cost as much as one round of a loop.
const BYTES_OF_A_ROUND: usize = 64;

/// The cost of so many bytes, in rounds of loops.
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

    /// Does a call, and adds its cost to `spent`.
    pub fn call(&mut self, memory: &mut Memory, number: u64, spent: &mut u64) -> Called {
        let Host { services, texts, calls, received, received_by, cells, .. } = self;
        let known = &calls.calls[number as usize];
        let communication = known.call.communication;
        let answer = match &known.call.action {
            Action::Send { message, .. } => {
                let cells = match calls.find(known, memory, cells) {
                    Ok(cells) => cells,
                    Err(fault) => return Called::failed(fault, &known.call),
                };
                *spent += cost(cells.iter().map(|cell| texts.bytes_at(*cell)).sum());
                services.send(communication, *message, Arguments { cells, memory, texts: &texts.slots })
            }
            Action::Receive { message, .. } => {
                let answer = match *received_by == Some(number) {
                    true => Answer::Ready(()),
                    false => {
                        received.clear();
                        let mut results = Results { types: &known.types, values: received };
                        services.receive(communication, *message, &mut results)
                    }
                };
                match answer {
                    Answer::Ready(()) if received.len() < known.types.len() => {
                        let (came, all) = (received.len(), known.types.len());
                        Answer::Lost(format!("{came} values came where the program takes {all}"))
                    }
                    Answer::Ready(()) => {
                        // The message can't be received twice: it is kept until it is stored.
                        *received_by = Some(number);
                        // All places are found before a value is stored, because a value may be another's index.
                        let put = calls
                            .find(known, memory, cells)
                            .and_then(|cells| put(received, cells, memory, texts, spent));
                        if let Err(fault) = put {
                            return Called::failed(fault, &known.call);
                        }
                        *received_by = None;
                        Answer::Ready(())
                    }
                    other => other,
                }
            }
            Action::Test(pattern) => {
                return match services.test(communication, *pattern) {
                    Answer::Ready(is_so) => Called::Done(is_so.into()),
                    Answer::Waits => Called::Waits,
                    // No message will come.
                    Answer::Lost(_) => Called::Done((*pattern == Pattern::Finish).into()),
                };
            }
            Action::Input(pattern) => return Called::Done(services.input(communication, *pattern).into()),
            Action::Close => services.close(communication),
        };
        self.failed = matches!(answer, Answer::Lost(_));
        match answer {
            Answer::Ready(()) => Called::Done(0),
            Answer::Waits => Called::Waits,
            Answer::Lost(_) if self.on_error == OnError::Continue => Called::Done(1),
            Answer::Lost(detail) => {
                let location = known.call.location;
                Called::Failed(Failure { fault: Fault::ProtocolViolation, location, detail })
            }
        }
    }
}

/// Stores the values of a message: all or none, so that it can be repeated.
fn put(
    received: &mut Vec<Value>,
    cells: &[Cell],
    memory: &mut Memory,
    texts: &mut Texts,
    spent: &mut u64,
) -> Result<(), Fault> {
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    let come: usize = received.iter().map(length).sum();
    let is_first = |(index, cell): &(usize, &Cell)| !cells[..*index].iter().any(|it| it.place == cell.place);
    let replaced = cells.iter().enumerate().filter(|(_, cell)| cell.ty == Type::Text).filter(is_first);
    let gone: usize = replaced.clone().map(|(_, cell)| texts.bytes_at(*cell)).sum();
    if come > gone.saturating_add(texts.room()) {
        return Err(Fault::OutOfMemory);
    }
    *spent += cost(come);
    // The texts together must fit.
    for (_, cell) in replaced {
        texts.set(cell.place as u64, Text::default())?;
    }
    for (value, cell) in received.iter().zip(cells) {
        match value {
            Value::Text(text) => texts.set(cell.place as u64, text.clone())?,
            other => set_word(memory, cell.place, other.word()),
        }
    }
    received.clear();
    Ok(())
}

impl<S> Host<S> {
    /// Does a [`super::tree::Move`], with its numbers in the order of its fields. Returns the cost.
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
        // Checks the room before anything is copied.
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
