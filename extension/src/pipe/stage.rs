//! One pipe: its gauges, its attributes, and what it does.

use alloc::{format, sync::Arc};

use super::body::{Binary, Body, Operation, Value};
use super::{Gauge, Refusal, Writer};

/// A computation on a stream of words.
#[derive(Clone, Debug)]
pub struct Pipe {
    pub(super) name: Arc<str>,
    pub(super) input: Gauge,
    pub(super) output: Gauge,
    pub(super) is_commutative: bool,
    pub(super) body: Arc<Body>,
}

/// What the owner of a pipe says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The words can be taken in any order and direction. It is believed: of a pipe for which it isn't true, the
    /// results depend on the order. Where it can be seen, it needn't be said.
    pub commutative: bool,
    /// What goes out is what came in; a pipe that says so and has another output is refused.
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

    /// What it is called in refusals.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The width of the words that come in.
    pub fn input(&self) -> Gauge {
        self.input
    }

    /// The width of the words that go out.
    pub fn output(&self) -> Gauge {
        self.output
    }

    /// Whether words can be taken in any order.
    pub fn is_commutative(&self) -> bool {
        self.is_commutative
    }

    /// Whether other words go out than come in.
    pub fn modifies(&self) -> bool {
        self.body.output.is_some()
    }

    pub(super) fn changes_length(&self) -> bool {
        self.input != self.output
    }

    /// How many bytes go out where so many come in: what is less than a word at the end is a whole one if the gauges
    /// differ.
    pub(super) fn length(&self, bytes: usize) -> usize {
        if self.changes_length() {
            bytes.div_ceil(self.input.bytes()).saturating_mul(self.output.bytes())
        } else {
            bytes
        }
    }
}

/// Whether it can be seen that the order doesn't matter: each register that changes gathers something, and tables stay
/// as they are.
fn is_commutative(body: &Body) -> bool {
    let no_table = |step: &super::body::Step| !matches!(step.operation, Operation::Write { .. });
    body.updates.iter().all(|&(register, value)| gathered(body, register, value).is_some())
        && body.steps.iter().all(no_table)
}

/// If a register is nothing but the result of one operation on one value of each word, whichever comes first: which.
/// That value doesn't depend on registers that change.
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

/// How many uses there are of a register's old value.
pub(super) fn read_by(body: &Body, is_register: impl Fn(Operation) -> bool) -> u16 {
    let uses = body.uses();
    body.steps.iter().zip(uses).filter(|(step, _)| is_register(step.operation)).map(|(_, uses)| uses).sum()
}
