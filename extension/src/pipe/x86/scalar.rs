//! Compiles a pipe's steps for one word, in general registers. Values are 0 above their width.
//!
//! A value gets a free register, or else a word of the frame, until its last use. Pipes' registers that are pinned to
//! machine registers are read there.

use alloc::{vec, vec::Vec};

use super::frame::*;
use crate::bytecode::Width;
use crate::engine::jit::x86::*;
use crate::pipe::Gauge;
use crate::pipe::body::*;

/// One word of a pipe: its source and destination.
pub(super) struct Words<'w> {
    pub pipe: usize,
    pub body: &'w Body,
    pub output: Gauge,
    pub from: Place,
    pub to: Option<Place>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    None,
    /// In a register that is freed after its last use.
    Own(Reg),
    /// In the machine register of a pipe's register.
    Pin(Reg),
    Frame(Index),
    Number(u64),
}

/// A word of the frame.
type Index = u16;

/// Registers for values; those of `PINS` only if they aren't pinned.
const VALUES: [Reg; 5] = [RBX, R12, R13, R14, R15];
/// Holds the result of a step until it is stored in the frame.
const RESULT: Reg = RBP;

/// The state of compiling a word's steps.
pub(super) struct Steps<'c, 'a, 'w> {
    pub compiler: &'c mut Compiler<'a>,
    pub words: &'w Words<'w>,
    homes: Vec<Home>,
    /// For each value, the last step that uses it.
    last: Vec<u16>,
    free: Vec<Reg>,
    free_words: Vec<Index>,
    /// The step that is being compiled.
    now: u16,
}

const AT_END: u16 = u16::MAX;

impl Compiler<'_> {
    /// Compiles one word.
    pub fn words(&mut self, words: &Words) {
        let taken = self.taken;
        let count = words.body.steps.len();
        let mut last = vec![0; count];
        for (at, step) in words.body.steps.iter().enumerate() {
            step.operation.operands(|value| last[usize::from(value.0)] = at as u16);
        }
        for value in words.body.updates.iter().map(|(_, value)| *value).chain(words.body.output) {
            last[usize::from(value.0)] = AT_END;
        }
        let is_free = |reg: &Reg| !self.pins.iter().any(|(_, pin, _)| pin == reg);
        let free = VALUES.into_iter().rev().filter(is_free).collect();
        let mut steps = Steps {
            compiler: self,
            words,
            homes: vec![Home::None; count],
            last,
            free,
            free_words: Vec::new(),
            now: 0,
        };
        for (at, step) in words.body.steps.iter().enumerate() {
            steps.now = at as u16;
            steps.step(Value(at as u16), *step);
        }
        steps.finish();
        self.taken = taken;
    }
}

