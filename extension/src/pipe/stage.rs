//! Pipes: their gauges, attributes and bodies.

use alloc::{format, sync::Arc};

use super::body::{Binary, Body, Operation, Value};
use super::{Gauge, Refusal, Writer};

/// A pipe: a computation on each word of a stream.
#[derive(Clone, Debug)]
pub struct Pipe {
    pub(super) name: Arc<str>,
    pub(super) input: Gauge,
    pub(super) output: Gauge,
    pub(super) is_commutative: bool,
    pub(super) body: Arc<Body>,
}

/// What the author of a pipe declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Words can be taken in any order. This isn't checked: if it isn't true, results depend on the order. It needn't
    /// be declared where it can be inferred.
    pub commutative: bool,
    /// Words aren't changed. A pipe that declares this, and has another output, is refused.
    pub keeps: bool,
}

impl Pipe {
    /// A pipe whose body is written in Rust.
    ///
    /// ```
    /// use drystone_extension::pipe::{Attributes, Gauge, Pipe};
    /// let rot13 = Pipe::new("add 13", Gauge::Bits8, Gauge::Bits8, Attributes::default(), |it| {
    ///     it.output(it.input() + 13);
    /// });
    /// assert!(rot13.is_ok());
    /// ```
    pub fn new(
        name: &str,
        input: Gauge,
        output: Gauge,
        attributes: Attributes,
        write: impl FnOnce(&Writer),
    ) -> Result<Pipe, Refusal> {
        let writer = Writer::new(input);
        write(&writer);
        let width = writer.width_of_output();
        let body = writer.finish().map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))?;
        Pipe::of_body(name, (input, output), width, attributes, body)
    }

    pub(super) fn of_body(
        name: &str,
        (input, output): (Gauge, Gauge),
        width: Option<Gauge>,
        attributes: Attributes,
        body: Body,
    ) -> Result<Pipe, Refusal> {
        match width {
            None if input != output => {
                let what =
                    format!("{name}: words of {input} come in, {output} have to go out: say what (output)");
                return Err(Refusal::new(what));
            }
            Some(width) if width != output => {
                let what =
                    format!("{name}: the output has {width}, the output gauge is {output}: widen or narrow");
                return Err(Refusal::new(what));
            }
            _ => {}
        }
        if attributes.keeps && body.output.is_some() {
            let what = format!(
                "{name}: it is said to keep the words, and its output isn't its input: leave out one"
            );
            return Err(Refusal::new(what));
        }
        let is_commutative = attributes.commutative || is_commutative(&body);
        Ok(Pipe { name: name.into(), input, output, is_commutative, body: Arc::new(body) })
    }

    /// Its name in refusals.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The width of input words.
    pub fn input(&self) -> Gauge {
        self.input
    }

    /// The width of output words.
    pub fn output(&self) -> Gauge {
        self.output
    }

    /// Whether words can be taken in any order.
    pub fn is_commutative(&self) -> bool {
        self.is_commutative
    }

    /// Whether it changes words.
    pub fn modifies(&self) -> bool {
        self.body.output.is_some()
    }

    pub(super) fn changes_length(&self) -> bool {
        self.input != self.output
    }

    /// How many bytes come out of so many. If the gauges differ, an incomplete word at the end counts as a whole one.
    pub(super) fn length(&self, bytes: usize) -> usize {
        if self.changes_length() {
            bytes.div_ceil(self.input.bytes()).saturating_mul(self.output.bytes())
        } else {
            bytes
        }
    }
}

/// Whether the order demonstrably doesn't matter: each register that changes is a reduction, and no table changes.
fn is_commutative(body: &Body) -> bool {
    let no_table = |step: &super::body::Step| !matches!(step.operation, Operation::Write { .. });
    body.updates.iter().all(|&(register, value)| gathered(body, register, value).is_some())
        && body.steps.iter().all(no_table)
}

/// If a register is a reduction of one value of each word by an operation that can be reordered: that operation. The
/// value doesn't depend on registers that change.
pub(super) fn gathered(body: &Body, register: u8, value: Value) -> Option<(Binary, Value)> {
    let Operation::Binary(operation, a, b) = body.step(value).operation else { return None };
    let old = Operation::Register(register);
    let other = match (body.step(a).operation == old, body.step(b).operation == old) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    let alone = read_by(body, |it| it == old) == 1 && body.uses()[usize::from(value.0)] == 1;
    (operation.gathers() && alone).then_some((operation, other))
}

/// How often the old value of a register is used.
pub(super) fn read_by(body: &Body, is_register: impl Fn(Operation) -> bool) -> u16 {
    let uses = body.uses();
    body.steps.iter().zip(uses).filter(|(step, _)| is_register(step.operation)).map(|(_, uses)| uses).sum()
}
