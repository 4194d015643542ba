//! Turns programs of classic BPF into tests by symbolic execution. Each path that accepts becomes an alternative; its
//! tests are that its loads succeed and its jumps are taken.
//!
//! The values it knows are constants, some bits of a cell, and a header's length. If a jump depends on anything else,
//! or there are too many paths, the program stays a program.

use alloc::{vec, vec::Vec};

use super::program::*;
use crate::demux::conjunction::Conjunction;
use crate::demux::limits::{ALTERNATIVES, TESTS};
use crate::demux::test::{Cell, Condition, Test};

/// The effort for a program: facts that are looked at or copied, over all steps of all paths.
const PATIENCE: usize = 1 << 18;

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Number(u32),
    /// These bits of a cell, shifted right.
    Bits {
        cell: Cell,
        mask: u32,
        shift: u32,
    },
    /// The length in bytes of the header at an offset.
    HeaderLength(u32),
    Unknown,
}

/// A path, from the beginning to its present step.
#[derive(Clone)]
struct Way {
    at: usize,
    a: Value,
    x: Value,
    scratch: [Value; SCRATCH],
    known: Conjunction,
}

/// A path that can't be turned into tests.
struct Puzzled;

/// When a jump is taken.
enum Taken {
    Known(bool),
    If(Test),
}

/// Alternatives of tests that are equivalent to a program, if there are any.
pub(in crate::demux) fn alternatives(program: &Program) -> Option<Vec<Vec<Test>>> {
    let mut found = Vec::new();
    let start = Value::Number(0);
    let known = Conjunction::default();
    let mut ways = vec![Way { at: 0, a: start, x: start, scratch: [start; SCRATCH], known }];
    let mut left = PATIENCE;
    while let Some(mut way) = ways.pop() {
        while let Some(step) = program.steps.get(way.at) {
            left = left.checked_sub(1 + way.known.size())?;
            way.at += 1;
            match way.take(*step, &mut ways) {
                Ok(Next::On) => continue,
                Ok(Next::Accept) => found.push(way.known),
                Ok(Next::Reject) => {}
                Err(Puzzled) => return None,
            }
            break;
        }
        if found.len() > ALTERNATIVES {
            return None;
        }
    }
    let found = simplified(&found);
    found.iter().all(|tests| tests.len() <= TESTS).then_some(found)
}

enum Next {
    On,
    Accept,
    Reject,
}

impl Way {
    /// Executes a step. At a branch, one of the paths is put on the list of open ones.
    fn take(&mut self, step: Step, ways: &mut Vec<Way>) -> Result<Next, Puzzled> {
        match step {
            Step::Load(register, source) => {
                let Some(value) = self.load(source)? else { return Ok(Next::Reject) };
                match register {
                    Register::A => self.a = value,
                    Register::X => self.x = value,
                }
            }
            Step::Store(Register::A, index) => self.scratch[index] = self.a,
            Step::Store(Register::X, index) => self.scratch[index] = self.x,
            Step::Compute(operation, operand) => {
                let Some(value) = computed(operation, self.a, self.value(operand))? else {
                    return Ok(Next::Reject);
                };
                self.a = value;
            }
            Step::Negate => {
                self.a = match self.a {
                    Value::Number(number) => Value::Number(number.wrapping_neg()),
                    _ => Value::Unknown,
                };
            }
            Step::Jump(distance) => self.at += distance,
            Step::JumpIf { then, otherwise, .. } if then == otherwise => self.at += then,
            Step::JumpIf { comparison, operand, then, otherwise } => {
                let Value::Number(number) = self.value(operand) else { return Err(Puzzled) };
                let (there, here) = self.fork(taken(comparison, self.a, number)?);
                if let Some(known) = there {
                    ways.push(Way { at: self.at + then, known, ..self.clone() });
                }
                let Some(known) = here else { return Ok(Next::Reject) };
                self.known = known;
                self.at += otherwise;
            }
            Step::Return(number) => {
                let result = number.map_or(self.a, Value::Number);
                let (accepted, _) = self.fork(taken(Comparison::Above, result, 0)?);
                let Some(known) = accepted else { return Ok(Next::Reject) };
                self.known = known;
                return Ok(Next::Accept);
            }
            Step::Move(Register::X) => self.x = self.a,
            Step::Move(Register::A) => self.a = self.x,
        }
        Ok(Next::On)
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Number(number) => Value::Number(number),
            Operand::X => self.x,
        }
    }

    /// None if no packet has it.
    fn load(&mut self, source: Source) -> Result<Option<Value>, Puzzled> {
        let cell = match source {
            Source::Number(number) => return Ok(Some(Value::Number(number))),
            Source::Scratch(index) => return Ok(Some(self.scratch[index])),
            Source::Length => Cell::Length,
            Source::At { offset, size } => Cell::At { offset, size },
            Source::HeaderLength(offset) => Cell::byte(offset),
            Source::Beyond { offset, size } => match self.x {
                Value::Number(more) => match offset.checked_add(more) {
                    Some(offset) => Cell::At { offset, size },
                    None => return Ok(None),
                },
                Value::HeaderLength(header) => Cell::Behind { header, offset, size },
                _ => return Err(Puzzled),
            },
        };
        if !cell.is_near() {
            return Err(Puzzled);
        }
        if self.known.add(Test::has(cell)).is_err() {
            return Ok(None);
        }
        Ok(Some(match source {
            Source::HeaderLength(offset) => Value::HeaderLength(offset),
            _ => Value::Bits { cell, mask: cell.mask(), shift: 0 },
        }))
    }

    /// What is known where a jump is taken, and where it isn't: nothing if no packet gets there.
    fn fork(&self, taken: Taken) -> (Option<Conjunction>, Option<Conjunction>) {
        let with = |test: Test| {
            let mut known = self.known.clone();
            known.add(test).is_ok().then_some(known)
        };
        match taken {
            Taken::Known(true) => (Some(self.known.clone()), None),
            Taken::Known(false) => (None, Some(self.known.clone())),
            Taken::If(test) => (with(test), opposite(test).and_then(with)),
        }
    }
}

