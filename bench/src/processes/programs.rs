//! The measured programs: their sizes, their results, and Drystone's targets.

pub mod bits;
pub mod databases;
pub mod documents;
pub mod growing;
pub mod practical;
pub mod processors;
pub mod waits;

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;

use crate::places;

/// See the head of this file.
pub struct Program {
    /// The row's name.
    pub row: &'static str,
    /// The name of the source file, and the peers' name for it.
    pub name: &'static str,
    folder: &'static str,
    /// Constants that differ from the source's.
    sizes: &'static [(&'static str, u32)],
    /// The program's output if its constants differ; otherwise the `.expected` file has it.
    writes: Option<&'static str>,
    /// The least that peers give as their result.
    result: &'static str,
    /// How many messages are sent.
    pub messages: Messages,
    /// Drystone's target.
    pub target: Target,
    /// Whether peers have a better design than the program's.
    pub best_differs: bool,
    /// Whether peers take many seconds.
    pub is_heavy: bool,
    /// Makes the program's input, if it is missing.
    pub file: Option<fn() -> Result<PathBuf, String>>,
    /// The languages of its peers.
    pub languages: &'static [&'static str],
}

/// The number of a program's messages: between two bounds, in steps.
pub struct Messages {
    least: u64,
    most: u64,
    step: u64,
}

/// Drystone's target.
#[derive(Clone, Copy)]
pub enum Target {
    /// An absolute value.
    At(f64),
    /// Milliseconds on the machine that the targets are for, see [`REFERENCE`].
    Milliseconds(f64),
    /// A multiple of the best peer's figure.
    OfBest(f64),
    /// A multiple of the best mirror's figure.
    OfMirrors(f64),
    /// A multiple of the figure of Go's mirror, where others are shown, too.
    OfGo(f64),
}

impl Messages {
    /// Any number: the peers have another structure.
    const ANY: Messages = Messages { least: 0, most: u64::MAX, step: 1 };

    const fn exactly(n: u64) -> Messages {
        Messages { least: n, most: n, step: 1 }
    }

    /// Whether a program may send so many.
    pub fn contains(&self, n: u64) -> bool {
        (self.least..=self.most).contains(&n) && (n - self.least).is_multiple_of(self.step)
    }
}

impl Program {
    /// The source file.
    pub fn source(&self) -> PathBuf {
        places::root().join(self.folder).join(self.name).with_extension("dry")
    }

    /// The output that the program must have.
    pub fn expected(&self) -> Result<Cow<'static, str>, String> {
        match self.writes {
            Some(text) => Ok(text.into()),
            None => {
                let path = self.source().with_extension("expected");
                std::fs::read_to_string(&path)
                    .map(Cow::from)
                    .map_err(|error| format!("{}: {error}", path.display()))
            }
        }
    }

    /// Whether it is a peer's correct result: integers and booleans exactly, other numbers within 1 %.
    pub fn is_result(&self, result: &Value) -> bool {
        let expected: Value = serde_json::from_str(self.result).expect("the table is right");
        let expected = expected.as_object().expect("results have names");
        expected.iter().all(|(name, expected)| match (expected.as_f64(), result[name].as_f64()) {
            (Some(expected), Some(x)) if expected.fract() != 0.0 => (x - expected).abs() <= expected / 100.0,
            _ => *expected == result[name],
        })
    }

    /// The sizes for Drystone.
    pub fn settings(&self) -> Vec<String> {
        self.sizes.iter().flat_map(|(name, n)| ["--set".into(), format!("{name}={n}")]).collect()
    }

    /// The sizes for peers.
    pub fn flags(&self) -> Vec<String> {
        self.sizes.iter().flat_map(|(name, n)| [format!("-{}", name.to_lowercase()), n.to_string()]).collect()
    }
}

/// What most programs have in common.
const COMMON: Program = Program {
    row: "",
    name: "",
    folder: "programs",
    sizes: &[],
    writes: None,
    result: "{}",
    messages: Messages::exactly(0),
    target: Target::At(0.0),
    best_differs: false,
    is_heavy: false,
    file: None,
    languages: &["go", "java", "erlang", "tokio"],
};

/// What programs of the bench itself have in common whose peers are in Go.
const BESIDE_GO: Program = Program { folder: "bench/programs", languages: &["go"], ..COMMON };

