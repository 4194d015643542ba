//! Decides whether a pipe can be vectorised, and how.
//!
//! All values must be as wide as the pipe's words, so that a vector holds equally many of each. Registers that change
//! must be reductions by an operation that can be reordered: each lane of the vector then accumulates for itself, and
//! the lanes are combined in the end.

use alloc::vec::Vec;

use crate::pipe::body::{Binary, Body, Operation, Value};
use crate::pipe::features::Vectors;
use crate::pipe::stage::{gathered, read_by};
use crate::pipe::{Gauge, Pipe};

/// How a pipe is vectorised.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// For each step, whether it depends on the vector, and isn't loop-invariant.
    pub is_needed: Vec<bool>,
    /// For each value, the last step that uses it; `MAX` if it is used after all steps.
    pub last: Vec<usize>,
    pub accumulators: Vec<Accumulator>,
    pub output: Output,
}

/// The output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Same,
    Word(Value),
    /// Words twice as wide, of these halves.
    Joined(Value, Value),
}

/// A register that is a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulator {
    pub register: u8,
    pub kind: Gathers,
    /// The value of each word that is reduced.
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathers {
    /// Lanes as wide as words.
    Beside(Binary),
    /// The exact sum of numbers of some bits, in lanes of 64 bits. In the end this operation adds it to the register.
    Sums(Gauge, Binary),
    /// The sum in lanes of 32 bits, with a count of carries for each lane. Both are added to the register in the end.
    Carries,
    Adler32,
}

/// How a pipe is vectorised, if it can be.
pub(super) fn form(pipe: &Pipe, vectors: Vectors) -> Option<Form> {
    if vectors == Vectors::None {
        return None;
    }
    let Pipe { body, input, output, .. } = pipe;
    let mut accumulators = Vec::new();
    for &(register, value) in &body.updates {
        accumulators.push(accumulator(body, *input, register, value)?);
    }
    let output = match body.output {
        None => Output::Same,
        Some(value) if input == output => Output::Word(value),
        Some(value) => match body.step(value).operation {
            Operation::Join(low, high) if body.width(low) == *input => Output::Joined(low, high),
            _ => return None,
        },
    };
    let mut is_needed = alloc::vec![false; body.steps.len()];
    let roots = accumulators.iter().map(|it| it.value);
    let results = match output {
        Output::Same => [None, None],
        Output::Word(value) => [Some(value), None],
        Output::Joined(low, high) => [Some(low), Some(high)],
    };
    for root in roots.chain(results.into_iter().flatten()) {
        is_needed[usize::from(root.0)] = true;
    }
    for (at, step) in body.steps.iter().enumerate().rev() {
        if !is_needed[at] {
            if matches!(step.operation, Operation::Write { .. }) {
                return None;
            }
            continue;
        }
        let changes = |register| accumulators.iter().any(|it| it.register == register);
        if step.width != *input || !is_possible(body, step.operation, step.width, vectors, changes) {
            return None;
        }
        step.operation.operands(|value| is_needed[usize::from(value.0)] = true);
    }
    let mut last = alloc::vec![0; body.steps.len()];
    for (at, step) in body.steps.iter().enumerate().filter(|(at, _)| is_needed[*at]) {
        step.operation.operands(|value| last[usize::from(value.0)] = at);
    }
    let roots = accumulators.iter().map(|it| it.value).chain(results.into_iter().flatten());
    roots.for_each(|root| last[usize::from(root.0)] = usize::MAX);
    Some(Form { is_needed, last, accumulators, output })
}

fn accumulator(body: &Body, gauge: Gauge, register: u8, value: Value) -> Option<Accumulator> {
    if let Operation::Adler32(sum, byte) = body.step(value).operation {
        let old = Operation::Register(register);
        let alone = body.step(sum).operation == old && read_by(body, |it| it == old) == 1;
        let unused = body.uses()[usize::from(value.0)] == 1;
        let is = alone && unused && gauge == Gauge::Bits8;
        return is.then_some(Accumulator { register, kind: Gathers::Adler32, value: byte });
    }
    let (operation, value) = gathered(body, register, value)?;
    let width = body.width(value);
    if width == gauge {
        let kind = match operation {
            // 32 bits are right for what is shorter, too: 2^32 - 1 is a multiple.
            Binary::EndAroundAdd if width < Gauge::Bits64 => Gathers::Carries,
            _ => Gathers::Beside(operation),
        };
        return Some(Accumulator { register, kind, value });
    }
    match (operation, body.step(value).operation) {
        (Binary::Add | Binary::EndAroundAdd, Operation::Widen(inner)) if body.width(inner) == gauge => {
            Some(Accumulator { register, kind: Gathers::Sums(gauge, operation), value: inner })
        }
        _ => None,
    }
}

/// Whether there are vector instructions for a step.
fn is_possible(
    body: &Body,
    operation: Operation,
    width: Gauge,
    vectors: Vectors,
    changes: impl Fn(u8) -> bool,
) -> bool {
    use Binary::*;
    match operation {
        Operation::Input | Operation::Constant(_) | Operation::Not(_) | Operation::Swap(_) => true,
        Operation::Register(register) => !changes(register),
        Operation::Binary(kind @ (ShiftLeft | ShiftRight | ShiftRightSigned | RotateLeft), _, count) => {
            let each = vectors == Vectors::Bits256
                && match kind {
                    ShiftRightSigned => width == Gauge::Bits32,
                    _ => width >= Gauge::Bits32,
                };
            each || body.constant(count).is_some()
        }
        Operation::Binary(..) => true,
        Operation::Select(_, [a, ..]) => body.width(a) == width,
        _ => false,
    }
}
