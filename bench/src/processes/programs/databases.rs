//! Programs that use a database file by SQL, with peers in Rust that call `rusqlite` themselves.

use super::{COMMON, Messages, Program, Target};

const SQL: Program = Program {
    folder: "bench/programs",
    messages: Messages::ANY,
    target: Target::OfBest(1.3),
    languages: &["tokio"],
    ..COMMON
};

/// Rows that are added, rows that are looked up by their key, and tables of a thousand rows.
pub const ALL: [Program; 3] = [
    Program {
        row: "sql insert",
        name: "sql_insert",
        writes: Some("100000\n5000050000\n2388895\n"),
        result: r#"{"rows": 100000, "hits": 5000050000, "bytes": 2388895}"#,
        ..SQL
    },
    Program {
        row: "sql select",
        name: "sql_select",
        writes: Some("50050000\n2189300\n"),
        result: r#"{"hits": 50050000, "bytes": 2189300}"#,
        ..SQL
    },
    Program {
        row: "sql select of 1000 rows",
        name: "sql_rows",
        writes: Some("100100000\n4378600\n"),
        result: r#"{"hits": 100100000, "bytes": 4378600}"#,
        ..SQL
    },
];
