//! The programs that are measured: their sizes, what they must give, and what Drystone shall reach with them.

pub mod growing;
pub mod practical;

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;

use crate::places;

/// See the head of this file.
pub struct Program {
    /// Name of the row.
    pub row: &'static str,
    /// Of the source file, and for the peers.
    pub name: &'static str,
    folder: &'static str,
    /// Constants that differ from those in the source.
    sizes: &'static [(&'static str, u32)],
    /// What the program writes, if its constants differ; else it is in the `.expected` file.
    writes: Option<&'static str>,
    /// What peers give as their result, at least.
    result: &'static str,
    /// How many are sent.
    pub messages: Messages,
    /// What Drystone shall reach.
    pub target: Target,
    /// Whether peers do it better in another way than the program's.
    pub best_differs: bool,
    /// Takes peers many seconds.
    pub is_heavy: bool,
    /// Makes what it reads, if that is not there yet.
    pub file: Option<fn() -> Result<PathBuf, String>>,
    /// In which languages there are peers for it.
    pub languages: &'static [&'static str],
}

/// How many messages a program sends: between two bounds, in steps.
pub struct Messages {
    least: u64,
    most: u64,
    step: u64,
}

/// What Drystone shall reach.
#[derive(Clone, Copy)]
pub enum Target {
    /// This value.
    At(f64),
    /// So many milliseconds on the machine that the targets were stated for, see [`REFERENCE`].
    Milliseconds(f64),
    /// So many times what the best peer reaches.
    OfBest(f64),
    /// So many times what the best mirror reaches.
    OfMirrors(f64),
}

impl Messages {
    /// However many: the peers have another structure.
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

    /// What the program must write.
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

    /// Whether that is what a peer must give: integers and truths as they are, other numbers within 1 %.
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
        // Five more for each book that was there to be lent.
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
        // Who chooses which of two routes that take equally long is left open.
        result: r#"{"arrived": 360600, "minutes": 21.4}"#,
        // How the tables are read is left open too.
        messages: Messages { least: 5_080_000, most: 5_190_000, step: 1 },
        target: Target::OfMirrors(0.2),
        is_heavy: true,
        languages: &["go", "java"],
        ..COMMON
    },
];

/// How fast the machine was that the targets were stated for: what Go's mirrors of these rows took there on one core,
/// in milliseconds. Elsewhere targets in milliseconds are scaled with them.
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
