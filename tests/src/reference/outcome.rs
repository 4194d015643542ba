//! The options and the outcome of a run.

use std::fmt;

use drystone_language::source::{SourceFile, Span};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Chooses the schedule, and the results of `RANDOM`.
    pub seed: u64,
    /// Messages in a communication's buffer, at least 1.
    pub capacity: usize,
    /// The number of statements after which the run is stopped.
    pub max_steps: u64,
    /// The greatest depth of procedure calls in one process.
    pub max_depth: usize,
    /// The arguments that the interface Arguments gives.
    pub arguments: Vec<String>,
    /// The input that the interface Console reads.
    pub input: Vec<u8>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 0,
            capacity: 1,
            max_steps: u64::MAX,
            max_depth: 20_000,
            arguments: Vec::new(),
            input: Vec::new(),
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The whole output.
    pub output: Vec<u8>,
    /// How the run ended.
    pub end: End,
    /// Errors that ended isolated components, in the order in which they happened.
    pub contained: Vec<Failure>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Everything is deleted.
    Finished,
    /// `HALT`, with its status.
    Halted(i64),
    /// A run-time error that no isolated component contained.
    Failed(Failure),
    /// [`Options::max_steps`] were not enough.
    OutOfSteps,
}

/// A run-time error.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its kind.
    pub kind: Kind,
    /// The place in the text.
    pub span: Span,
    /// The path of the component, e.g. `City.house[17]`.
    pub path: String,
    /// The service's interface, where the error happened in one.
    pub interface: Option<String>,
}

impl Failure {
    /// `kind at file:line:column path`, the essential part of the message on standard error.
    pub fn describe(&self, files: &[SourceFile]) -> String {
        let (file, (line, column)) = match files.get(self.span.file as usize) {
            Some(file) => (file.path.as_str(), file.line_column(self.span.start)),
            None => ("?", (0, 0)),
        };
        format!("{} at {file}:{line}:{column} {}", self.kind, self.path)
    }
}

/// Kinds of run-time errors (language reference, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A result outside its type.
    Overflow,
    /// `DIV` or `MOD` by 0.
    DivisionByZero,
    /// An index of an array, a text or a cardinality; a place of `SLICE` or `FIND`.
    IndexOutOfBounds,
    /// An element that is read but isn't there.
    MissingElement,
    /// A container without the component that is needed.
    EmptyContainer,
    /// A container, element or array that is there already.
    FullContainer,
    /// `ASSERT`.
    AssertionFailed,
    /// A message, or an end, that the protocol does not allow here.
    ProtocolViolation,
    /// Procedure calls nested too deep.
    StackLimit,
    /// No process can ever run again.
    Deadlock,
    /// `CHARACTER(n)` or `INTEGER(x)` out of range.
    InvalidConversion,
    /// A function that ended without `RETURN`.
    MissingReturn,
    /// A value for which CASE has no branch.
    NoBranch,
    /// `v(T)` of a component that is no T.
    WrongType,
    /// `BY 0`, a negative size, `RANDOM` of an empty range.
    InvalidArgument,
    /// A `CONNECT` that would close a cycle of relays.
    ConnectionCycle,
    /// A name that cannot be bound in this way.
    BindingRefused,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::Overflow => "overflow",
            Kind::DivisionByZero => "division by zero",
            Kind::IndexOutOfBounds => "index out of bounds",
            Kind::MissingElement => "missing element",
            Kind::EmptyContainer => "empty container",
            Kind::FullContainer => "full container",
            Kind::AssertionFailed => "assertion failed",
            Kind::ProtocolViolation => "protocol violation",
            Kind::StackLimit => "stack limit",
            Kind::Deadlock => "deadlock",
            Kind::InvalidConversion => "invalid conversion",
            Kind::MissingReturn => "missing return",
            Kind::NoBranch => "no branch",
            Kind::WrongType => "wrong type",
            Kind::InvalidArgument => "invalid argument",
            Kind::ConnectionCycle => "connection cycle",
            Kind::BindingRefused => "binding refused",
        })
    }
}
