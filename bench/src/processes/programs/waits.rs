//! One process that waits for several others, with a peer in Go that does the same.

use super::{COMMON, Messages, Program, Target};

/// A server of eight clients.
pub const SELECT: Program = Program {
    row: "select of 8",
    name: "select",
    folder: "bench/programs",
    writes: Some("39999600000\n"),
    result: r#"{"sum": 39999600000}"#,
    messages: Messages::exactly(1_600_000),
    target: Target::OfBest(1.0),
    languages: &["go"],
    ..COMMON
};
