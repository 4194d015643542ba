//! Programs that compute with bits, with peers in Go that do the same, step by step.

use super::{BESIDE_GO, Program, Target};

const BITS: Program = Program { target: Target::OfBest(2.0), ..BESIDE_GO };

/// A checksum, a hash function and Base64, of texts of some megabytes.
pub const ALL: [Program; 3] = [
    Program {
        row: "crc32 in the language",
        name: "crc32",
        writes: Some("TRUE 1097284986\n"),
        result: r#"{"sum": 1097284986}"#,
        ..BITS
    },
    Program {
        row: "hash in the language",
        name: "hash",
        writes: Some("TRUE 583795244820174906\n"),
        result: r#"{"sum": 583795244820174906}"#,
        ..BITS
    },
    Program {
        row: "base64 in the language",
        name: "base64",
        writes: Some("TRUE 8470548510434570313\n"),
        result: r#"{"sum": 8470548510434570313}"#,
        ..BITS
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_there() {
        for program in &ALL {
            assert!(program.source().is_file(), "{}", program.row);
            assert!(program.is_result(&serde_json::from_str(program.result).unwrap()));
        }
    }
}
