//! Composes bodies step by step: checks each step, and narrows it where that doesn't change the result. Words of a
//! pipe's own gauge can be processed in parallel in vector registers; wider ones can't. So a program that computes with
//! 64 bits and outputs 32 is made to compute with 32.

mod narrow;

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::body::*;
use super::{Gauge, Refusal};

/// The most steps of a pipe.
pub(super) const MOST_STEPS: usize = 128;
/// The most registers of a pipe, and the most tables.
pub(crate) const MOST_REGISTERS: usize = 16;
const MOST_TABLES: usize = 4;
const MOST_ENTRIES: u32 = 1 << 16;

/// A body under construction.
#[derive(Debug, Default)]
pub(super) struct Composer {
    body: Body,
    narrowed: BTreeMap<(Value, Gauge), Value>,
}

type Composed = Result<Value, Refusal>;

impl Composer {
    pub fn register(&mut self, register: Register) -> Result<u8, Refusal> {
        let number = self.body.registers.len();
        if number == MOST_REGISTERS {
            return Err(Refusal::new(format!("a pipe has at most {MOST_REGISTERS} registers")));
        }
        let Register { width, initial, .. } = register;
        if initial > width.most() {
            return Err(Refusal::new(format!("{initial} doesn't fit into a register of {width}")));
        }
        self.body.registers.push(register);
        Ok(number as u8)
    }

    pub fn table(&mut self, table: Table) -> Result<u8, Refusal> {
        let number = self.body.tables.len();
        if number == MOST_TABLES {
            return Err(Refusal::new(format!("a pipe has at most {MOST_TABLES} tables")));
        }
        let Table { entries } = table;
        if !entries.is_power_of_two() || entries > MOST_ENTRIES {
            let what = format!("a table of {entries} entries: take a power of two, at most {MOST_ENTRIES}");
            return Err(Refusal::new(what));
        }
        self.body.tables.push(table);
        Ok(number as u8)
    }

    /// Sets the value of a register after this word.
    pub fn update(&mut self, register: u8, value: Value) -> Result<(), Refusal> {
        let Some(it) = self.body.registers.get(usize::from(register)) else {
            return Err(Refusal::new(format!("there is no register {register}")));
        };
        let (width, of_value) = (it.width, self.width(value));
        if width != of_value {
            let what =
                format!("a register of {width} can't become a value of {of_value}: widen or narrow that");
            return Err(Refusal::new(what));
        }
        self.body.updates.retain(|(it, _)| *it != register);
        self.body.updates.push((register, value));
        Ok(())
    }

    pub fn width(&self, value: Value) -> Gauge {
        self.body.width(value)
    }

    pub fn constant_of(&self, value: Value) -> Option<u64> {
        self.body.constant(value)
    }

    pub fn input(&mut self, gauge: Gauge) -> Composed {
        self.once(Operation::Input, gauge)
    }

    pub fn constant(&mut self, width: Gauge, number: u64) -> Composed {
        if number > width.most() {
            return Err(Refusal::new(format!("the number {number} doesn't fit into {width}")));
        }
        self.once(Operation::Constant(number), width)
    }

    pub fn read_register(&mut self, register: u8) -> Composed {
        match self.body.registers.get(usize::from(register)) {
            Some(it) => self.once(Operation::Register(register), it.width),
            None => Err(Refusal::new(format!("there is no register {register}"))),
        }
    }

