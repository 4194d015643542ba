//! Whether a pipe can be done on many words at once, beside each other in a vector register, and how.
//!
//! All that is computed must be as wide as the pipe's words, so that each value has as many as there are words. What
//! registers become must be gathered of what each word gives, by an operation for which the order doesn't matter: then
//! each place in the vector gathers for itself, and all are gathered in the end, with the same result.

use alloc::vec::Vec;

use crate::pipe::body::{Binary, Body, Operation, Value};
use crate::pipe::features::Vectors;
use crate::pipe::stage::{gathered, read_by};
use crate::pipe::{Gauge, Pipe};

/// How a pipe is done on vectors.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// Of each step, whether it is done for each vector.
    pub is_needed: Vec<bool>,
    /// Of each value, the last step that needs it; `MAX` if it is needed behind them.
    pub last: Vec<usize>,
    pub accumulators: Vec<Accumulator>,
    pub output: Output,
}

/// What goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Same,
    Word(Value),
    /// Words twice as wide, of which these are the halves.
    Joined(Value, Value),
}

/// A register that gathers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulator {
    pub register: u8,
    pub kind: Gathers,
    /// What of each word.
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathers {
    /// In places as wide as words.
    Beside(Binary),
    /// The exact sum, in places of 64 bits, of numbers of some bits; added in the end by this operation.
    Sums(Gauge, Binary),
    /// The sum in places of 32 bits, and how often each has carried; added in the end with what they carry.
    Carries,
    Adler32,
}

/// How a pipe is done on vectors, if it can be.
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

/// Whether there are instructions for it.
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
