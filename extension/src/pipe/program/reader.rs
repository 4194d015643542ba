//! Translates a program into steps. It goes through the instructions once, in order: all jumps lead forward, so all
//! paths to an instruction are known when it is reached.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::super::body::{Binary, Body, Comparison, Register, Value};
use super::super::compose::Composer;
use super::super::{Gauge, Refusal};
use super::state::{Held, State, Test};
use crate::bytecode::{
    Alu, Condition, Constant, Instruction, Operand, Order, Program, Register as OfProgram, Sign, Size, Width,
};

/// Bytes of a register.
pub(super) const CELL: i64 = 8;

/// The exit, where all paths meet.
const END: usize = usize::MAX;

/// The most conditions of a path.
const MOST_TESTS: usize = 64;

/// Translates a program.
pub(super) struct Reader {
    composer: Composer,
    input: Gauge,
    /// The widths of the pipe's registers.
    widths: Vec<Gauge>,
    /// The state at the present instruction.
    state: State,
    /// The states of jumps to later instructions.
    ahead: BTreeMap<usize, Vec<State>>,
    tests: usize,
    /// For each register of the pipe, whether a stored value may be wider.
    cut: Vec<bool>,
}

pub(super) type Read<T> = Result<T, Refusal>;

impl Reader {
    pub fn new(input: Gauge, registers: &[Register]) -> Read<Reader> {
        let mut composer = Composer::default();
        let (mut cells, mut widths) = (Vec::new(), Vec::new());
        for &register in registers {
            let number = composer.register(register)?;
            cells.push(composer.read_register(number)?);
            widths.push(register.width);
        }
        let word = composer.input(input)?;
        let mut state = State::new(cells);
        state.held[1] = Held::Number(composer.widen(word, Gauge::Bits64)?);
        state.held[2] = Held::Own(0);
        state.held[10] = Held::Stack(0);
        let cut = vec![false; widths.len()];
        Ok(Reader { composer, input, widths, state, ahead: BTreeMap::new(), tests: 0, cut })
    }

    /// The body of the program, if it has an output, of this width; and for each register of the pipe, whether it may
    /// be too narrow.
    pub fn body(mut self, program: &Program, output: Option<Gauge>) -> Read<(Body, Vec<bool>)> {
        let mut here = true;
        for (at, it) in program.instructions() {
            let in_it = |refusal| Refusal::new(format!("instruction {at}, `{it}`: {refusal}"));
            here = self.arrive(at, here).map_err(in_it)?;
            if here {
                here = self.instruction(at, it).map_err(in_it)?;
            }
        }
        self.arrive(END, false)?;
        for (number, &value) in self.state.cells.iter().enumerate() {
            self.composer.update(number as u8, value)?;
        }
        let output = match output {
            Some(gauge) => Some(self.number(self.held(0)).and_then(|it| self.composer.narrow(it, gauge))?),
            None => None,
        };
        Ok((self.composer.finish(output)?, self.cut))
    }

    /// Merges the states of jumps to this instruction. Returns whether it is reachable.
    fn arrive(&mut self, at: usize, mut here: bool) -> Read<bool> {
        // The last path to branch off is merged first, so that the two sides of a condition meet.
        for other in self.ahead.remove(&at).unwrap_or_default().into_iter().rev() {
            self.state = match here {
                true => other.joined(&self.state, &mut self.composer, self.input)?,
                false => other,
            };
            here = true;
        }
        Ok(here)
    }

    /// By the register's number.
    fn held(&self, register: usize) -> Held {
        self.state.held[register]
    }

    fn number(&self, held: Held) -> Read<Value> {
        match held {
            Held::Number(value) => Ok(value),
            Held::Nothing => Err(Refusal::new("it reads a register that isn't set")),
            _ => Err(Refusal::new("it computes with an address: only constants can be added to those")),
        }
    }

    fn operand(&mut self, operand: Operand) -> Read<Held> {
        match operand {
            Operand::Register(register) => Ok(self.held(register.index())),
            Operand::Immediate(number) => self.constant(i64::from(number) as u64),
        }
    }

    fn constant(&mut self, number: u64) -> Read<Held> {
        self.composer.constant(Gauge::Bits64, number).map(Held::Number)
    }

    /// Translates an instruction. Returns whether it falls through.
    fn instruction(&mut self, at: usize, it: Instruction) -> Read<bool> {
        match it {
            Instruction::Exit => self.go_on(END),
            Instruction::Jump { .. } => self.go_on(farther(at, it)?),
            Instruction::JumpIf { width, condition, left, right, .. } => {
                let test = self.test(width, condition, left, right)?;
                return self.part(farther(at, it)?, test);
            }
            _ => return self.step(it).map(|()| true),
        }
        Ok(false)
    }

    /// Jumps forward.
    fn go_on(&mut self, target: usize) {
        self.ahead.entry(target).or_default().push(self.state.clone());
    }

    /// Jumps forward if a condition holds. Returns whether it may not hold.
    fn part(&mut self, target: usize, test: Test) -> Read<bool> {
        let [a, b] = test.values;
        if let (Some(x), Some(y)) = (self.composer.constant_of(a), self.composer.constant_of(b)) {
            let holds = test.comparison.holds(self.composer.width(a), x, y);
            if holds {
                self.go_on(target);
            }
            return Ok(!holds);
        }
        self.tests += 1;
        if self.tests > MOST_TESTS {
            return Err(Refusal::new(format!(
                "a pipe has at most {MOST_TESTS} conditions: make it two pipes"
            )));
        }
        let mut other = self.state.clone();
        other.tests.push(test);
        self.ahead.entry(target).or_default().push(other);
        self.state.tests.push(test.negated());
        Ok(true)
    }

