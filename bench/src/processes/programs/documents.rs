//! Programs that read and write JSON by declaration, with peers that use `encoding/json` and `serde_json`.

use super::{COMMON, Messages, Program, Target};

const JSON: Program = Program {
    folder: "bench/programs",
    messages: Messages::ANY,
    target: Target::OfGo(1.0),
    languages: &["go", "tokio"],
    ..COMMON
};

/// Two hundred documents of a thousand records, which are read, and which are written.
pub const ALL: [Program; 2] = [
    Program {
        row: "json parse",
        name: "json_parse",
        writes: Some("82680\n100100000 2378600 100000 400000 100150000.0\n"),
        result: r#"{"length": 82680, "ids": 100100000, "bytes": 2378600, "sold": 100000, "tags": 400000,
            "price": 100150000}"#,
        ..JSON
    },
    Program {
        row: "json write",
        name: "json_write",
        writes: Some("16536292\n"),
        result: r#"{"bytes": 16536292}"#,
        ..JSON
    },
];
