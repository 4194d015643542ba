//! Bodies as bytecode, from who isn't trusted: verified, and then taken apart into the same steps as all others.
//!
//! A program is run for each word, which is in r1, and leaves the word that goes out in r0. Its own memory, at r2, is the pipe's
//! registers, 8 bytes for each; the bytes above a register's width are always 0. It can call, with the low bits of r1 and r2:
//!
//! * 1: the sum of two numbers of 32 bits with what it carries,
//! * 2: a CRC32C, not inverted, after a word as wide as those that come in,
//! * 3: an Adler-32 after a byte.
//!
//! It must go straight to its end, so that it can be done on many words at once.

use alloc::{collections::BTreeMap, format, vec};
use core::fmt::Display;

use super::body::{Binary, Body, Register, Value};
use super::compose::Composer;
use super::{Attributes, Gauge, Pipe, Refusal};
use crate::bytecode::{self, Alu, Constant, Instruction, Operand, Order, Program, Sign, Size, Width};
use crate::verifier::{Contract, Given, Helper, Memory, OWN, Wanted, verify};

/// Bytes of a register.
const CELL: i64 = 8;

impl Pipe {
    /// A pipe whose body is a program.
    pub fn of_program(
        name: &str,
        (input, output): (Gauge, Gauge),
        attributes: Attributes,
        registers: &[Register],
        program: Program,
    ) -> Result<Pipe, Refusal> {
        let named = |what: &dyn Display| Refusal::new(format!("{name}: {what}"));
        let verified = verify(program, &contract(input, registers.len())).map_err(|it| named(&it))?;
        let mut reader = Reader::new(input, registers).map_err(|it| named(&it))?;
        let given = if attributes.keeps { None } else { Some(output) };
        let body = reader.body(verified.program(), given).map_err(|it| named(&it))?;
        Pipe::of_body(name, (input, output), given, attributes, body)
    }
}

/// The terms on which a pipe's program runs.
fn contract(input: Gauge, registers: usize) -> Contract {
    let bytes = (registers.max(1) * CELL as usize).next_power_of_two() as u32;
    let number = Wanted::Number(0, u64::MAX);
    let helper = |name| Helper {
        name,
        wants: vec![number, number],
        gives: Given::Number(0, Gauge::Bits32.most()),
        moves: None,
    };
    let [nothing, word] = [Given::Nothing, Given::Number(0, input.most())];
    Contract {
        registers: [word, Given::Pointer(OWN), nothing, nothing, nothing],
        own: Some(Memory::own(bytes)),
        helpers: BTreeMap::from([
            (1, helper("the sum with what it carries")),
            (2, helper("CRC32C")),
            (3, helper("Adler-32")),
        ]),
        ..Contract::default()
    }
}

/// What a register of the program holds.
#[derive(Clone, Copy, Debug)]
enum Held {
    Nothing,
    /// A number of 64 bits.
    Number(Value),
    /// An address in own memory.
    Own(i64),
    /// An address in the stack.
    Stack(i64),
}

/// Takes a program apart.
struct Reader {
    composer: Composer,
    input: Gauge,
    held: [Held; bytecode::Register::COUNT],
    /// What the pipe's registers hold by now.
    cells: vec::Vec<(Gauge, Value)>,
    stack: BTreeMap<i64, Value>,
}

type Read<T> = Result<T, Refusal>;

impl Reader {
    fn new(input: Gauge, registers: &[Register]) -> Read<Reader> {
        let mut composer = Composer::default();
        let mut cells = vec![];
        for &register in registers {
            let number = composer.register(register)?;
            cells.push((register.width, composer.read_register(number)?));
        }
        let mut held = [Held::Nothing; bytecode::Register::COUNT];
        let word = composer.input(input)?;
        held[1] = Held::Number(composer.widen(word, Gauge::Bits64)?);
        held[2] = Held::Own(0);
        held[10] = Held::Stack(0);
        Ok(Reader { composer, input, held, cells, stack: BTreeMap::new() })
    }