/// The programs of the paper.
pub const PROGRAMS: [Program; 9] = [
    Program {
        row: "ProducerConsumer 1:1",
        name: "ProducerConsumer",
        result: r#"{"count": 1000000, "sum": 500000500000}"#,
        messages: Messages::exactly(2_000_003),
        target: Target::Milliseconds(28.0),
        best_differs: true,
        ..COMMON
    },
    Program {
        row: "ProducerConsumer 5:5",
        name: "ProducerConsumer",
        sizes: &[("N", 5), ("M", 5)],
        writes: Some("5000000 elements, sum 2500002500000\n"),
        result: r#"{"count": 5000000, "sum": 2500002500000}"#,
        messages: Messages::exactly(10_000_015),
        // Five times the elements of 1:1.
        target: Target::Milliseconds(140.0),
        best_differs: true,
        is_heavy: true,
        ..COMMON
    },
    Program {
        row: "Eratosthenes",
        name: "Eratosthenes",
        result: r#"{"count": 1229, "sum": 5736396}"#,
        messages: Messages::exactly(780_320),
        target: Target::Milliseconds(8.0),
        best_differs: true,
        ..COMMON
    },
    Program {
        row: "TokenRing",
        name: "TokenRing",
        result: r#"{"hops": 1001000}"#,
        messages: Messages::exactly(1_003_003),
        target: Target::Milliseconds(8.0),
        ..COMMON
    },
    Program {
        row: "City",
        name: "City",
        result: r#"{"electricity": 10000, "water": 10000, "made": 10000}"#,
        messages: Messages::exactly(63_001),
        target: Target::Milliseconds(2.5),
        best_differs: true,
        ..COMMON
    },
    Program {
        row: "News",
        name: "News",
        result: r#"{"delivered": 100000, "same": true}"#,
        messages: Messages::exactly(102_120),
        target: Target::Milliseconds(2.0),
        best_differs: true,
        ..COMMON
    },
    Program {
        row: "Library",
        name: "Library",
        result: r#"{"visits": 10000, "home": 100}"#,
        // Five messages for each book that could be lent.
        messages: Messages { least: 141_210, most: 191_210, step: 5 },
        target: Target::Milliseconds(6.0),
        best_differs: true,
        ..COMMON
    },
    Program {
        row: "Mandelbrot",
        name: "Mandelbrot",
        result: r#"{"inside": 609}"#,
        messages: Messages::exactly(3_400),
        target: Target::OfBest(1.05),
        ..COMMON
    },
    Program {
        row: "TrafficSimulation",
        name: "TrafficSimulation",
        // The choice between two equally long routes is left open.
        result: r#"{"arrived": 360600, "minutes": 21.4}"#,
        // So is how the tables are read.
        messages: Messages { least: 5_080_000, most: 5_190_000, step: 1 },
        target: Target::OfMirrors(0.2),
        is_heavy: true,
        languages: &["go", "java"],
        ..COMMON
    },
];

/// The speed of the machine that the targets are for: the milliseconds of Go's mirrors of these rows there, on one
/// core. Elsewhere, targets in milliseconds are scaled by them.
pub const REFERENCE: [(&str, f64); 2] = [("ProducerConsumer 1:1", 177.0), ("TokenRing", 209.3)];

/// A million servers, one after another.
pub const CREATION: Program = Program {
    row: "creation",
    name: "creation",
    folder: "bench/programs",
    writes: Some("1000000 answers\n"),
    messages: Messages::exactly(2_000_000),
    target: Target::At(10.0),
    is_heavy: true,
    ..COMMON
};

/// A million servers alive.
pub const BYTES: Program = Program {
    row: "bytes per process",
    name: "bytes",
    folder: "bench/programs",
    target: Target::At(80.0),
    ..COMMON
};

/// A small ring, many times.
pub const JITTER: Program = Program {
    row: "jitter",
    name: "TokenRing",
    sizes: &[("N", 100), ("K", 1000)],
    writes: Some("100100 hops\n"),
    result: r#"{"hops": 100100}"#,
    messages: Messages::exactly(100_303),
    target: Target::At(1.5),
    ..COMMON
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_there_with_its_expected_output() {
        for program in PROGRAMS.iter().chain([&CREATION, &JITTER]) {
            assert!(program.source().is_file(), "{}", program.row);
            assert!(!program.expected().unwrap().is_empty());
            assert!(program.is_result(&serde_json::from_str(program.result).unwrap()));
        }
        assert!(BYTES.source().is_file());
    }

    #[test]
    fn a_wrong_result_is_refused() {
        let [one_to_one, .., traffic] = &PROGRAMS;
        assert!(!one_to_one.is_result(&serde_json::json!({"count": 1000000, "sum": 1})));
        assert!(!one_to_one.is_result(&serde_json::json!({"count": 1000000})));
        assert!(traffic.is_result(&serde_json::json!({"arrived": 360600, "minutes": 21.5, "entered": 1})));
        assert!(!traffic.is_result(&serde_json::json!({"arrived": 360600, "minutes": 21.7})));
    }

    #[test]
    fn messages_are_counted_in_steps() {
        let library = Messages { least: 10, most: 20, step: 5 };
        assert_eq!((0..30).filter(|&n| library.contains(n)).collect::<Vec<_>>(), [10, 15, 20]);
    }
}
