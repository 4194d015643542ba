//! Programs as users write them, with peers as users of Go write them: the same work, in different structures.

use super::{COMMON, Messages, Program, Target};
use crate::words;

/// How often each word occurs in a text.
pub const WORD_COUNT: Program = Program {
    row: "word count",
    name: "WordCount",
    writes: Some(FREQUENT),
    result: r#"{"words": 14723424, "different": 45464, "first": "hvzu", "times": 1291637}"#,
    messages: Messages::ANY,
    target: Target::OfBest(1.0),
    best_differs: true,
    is_heavy: true,
    file: Some(words::file),
    languages: &["go"],
    ..COMMON
};

/// The counts of the words that [`words`] makes.
const FREQUENT: &str = "\
14723424 words, 45464 of them different
1291637 hvzu
647585 feerzktyu
430518 bvmll
322569 qexnc
258397 xbsf
215350 yjsowdi
185282 eycdseck
161691 vnr
143705 pabc
129209 thxqzad
";

/// Comparisons that are independent of each other.
pub const PARALLEL_JOB: Program = Program {
    row: "parallel job",
    name: "ParallelJob",
    result: r#"{"one": 36, "other": 40, "distance": 30}"#,
    messages: Messages::ANY,
    target: Target::OfBest(1.05),
    languages: &["go"],
    ..COMMON
};

const HTTP: Program = Program {
    row: "http keep-alive 50",
    name: "HttpServer",
    target: Target::OfBest(2.0),
    languages: &["go"],
    ..COMMON
};

/// The HTTP server, written by hand, with the number of clients.
pub const HTTP_SERVERS: [(Program, usize); 2] =
    [(HTTP, 50), (Program { row: "http keep-alive 1000", ..HTTP }, 1000)];

/// The same with the library's `Http`.
pub const HTTP_LIBRARY: Program = Program {
    row: "http library keep-alive 1000",
    folder: "programs/library",
    target: Target::OfBest(1.5),
    ..HTTP
};

/// Many commands are sent before their answers are awaited.
pub const KEY_VALUE: Program = Program {
    row: "key-value pipelined",
    name: "KeyValue",
    target: Target::OfBest(1.0),
    languages: &["go"],
    ..COMMON
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_there() {
        let served = HTTP_SERVERS.iter().map(|(program, _)| program);
        for program in [&WORD_COUNT, &PARALLEL_JOB, &KEY_VALUE, &HTTP_LIBRARY].into_iter().chain(served) {
            assert!(program.source().is_file(), "{}", program.row);
            assert!(program.is_result(&serde_json::from_str(program.result).unwrap()));
        }
        assert!(!PARALLEL_JOB.expected().unwrap().is_empty());
    }
}
