//! What is printed is read back as it was, and what is wrong is an error with its line.

use std::fs;
use std::path::{Path, PathBuf};

use drystone_golden as golden;
use drystone_language::check::{Options, check};
use drystone_language::imports;
use drystone_language::source::SourceFile;

use super::parse;
use crate::verify;

#[test]
fn every_program_is_read_back_as_it_was_printed() {
    for programs in [folder("../programs"), folder("../programs/lessons")] {
        // A file without expected output is imported by programs.
        let is_program = |case: &PathBuf| case.with_extension("expected").exists();
        for case in golden::cases(&programs, "dry").into_iter().filter(is_program) {
            is_read_back(&printed(&case, &programs), &case);
        }
    }
}

#[test]
fn every_expected_output_is_read_back_as_it_was_printed() {
    for case in golden::cases(&folder("tests/mir"), "mir") {
        is_read_back(&golden::read(&case), &case);
    }
}

/// Reads a text, verifies what it says, and prints it again.
fn is_read_back(text: &str, case: &Path) {
    let at = case.display();
    let module = parse(text).unwrap_or_else(|error| panic!("{at}: {error}\n{text}"));
    let again = module.print();
    let differs = text.lines().zip(again.lines()).find(|(line, again)| line != again);
    assert_eq!(differs, None, "{at}");
    assert_eq!(text.len(), again.len(), "{at}");
    verify::codes(&module.codes(), module.bodies()).unwrap_or_else(|broken| panic!("{at}: {broken}"));
    verify::cuts(&module.cuts()).unwrap_or_else(|broken| panic!("{at}: {broken}"));
}

/// A program's code as text.
fn printed(case: &Path, library: &Path) -> String {
    let name = case.file_name().expect("a case is a file").to_string_lossy().into_owned();
    let own = SourceFile { path: name, text: golden::read(case) };
    let files = imports::load(vec![own], |path| fs::read_to_string(library.join(path)).ok());
    let program =
        check(&files, Options::default()).unwrap_or_else(|errors| panic!("{}: {errors:?}", case.display()));
    crate::mir(&program, &files)
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A piece with one block, which has these lines.
fn with_lines(lines: &str) -> String {
    format!("procedure P$0(r0) in 64 bytes\n  r0..r3: int\n  b0: entry\n{lines}\n    return\n")
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let cases = [
        ("b0:", "line 1: \"procedure\" is expected before \"b0:\""),
        ("procedure P$1() in 8 bytes", "line 1: P$1 is piece 0"),
        ("procedure P() in 8 bytes", "line 1: \"P\" does not end with $ and a number"),
        ("procedure P$0() in 8 bytes\nbody B$1 in 8 bytes", "line 1: bodies come before procedures"),
        (
            "body B$0 in 99999999999 bytes",
            "line 1: a number that fits is expected before \"99999999999 bytes\"",
        ),
        ("body B$0 in 8 bytes\n b0:", "line 2: it is indented by 1, not by 0, 2 or 4"),
        ("body B$0 in 8 bytes\n    return", "line 2: no block is open"),
        ("body B$0 in 8 bytes\n  r1: int", "line 2: r0 is declared next"),
        ("body B$0 in 8 bytes\n  r0: integer", "line 2: \"integer\" is no type"),
        ("body B$0 in 8 bytes\n  r0..r99999999: int", "line 2: r99999999 is one too many"),
        ("body B$0 in 8 bytes\n  owns word of x at 8", "line 2: \"in\" is expected before \"at 8\""),
        ("body B$0 in 8 bytes\n  loop 1, header b0", "line 2: loop 0 is declared next"),
        ("body B$0 in 8 bytes\n  names at [process+8]", "line 2: nothing is declared by \"names\""),
        ("body B$0 in 8 bytes\n  b0: begins", "line 2: \"segment\" is expected before \"begins\""),
        ("body B$0 in 8 bytes\n  b0:\n  b1:\n    return", "line 3: b0 has no end"),
        ("body B$0 in 8 bytes\n  b0:", "line 2: b0 has no end"),
        ("body B$0 in 8 bytes\n  b0:\n    return\n  b0:", "line 4: b0 is there twice"),
        ("body B$0 in 8 bytes\n  b0:\n    return\n  r0: int", "line 4: declarations come before blocks"),
        ("body B$0 in 8 bytes\n  b0:\n    return\n    return", "line 4: no block is open"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).expect_err(text).to_string(), expected, "{text}");
    }
    let lines = [
        ("    r1 = 5 apples", "\"5\" is not known here"),
        ("    r1 = Plus r0, r0", "\"Plus\" is not known here"),
        ("    r1 = Add r0", "\",\" is expected at the end"),
        ("    r1 = Add r0, r0, r0", "nothing is expected before \", r0\""),
        ("    r1 = text \"endless", "a text does not end"),
        ("    r1 = text \"\\u{zz}\"", "a text has a bad escape"),
        ("    r1 = load [stack]", "nothing lies in \"stack\""),
        ("    r1 = checked Add r0, r0 at home", "\"home\" is no location"),
        ("    require r0 else Panic at 1:1", "\"Panic\" is not known here"),
        ("    r1 = call B(r0)", "\"B\" does not end with $ and a number"),
        ("    r1 = call Q$0(r0)", "P$0 has that number"),
        ("    ds_nothing()", "\"ds_nothing\" begins no instruction"),
        ("    r1 = r0\n    home at 1:1", "a suspension point begins its block"),
        ("    r1 = test Run as client over its service at 1:1", "\"Run\" is no message of an interface"),
        ("    unlock shared having written 8 at 1:1", "\"8\" is no hexadecimal number"),
    ];
    for (lines, expected) in lines {
        let line = 3 + lines.lines().count();
        let said = parse(&with_lines(lines)).expect_err(lines).to_string();
        assert_eq!(said, format!("line {line}: {expected}"));
    }
}