    fn test(&mut self, width: Width, condition: Condition, left: OfProgram, right: Operand) -> Read<Test> {
        let of_width = computed_in(width);
        let (left, right) = (self.held(left.index()), self.operand(right)?);
        let (a, b) = (self.number(left)?, self.number(right)?);
        let (a, b) = (self.composer.narrow(a, of_width)?, self.composer.narrow(b, of_width)?);
        use Comparison::*;
        let (comparison, values) = match condition {
            Condition::Equal => (Equal, [a, b]),
            Condition::NotEqual => (NotEqual, [a, b]),
            Condition::AnyBit => {
                let zero = self.composer.constant(of_width, 0)?;
                (NotEqual, [self.composer.binary(Binary::And, a, b)?, zero])
            }
            Condition::Above => (Below, [b, a]),
            Condition::AboveOrEqual => (BelowOrEqual, [b, a]),
            Condition::Below => (Below, [a, b]),
            Condition::BelowOrEqual => (BelowOrEqual, [a, b]),
            Condition::SignedGreater => (SignedLess, [b, a]),
            Condition::SignedGreaterOrEqual => (SignedLessOrEqual, [b, a]),
            Condition::SignedLess => (SignedLess, [a, b]),
            Condition::SignedLessOrEqual => (SignedLessOrEqual, [a, b]),
        };
        Ok(Test { comparison, values })
    }

    fn step(&mut self, it: Instruction) -> Read<()> {
        let (destination, held) = match it {
            Instruction::Alu { width, operation, destination, source } => {
                let (old, source) = (self.held(destination.index()), self.operand(source)?);
                (destination, self.alu(width, operation, old, source)?)
            }
            Instruction::Negate { width, destination } => {
                let zero = self.constant(0)?;
                (destination, self.alu(width, Alu::Sub, zero, self.held(destination.index()))?)
            }
            Instruction::Extend { width, from, destination, source } => {
                let value = self.number(self.held(source.index()))?;
                (destination, self.extended(width, gauge(from), value)?)
            }
            Instruction::Swap { order, size, destination } => {
                let value = self.number(self.held(destination.index()))?;
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
                (destination, self.load(self.held(base.index()), offset)?)
            }
            Instruction::Store { size: Size::Double, base, offset, source } => {
                let held = self.operand(source)?;
                let value = self.number(held)?;
                return self.store(self.held(base.index()), offset, value);
            }
            Instruction::CallHelper { number } => {
                let result = self.call(number)?;
                self.state.held[1..=5].fill(Held::Nothing);
                self.state.held[0] = result;
                return Ok(());
            }
            Instruction::Load { .. } | Instruction::Store { .. } => {
                return Err(Refusal::new(
                    "registers of pipes, and the stack, are read and written 8 bytes at once",
                ));
            }
            _ => return Err(Refusal::new("a pipe has no use for it, as it is done for each word")),
        };
        self.state.held[destination.index()] = held;
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
        let of_width = computed_in(width);
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
        let to = computed_in(width);
        let value = self.composer.narrow(value, to)?;
        let above = self.composer.constant(to, u64::from(to.bits() - from.bits()))?;
        let value = self.composer.binary(Binary::ShiftLeft, value, above)?;
        let value = self.composer.binary(Binary::ShiftRightSigned, value, above)?;
        self.wide(value)
    }

    fn cell(&self, at: i64) -> Read<usize> {
        let cell = usize::try_from(at / CELL).ok().filter(|cell| *cell < self.widths.len() && at % CELL == 0);
        let missing = || {
            Refusal::new(format!(
                "no register begins {at} bytes into its memory; there are {}",
                self.widths.len()
            ))
        };
        cell.ok_or_else(missing)
    }

    fn load(&mut self, base: Held, offset: i16) -> Read<Held> {
        match base {
            Held::Own(at) => {
                let cell = self.cell(at.wrapping_add(offset.into()))?;
                self.wide(self.state.cells[cell])
            }
            Held::Stack(at) => {
                let value = self.state.stack.get(&at.wrapping_add(offset.into()));
                let missing = "it loads from the stack what wasn't stored there by one instruction";
                value.map(|it| Held::Number(*it)).ok_or_else(|| Refusal::new(missing))
            }
            _ => Err(Refusal::new("its address isn't known")),
        }
    }

    fn store(&mut self, base: Held, offset: i16, value: Value) -> Read<()> {
        match base {
            Held::Own(at) => {
                let cell = self.cell(at.wrapping_add(offset.into()))?;
                let width = self.widths[cell];
                self.cut[cell] |= !self.composer.fits(value, width);
                self.state.cells[cell] = self.composer.narrow(value, width)?;
            }
            Held::Stack(at) => {
                let at = at.wrapping_add(offset.into());
                self.state.stack.retain(|other, _| other.abs_diff(at) >= CELL as u64);
                self.state.stack.insert(at, value);
            }
            _ => return Err(Refusal::new("its address isn't known")),
        }
        Ok(())
    }

    fn call(&mut self, number: u32) -> Read<Held> {
        let (first, second) = (self.number(self.held(1))?, self.number(self.held(2))?);
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

/// The target of a jump.
fn farther(at: usize, jump: Instruction) -> Read<usize> {
    let target = jump.target(at).and_then(|target| usize::try_from(target).ok());
    let loops = || Refusal::new("a pipe goes on to its end: it has no loops");
    target.filter(|target| *target > at).ok_or_else(loops)
}

fn computed_in(width: Width) -> Gauge {
    if width == Width::W64 { Gauge::Bits64 } else { Gauge::Bits32 }
}

fn gauge(size: Size) -> Gauge {
    Gauge::ALL[size as usize]
}