/// None if it stops there.
fn computed(operation: Operation, a: Value, operand: Value) -> Result<Option<Value>, Puzzled> {
    let Value::Number(number) = operand else {
        // It may divide by zero, and end.
        let may_end = matches!(operation, Operation::Div | Operation::Mod);
        return if may_end { Err(Puzzled) } else { Ok(Some(Value::Unknown)) };
    };
    Ok(match (operation, a) {
        (_, Value::Number(a)) => operation.of(a, number).map(Value::Number),
        (Operation::Div | Operation::Mod, _) if number == 0 => None,
        (Operation::And, Value::Bits { cell, mask, shift }) => {
            let mask = mask & number.checked_shl(shift).unwrap_or(0);
            Some(if mask == 0 { Value::Number(0) } else { Value::Bits { cell, mask, shift } })
        }
        (Operation::ShiftRight, Value::Bits { cell, mask, shift }) => {
            let shift = shift.saturating_add(number);
            let mask = mask & u32::MAX.checked_shl(shift).unwrap_or(0);
            Some(if mask == 0 { Value::Number(0) } else { Value::Bits { cell, mask, shift } })
        }
        _ => Some(Value::Unknown),
    })
}

fn taken(comparison: Comparison, a: Value, number: u32) -> Result<Taken, Puzzled> {
    let (cell, mask, shift) = match a {
        Value::Number(a) => return Ok(Taken::Known(comparison.holds(a, number))),
        Value::Bits { cell, mask, shift } => (cell, mask, shift),
        Value::HeaderLength(_) | Value::Unknown => return Err(Puzzled),
    };
    // The bits are compared where they are; those below them are 0.
    let most = mask >> shift;
    let condition = match comparison {
        Comparison::Equal if number > most => return Ok(Taken::Known(false)),
        Comparison::Equal => Condition::Is(number << shift),
        Comparison::Above if number >= most => return Ok(Taken::Known(false)),
        Comparison::Above => Condition::Between((number + 1) << shift, u32::MAX),
        Comparison::AboveOrEqual if number > most => return Ok(Taken::Known(false)),
        Comparison::AboveOrEqual if number == 0 => return Ok(Taken::Known(true)),
        Comparison::AboveOrEqual => Condition::Between(number << shift, u32::MAX),
        Comparison::Common if number & most == 0 => return Ok(Taken::Known(false)),
        Comparison::Common => {
            let mask = mask & number << shift;
            return Ok(Taken::If(Test { cell, mask, condition: Condition::IsNot(0) }));
        }
    };
    Ok(Taken::If(Test { cell, mask, condition }))
}

/// The negation of a test, for packets that have its cell; all tests that [`taken`] makes have one.
fn opposite(test: Test) -> Option<Test> {
    let condition = match test.condition {
        Condition::Is(value) => Condition::IsNot(value),
        Condition::IsNot(value) => Condition::Is(value),
        Condition::Between(0, high) => Condition::Between(high.checked_add(1)?, u32::MAX),
        Condition::Between(low, high) if high >= test.mask => Condition::Between(0, low - 1),
        Condition::Between(..) => return None,
    };
    Some(Test { condition, ..test })
}

/// Leaves out tests that only keep alternatives disjoint: a packet that fails one is wanted by another alternative
/// anyway.
fn simplified(found: &[Conjunction]) -> Vec<Vec<Test>> {
    const MANY: usize = 512;
    let mut all: Vec<Vec<Test>> = found.iter().map(Conjunction::tests).collect();
    if all.iter().map(Vec::len).sum::<usize>() > MANY {
        return all;
    }
    for index in 0..all.len() {
        let mut at = 0;
        while at < all[index].len() {
            match without(&all, index, at) {
                Some(shorter) => all[index] = shorter,
                None => at += 1,
            }
        }
    }
    all
}

/// An alternative without one of its tests, if all that it then wants in addition is wanted by another one.
fn without(all: &[Vec<Test>], index: usize, at: usize) -> Option<Vec<Test>> {
    let test = all[index][at];
    let is_choice = test.mask.is_power_of_two() || !matches!(test.condition, Condition::Is(_));
    let opposite = opposite(test).filter(|_| is_choice)?;
    let mut rest = all[index].clone();
    rest[at] = Test::has(test.cell);
    let shorter = Conjunction::of(&rest)?;
    let mut more = shorter.clone();
    more.add(opposite).ok()?;
    let covers = |(other, tests): (usize, &Vec<Test>)| other != index && more.implies(tests);
    all.iter().enumerate().any(covers).then(|| shorter.tests())
}