    fn body(&mut self, program: &Program, output: Option<Gauge>) -> Read<Body> {
        for (at, it) in program.instructions() {
            if it == Instruction::Exit {
                break;
            }
            self.instruction(it)
                .map_err(|refusal| Refusal::new(format!("instruction {at}, `{it}`: {refusal}")))?;
        }
        for (number, &(_, value)) in self.cells.iter().enumerate() {
            self.composer.update(number as u8, value)?;
        }
        let output = match output {
            Some(gauge) => Some(self.number(self.held[0]).and_then(|it| self.composer.narrow(it, gauge))?),
            None => None,
        };
        core::mem::take(&mut self.composer).finish(output)
    }

    fn number(&self, held: Held) -> Read<Value> {
        match held {
            Held::Number(value) => Ok(value),
            Held::Nothing => Err(Refusal::new("it takes what nothing has been put into")),
            _ => Err(Refusal::new("it computes with an address: only constants can be added to those")),
        }
    }

    fn operand(&mut self, operand: Operand) -> Read<Held> {
        match operand {
            Operand::Register(register) => Ok(self.held[register.index()]),
            Operand::Immediate(number) => self.constant(i64::from(number) as u64),
        }
    }

    fn constant(&mut self, number: u64) -> Read<Held> {
        self.composer.constant(Gauge::Bits64, number).map(Held::Number)
    }

    fn instruction(&mut self, it: Instruction) -> Read<()> {
        let (destination, held) = match it {
            Instruction::Alu { width, operation, destination, source } => {
                let (old, source) = (self.held[destination.index()], self.operand(source)?);
                (destination, self.alu(width, operation, old, source)?)
            }
            Instruction::Negate { width, destination } => {
                let zero = self.constant(0)?;
                (destination, self.alu(width, Alu::Sub, zero, self.held[destination.index()])?)
            }
            Instruction::Extend { width, from, destination, source } => {
                let value = self.number(self.held[source.index()])?;
                (destination, self.extended(width, gauge(from), value)?)
            }
            Instruction::Swap { order, size, destination } => {
                let value = self.number(self.held[destination.index()])?;
                let mut narrow = self.composer.narrow(value, gauge(size))?;
                if order != Order::Little {
                    narrow = self.composer.swap(narrow)?;
                }
                (destination, self.wide(narrow)?)
            }
            Instruction::Constant { destination, constant: Constant::Number(number) } => {
                (destination, self.constant(number)?)
            }
            Instruction::Load { sign: Sign::Zero, size: Size::Double, destination, base, offset } => {
                (destination, self.load(self.held[base.index()], offset)?)
            }
            Instruction::Store { size: Size::Double, base, offset, source } => {
                let held = self.operand(source)?;
                let value = self.number(held)?;
                return self.store(self.held[base.index()], offset, value);
            }
            Instruction::CallHelper { number } => {
                let result = self.call(number)?;
                self.held[1..=5].fill(Held::Nothing);
                self.held[0] = result;
                return Ok(());
            }
            Instruction::Load { .. } | Instruction::Store { .. } => {
                return Err(Refusal::new(
                    "registers of pipes, and the stack, are read and written 8 bytes at once",
                ));
            }
            Instruction::Jump { .. } | Instruction::JumpIf { .. } => {
                let what = "a pipe goes straight to its end: compute both, and take one by `and` with a mask";
                return Err(Refusal::new(what));
            }
            _ => return Err(Refusal::new("a pipe has no use for it, as it is done for each word")),
        };
        self.held[destination.index()] = held;
        Ok(())
    }