#[test]
fn nothing_is_lost_of_texts_and_numbers() {
    for value in ["\"a\\n\\\"\\\\'\\0\"", "\"\\u{7f}grün\"", "\"\\xff\\x00\""] {
        is_the_same(&format!("    r1 = text {value}"));
    }
    for value in ["-9223372036854775808", "1e300", "-0.0", "inf", "NaN", "0.1"] {
        is_the_same(&format!("    r1 = {value}"));
    }
}

#[track_caller]
fn is_the_same(line: &str) {
    let text = with_lines(line);
    assert_eq!(parse(&text).unwrap_or_else(|error| panic!("{line}: {error}")).print(), text);
}

/// Whatever is done to a text, it is read or refused, by the parser or by the verifier.
#[test]
fn no_text_makes_the_parser_panic() {
    for case in golden::cases(&folder("tests/mir"), "mir") {
        let text = golden::read(&case);
        let mut declarations: Vec<&str> = Vec::new();
        let mut label = "";
        for line in text.lines() {
            match line.len() - line.trim_start().len() {
                0 => (declarations, label) = (Vec::new(), ""),
                2 if line.starts_with("  b") => label = "",
                _ => {}
            }
            let around = declarations.join("\n") + "\n" + label + "\n";
            damaged(line).for_each(|damaged| {
                if let Ok(module) = parse(&(around.clone() + &damaged)) {
                    let _ = verify::codes(&module.codes(), module.bodies());
                }
            });
            match label {
                "" if line.starts_with("  b") => label = line,
                "" => declarations.push(line),
                _ => {}
            }
        }
    }
}

/// A line without its end, without a character, and with one more, at each place.
fn damaged(line: &str) -> impl Iterator<Item = String> {
    line.char_indices().flat_map(move |(at, character)| {
        let (before, after) = line.split_at(at);
        let without = &after[character.len_utf8()..];
        [
            before.to_string(),
            format!("{before}{without}"),
            format!("{before}9{after}"),
            format!("{before},{after}"),
            format!("{before} {after}"),
        ]
    })
}