    pub fn binary(&mut self, operation: Binary, a: Value, b: Value) -> Composed {
        let width = self.same(a, b)?;
        if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
            return self.constant(width, operation.of(width, x, y));
        }
        if let Some(narrower) = self.in_narrower(operation, a, b)? {
            return self.widen(narrower, width);
        }
        if let Some(narrower) = self.with_carry(operation, [a, b])? {
            return self.widen(narrower, width);
        }
        self.push(Operation::Binary(operation, a, b), width)
    }

    pub fn not(&mut self, a: Value) -> Composed {
        let width = self.width(a);
        match self.constant_of(a) {
            Some(number) => self.constant(width, !number & width.most()),
            None => self.push(Operation::Not(a), width),
        }
    }

    pub fn swap(&mut self, a: Value) -> Composed {
        let width = self.width(a);
        match (self.constant_of(a), width) {
            (_, Gauge::Bits8) => Ok(a),
            (Some(number), _) => self.constant(width, number.swap_bytes() >> (64 - width.bits())),
            _ => self.push(Operation::Swap(a), width),
        }
    }

    pub fn select(&mut self, comparison: Comparison, [a, b, then, or]: [Value; 4]) -> Composed {
        let compared = self.same(a, b)?;
        let width = self.same(then, or)?;
        if then == or {
            return Ok(then);
        }
        if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
            return Ok(if comparison.holds(compared, x, y) { then } else { or });
        }
        let larger = match comparison {
            Comparison::Below | Comparison::BelowOrEqual if [then, or] == [b, a] => Some(Binary::Max),
            Comparison::Below | Comparison::BelowOrEqual if [then, or] == [a, b] => Some(Binary::Min),
            _ => None,
        };
        if let Some(operation) = larger {
            return self.binary(operation, a, b);
        }
        let narrower = if comparison.is_signed() { None } else { self.both_narrower(a, b)? };
        let (a, b) = narrower.unwrap_or((a, b));
        self.push(Operation::Select(comparison, [a, b, then, or]), width)
    }

    pub fn widen(&mut self, a: Value, width: Gauge) -> Composed {
        let from = self.width(a);
        if from > width {
            return Err(Refusal::new(format!("a value of {from} can't be widened to {width}: narrow it")));
        }
        match self.body.step(a).operation {
            _ if from == width => Ok(a),
            Operation::Constant(number) => self.constant(width, number),
            Operation::Widen(inner) => self.widen(inner, width),
            _ => self.push(Operation::Widen(a), width),
        }
    }

    pub fn narrow(&mut self, a: Value, width: Gauge) -> Composed {
        let from = self.width(a);
        if from < width {
            return Err(Refusal::new(format!("a value of {from} can't be narrowed to {width}: widen it")));
        }
        if from == width {
            return Ok(a);
        }
        if let Some(&known) = self.narrowed.get(&(a, width)) {
            return Ok(known);
        }
        let narrow = self.narrow_by_parts(a, width)?;
        self.narrowed.insert((a, width), narrow);
        Ok(narrow)
    }

    pub fn join(&mut self, low: Value, high: Value) -> Composed {
        let wide = match self.same(low, high)? {
            Gauge::Bits8 => Gauge::Bits16,
            Gauge::Bits16 => Gauge::Bits32,
            Gauge::Bits32 => Gauge::Bits64,
            Gauge::Bits64 => {
                return Err(Refusal::new("two values of 64 bits can't be joined: 128 are too many"));
            }
        };
        self.push(Operation::Join(low, high), wide)
    }

    pub fn crc32c(&mut self, sum: Value, word: Value) -> Composed {
        self.is(sum, Gauge::Bits32, "a CRC32C")?;
        self.push(Operation::Crc32c(sum, word), Gauge::Bits32)
    }

    pub fn adler32(&mut self, sum: Value, byte: Value) -> Composed {
        self.is(sum, Gauge::Bits32, "an Adler-32")?;
        self.is(byte, Gauge::Bits8, "what an Adler-32 takes in")?;
        self.push(Operation::Adler32(sum, byte), Gauge::Bits32)
    }

    pub fn read(&mut self, table: u8, index: Value) -> Composed {
        self.is_table(table)?;
        self.push(Operation::Read { table, index }, Gauge::Bits64)
    }

    pub fn write(&mut self, table: u8, index: Value, value: Value) -> Composed {
        self.is_table(table)?;
        self.is(value, Gauge::Bits64, "a table's entry")?;
        self.push(Operation::Write { table, index, value }, Gauge::Bits64)
    }

    fn is_table(&self, table: u8) -> Result<(), Refusal> {
        let known = usize::from(table) < self.body.tables.len();
        if known { Ok(()) } else { Err(Refusal::new(format!("there is no table {table}"))) }
    }

    fn is(&self, value: Value, width: Gauge, what: &str) -> Result<(), Refusal> {
        let it = self.width(value);
        if it == width { Ok(()) } else { Err(Refusal::new(format!("{what} has {width}, not {it}"))) }
    }

    fn same(&self, a: Value, b: Value) -> Result<Gauge, Refusal> {
        let (x, y) = (self.width(a), self.width(b));
        if x == y {
            return Ok(x);
        }
        Err(Refusal::new(format!("values of {x} and of {y} together: widen one of them, or narrow one")))
    }

    /// Adds a step, unless the same one is there.
    fn once(&mut self, operation: Operation, width: Gauge) -> Composed {
        let step = Step { operation, width };
        match self.body.steps.iter().position(|it| *it == step) {
            Some(at) => Ok(Value(at as u16)),
            None => self.push(operation, width),
        }
    }

    fn push(&mut self, operation: Operation, width: Gauge) -> Composed {
        let at = self.body.steps.len();
        // Dead steps are removed in the end.
        if at == 4 * MOST_STEPS {
            return Err(too_long());
        }
        self.body.steps.push(Step { operation, width });
        Ok(Value(at as u16))
    }

    /// The body, without dead steps.
    pub fn finish(mut self, output: Option<Value>) -> Result<Body, Refusal> {
        let body = &mut self.body;
        let steps = &body.steps;
        let is = |value: Value, operation| steps[usize::from(value.0)].operation == operation;
        body.output = output.filter(|it| !is(*it, Operation::Input));
        body.updates.retain(|&(register, value)| !is(value, Operation::Register(register)));
        let mut needed = vec![false; body.steps.len()];
        for value in body.updates.iter().map(|(_, value)| *value).chain(body.output) {
            needed[usize::from(value.0)] = true;
        }
        for (at, step) in body.steps.iter().enumerate().rev() {
            needed[at] |= matches!(step.operation, Operation::Write { .. });
            if needed[at] {
                step.operation.operands(|value| needed[usize::from(value.0)] = true);
            }
        }
        let mut names = vec![Value(0); body.steps.len()];
        let mut kept = Vec::new();
        for (at, step) in body.steps.iter().enumerate().filter(|(at, _)| needed[*at]) {
            names[at] = Value(kept.len() as u16);
            kept.push(Step { operation: step.operation.renamed(|it| names[usize::from(it.0)]), ..*step });
        }
        if kept.len() > MOST_STEPS {
            return Err(too_long());
        }
        body.steps = kept;
        for value in body.updates.iter_mut().map(|(_, value)| value).chain(&mut body.output) {
            *value = names[usize::from(value.0)];
        }
        Ok(self.body)
    }
}

fn too_long() -> Refusal {
    Refusal::new(format!("a pipe does at most {MOST_STEPS} steps for a word: make it two pipes"))
}