impl Steps<'_, '_, '_> {
    fn code(&mut self) -> &mut Code {
        &mut self.compiler.code
    }

    pub fn width(&self, value: Value) -> Gauge {
        self.words.body.width(value)
    }

    pub fn constant(&self, value: Value) -> Option<u64> {
        self.words.body.constant(value)
    }

    fn home(&self, value: Value) -> Home {
        self.homes[usize::from(value.0)]
    }

    fn step(&mut self, value: Value, step: Step) {
        match step.operation {
            Operation::Constant(number) => self.homes[usize::from(value.0)] = Home::Number(number),
            Operation::Register(register) => self.register(value, register, step.width),
            _ => {
                let to = self.begin(value, step.operation);
                self.operation(step, to);
                self.end(value, to);
            }
        }
        let (operands, count) = step.operation.all_operands();
        for operand in &operands[..count] {
            if self.last[usize::from(operand.0)] == self.now {
                self.give_up(*operand);
            }
        }
        if self.last[usize::from(value.0)] == 0 && self.now != 0 {
            // Only its side effect is needed.
            self.give_up(value);
        }
    }

    fn give_up(&mut self, value: Value) {
        match core::mem::replace(&mut self.homes[usize::from(value.0)], Home::None) {
            Home::Own(register) => self.free.push(register),
            Home::Frame(word) => self.free_words.push(word),
            _ => {}
        }
    }

    /// The register for a step's result: that of its first operand if this is the last use, else another one.
    fn begin(&mut self, value: Value, operation: Operation) -> Reg {
        let first = match operation {
            Operation::Binary(_, a, _) | Operation::Crc32c(a, _) => Some(a),
            Operation::Not(a) | Operation::Swap(a) | Operation::Widen(a) | Operation::Narrow(a) => Some(a),
            _ => None,
        };
        let is_alone = !matches!(operation, Operation::Binary(_, a, b) | Operation::Crc32c(a, b) if a == b);
        if let Some(first) = first
            && is_alone
            && let Home::Own(register) = self.home(first)
            && self.last[usize::from(first.0)] == self.now
        {
            self.homes[usize::from(first.0)] = Home::None;
            self.homes[usize::from(value.0)] = Home::Own(register);
            return register;
        }
        let to = self.free.pop();
        self.homes[usize::from(value.0)] = match to {
            Some(register) => Home::Own(register),
            None => Home::Frame(self.free_words.pop().unwrap_or_else(|| {
                let place = self.compiler.take(1);
                (place.displacement / 8) as Index
            })),
        };
        let to = to.unwrap_or(RESULT);
        if let Some(first) = first {
            self.bring(first, to);
        }
        to
    }

    fn end(&mut self, value: Value, to: Reg) {
        if let Home::Frame(word) = self.home(value) {
            self.code().store(frame_word(word), to);
        }
    }

    fn register(&mut self, value: Value, register: u8, width: Gauge) {
        let cell = self.compiler.homes[self.words.pipe].registers + usize::from(register);
        let pin = self.compiler.pins.iter().find(|(it, ..)| *it == cell).map(|(_, pin, _)| *pin);
        // New values are stored one after the other, so old values that are still needed must be elsewhere.
        let is_update = self.words.body.updates.iter().any(|(_, update)| *update == value);
        if let (Some(pin), false) = (pin, is_update) {
            self.homes[usize::from(value.0)] = Home::Pin(pin);
            return;
        }
        let to = self.begin(value, Operation::Register(register));
        match pin {
            Some(pin) => self.code().mov(Width::W64, to, pin),
            None => self.compiler.load_word(width, to, cell_at(cell)),
        }
        self.end(value, to);
    }

    /// Loads a value into a register, without changing flags.
    pub fn bring(&mut self, value: Value, to: Reg) {
        match self.home(value) {
            Home::Own(from) | Home::Pin(from) if from != to => self.code().mov(Width::W64, to, from),
            Home::Frame(word) => self.code().load(to, frame_word(word)),
            Home::Number(number) => self.code().mov_number(to, number),
            _ => {}
        }
    }

    /// A register with the value: its own, or else this one, into which it is loaded.
    pub fn fetch(&mut self, value: Value, or: Reg) -> Reg {
        match self.home(value) {
            Home::Own(register) | Home::Pin(register) => register,
            _ => {
                self.bring(value, or);
                or
            }
        }
    }

    /// The place of a table's entry. Its index is in RAX afterwards.
    pub fn entry(&mut self, table: u8, index: Value) -> Place {
        let body = self.words.body;
        let entries = body.tables[usize::from(table)].entries;
        self.bring(index, RAX);
        if self.width(index).most() >= u64::from(entries) {
            self.code().op_number(Width::W32, Op::And, RAX, entries as i32 - 1);
        }
        let cell = self.compiler.homes[self.words.pipe].table(body, table);
        Place { base: CELLS, index: Some((RAX, 3)), displacement: 8 * cell as i32 }
    }

    /// Stores the output word, and updates the pipe's registers.
    fn finish(&mut self) {
        let body = self.words.body;
        if let (Some(output), Some(place)) = (body.output, self.words.to) {
            let from = self.fetch(output, RAX);
            self.compiler.store_word(self.words.output, place, from);
        }
        for &(register, value) in &body.updates {
            let cell = self.compiler.homes[self.words.pipe].registers + usize::from(register);
            let pin = self.compiler.pins.iter().find(|(it, ..)| *it == cell).map(|(_, pin, _)| *pin);
            match pin {
                Some(pin) => self.bring(value, pin),
                None => {
                    let from = self.fetch(value, RAX);
                    self.code().store(cell_at(cell), from);
                }
            }
        }
    }
}

fn frame_word(word: Index) -> Place {
    Place::new(FRAME, 8 * i32::from(word))
}
