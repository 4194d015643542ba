//! Programs in which there is something for a second processor: parts that talk among themselves, or compute.

use super::{BESIDE_GO, Messages, Program, Target};

const BESIDE: Program = Program { target: Target::OfBest(1.0), ..BESIDE_GO };

/// All of them.
pub const ALL: [Program; 3] = [
    Program {
        row: "independent rings",
        name: "rings",
        writes: Some("1008000 hops\n"),
        result: r#"{"hops": 1008000}"#,
        messages: Messages::exactly(1_024_040),
        ..BESIDE
    },
    Program {
        row: "independent sieves",
        name: "sieves",
        writes: Some("4400 primes, sum 8108056\n"),
        result: r#"{"count": 4400, "sum": 8108056}"#,
        messages: Messages::exactly(1_282_936),
        ..BESIDE
    },
    Program {
        row: "mixed",
        name: "mixed",
        writes: Some("2507500000 said, 322103 computed\n"),
        result: r#"{"said": 2507500000, "computed": 322103}"#,
        messages: Messages::exactly(10_010_004),
        ..BESIDE
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