    fn alu(&mut self, width: Width, operation: Alu, old: Held, source: Held) -> Read<Held> {
        if width == Width::W64 {
            let constant = |this: &Self| match source {
                Held::Number(value) => this.composer.constant_of(value),
                _ => None,
            };
            match (operation, old, constant(self)) {
                (Alu::Mov, ..) => return Ok(source),
                (Alu::Add, Held::Own(at), Some(number)) => {
                    return Ok(Held::Own(at.wrapping_add(number as i64)));
                }
                (Alu::Add, Held::Stack(at), Some(number)) => {
                    return Ok(Held::Stack(at.wrapping_add(number as i64)));
                }
                _ => {}
            }
        }
        let of_width = if width == Width::W64 { Gauge::Bits64 } else { Gauge::Bits32 };
        let b = self.number(source)?;
        let b = self.composer.narrow(b, of_width)?;
        let operation = match operation {
            Alu::Mov => return self.wide(b),
            Alu::Add => Binary::Add,
            Alu::Sub => Binary::Sub,
            Alu::Mul => Binary::Mul,
            Alu::Or => Binary::Or,
            Alu::And => Binary::And,
            Alu::Xor => Binary::Xor,
            Alu::ShiftLeft => Binary::ShiftLeft,
            Alu::ShiftRight => Binary::ShiftRight,
            Alu::ShiftRightSigned => Binary::ShiftRightSigned,
            Alu::Div | Alu::SignedDiv | Alu::Mod | Alu::SignedMod => {
                return Err(Refusal::new("a pipe can't divide: shift, or multiply with an inverse"));
            }
        };
        let a = self.number(old)?;
        let a = self.composer.narrow(a, of_width)?;
        let value = self.composer.binary(operation, a, b)?;
        self.wide(value)
    }

    fn wide(&mut self, value: Value) -> Read<Held> {
        self.composer.widen(value, Gauge::Bits64).map(Held::Number)
    }

    fn extended(&mut self, width: Width, from: Gauge, value: Value) -> Read<Held> {
        let to = if width == Width::W64 { Gauge::Bits64 } else { Gauge::Bits32 };
        let value = self.composer.narrow(value, to)?;
        let above = self.composer.constant(to, u64::from(to.bits() - from.bits()))?;
        let value = self.composer.binary(Binary::ShiftLeft, value, above)?;
        let value = self.composer.binary(Binary::ShiftRightSigned, value, above)?;
        self.wide(value)
    }

    fn cell(&self, at: i64) -> Read<usize> {
        let cell = usize::try_from(at / CELL).ok().filter(|cell| *cell < self.cells.len() && at % CELL == 0);
        let missing = || {
            Refusal::new(format!(
                "no register begins {at} bytes into its memory; there are {}",
                self.cells.len()
            ))
        };
        cell.ok_or_else(missing)
    }

    fn load(&mut self, base: Held, offset: i16) -> Read<Held> {
        match base {
            Held::Own(at) => {
                let cell = self.cell(at.wrapping_add(offset.into()))?;
                self.wide(self.cells[cell].1)
            }
            Held::Stack(at) => {
                let value = self.stack.get(&at.wrapping_add(offset.into()));
                let missing = "it loads from the stack what wasn't stored there by one instruction";
                value.map(|it| Held::Number(*it)).ok_or_else(|| Refusal::new(missing))
            }
            _ => Err(Refusal::new("it isn't known at which address")),
        }
    }

    fn store(&mut self, base: Held, offset: i16, value: Value) -> Read<()> {
        match base {
            Held::Own(at) => {
                let cell = self.cell(at.wrapping_add(offset.into()))?;
                self.cells[cell].1 = self.composer.narrow(value, self.cells[cell].0)?;
            }
            Held::Stack(at) => {
                let at = at.wrapping_add(offset.into());
                self.stack.retain(|other, _| (other - at).abs() >= CELL);
                self.stack.insert(at, value);
            }
            _ => return Err(Refusal::new("it isn't known at which address")),
        }
        Ok(())
    }

    fn call(&mut self, number: u32) -> Read<Held> {
        let (first, second) = (self.number(self.held[1])?, self.number(self.held[2])?);
        let first = self.composer.narrow(first, Gauge::Bits32)?;
        let of_second = match number {
            1 => Gauge::Bits32,
            2 => self.input,
            _ => Gauge::Bits8,
        };
        let second = self.composer.narrow(second, of_second)?;
        let value = match number {
            1 => self.composer.binary(Binary::EndAroundAdd, first, second)?,
            2 => self.composer.crc32c(first, second)?,
            _ => self.composer.adler32(first, second)?,
        };
        self.wide(value)
    }
}

fn gauge(size: Size) -> Gauge {
    Gauge::ALL[size as usize]
}
