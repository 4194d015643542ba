//! Processes that wait for one another, with peers in Go that do the same.

use super::{BESIDE_GO, COMMON, Messages, Program, Target};

/// A server of eight clients.
pub const SELECT: Program = Program {
    row: "select of 8",
    name: "select",
    writes: Some("39999600000\n"),
    result: r#"{"sum": 39999600000}"#,
    messages: Messages::exactly(1_600_000),
    target: Target::OfBest(1.0),
    ..BESIDE_GO
};

/// A server that takes five different messages by CASE, and the same that tests for one after the other.
pub const CASE: Program = Program { row: "case message", name: "case_message", ..CHAIN };
pub const CHAIN: Program = Program {
    row: "message chain",
    name: "message_chain",
    folder: "bench/programs",
    writes: Some("500001500000\n"),
    messages: Messages::exactly(6_000_000),
    languages: &[],
    ..COMMON
};

/// Numbers that go one way, through a buffer for 64 of them, and for one.
pub const STREAMS: [Program; 2] = [
    Program { row: "local stream capacity 64", name: "stream", ..STREAM },
    Program { row: "local stream capacity 1", name: "stream_by_one", ..STREAM },
];

const STREAM: Program = Program {
    row: "",
    name: "",
    writes: Some("12500002500000\n"),
    result: r#"{"sum": 12500002500000}"#,
    messages: Messages::exactly(5_000_002),
    target: Target::OfBest(1.0),
    ..BESIDE_GO
};
