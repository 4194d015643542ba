//! `drystone specialise` as the book's page shows it: its files, commands and results.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::{complaint, drystone, status};

/// The book's clang; with another one the residual program may look different.
const CLANG: &str = "clang-16";

#[test]
fn the_books_example_is_what_comes_of_it() {
    let Some(folder) = reading() else { return };
    let (page, at) = (page(), folder.path());
    let arguments =
        ["reading.ll", "--context", "context.toml", "-o", "reading_fast.c", "--explain", "explained"];
    let summary = specialise(at, &arguments);
    let residual = fs::read_to_string(at.join("reading_fast.c")).expect("it was written");
    if has(CLANG) {
        assert_eq!(residual, blocks(&page, "c")[1]);
        assert_eq!(summary, blocks(&page, "text")[0]);
        let listing = fs::read_to_string(at.join("explained/listing.txt")).expect("it was written");
        for line in blocks(&page, "text")[2].lines().filter(|line| line.trim() != "...") {
            assert!(listing.lines().any(|is| is.trim_end() == line), "{line}\n{listing}");
        }
    }
    let picture = fs::read_to_string(at.join("explained/copies.svg")).expect("it was written");
    roxmltree::Document::parse(&picture).expect("a picture");

    fs::write(at.join("main.c"), &blocks(&page, "c")[2]).expect("a temporary folder can be written");
    compile(at, &["-O2", "main.c", "reading.c", "reading_fast.c", "-o", "check"]);
    let output = Command::new(at.join("check")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), blocks(&page, "text")[1]);
}

#[test]
fn a_function_on_top_says_what_is_known() {
    let Some(folder) = reading() else { return };
    let (page, at) = (page(), folder.path());
    fs::write(at.join("volts.c"), &blocks(&page, "c")[3]).expect("a temporary folder can be written");
    fs::write(at.join("volts.toml"), "entry = \"frame_volts\"").expect("a temporary folder can be written");
    compile(at, &[&TO_IR[..], &["volts.c"]].concat());
    specialise(at, &["volts.ll", "reading.ll", "--context", "volts.toml", "-o", "volts_fast.c"]);
    let residual = fs::read_to_string(at.join("volts_fast.c")).expect("it was written");
    if has(CLANG) {
        assert!(residual.ends_with(&blocks(&page, "c")[4]), "{residual}");
    }
    compile(at, &["-c", "volts_fast.c"]);
    specialise(at, &["volts.ll", "reading.ll", "--context", "volts.toml", "-o", "volts_fast.ll"]);
    compile(at, &["-c", "volts_fast.ll"]);
}

#[test]
fn what_can_not_be_specialised_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let write =
        |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("it can be written");
    write("f.ll", b"define i32 @f(i32 %a) {\n  ret i32 %a\n}\n");
    write("f.c", b"int f(int a) { return a; }\n");
    write("f.bc", b"BC\xc0\xde\x35\x14\0\0");
    write("f.toml", b"entry = \"f\"\n");
    write("g.toml", b"entry = \"g\"\n");
    write("torn.toml", b"entry = \n");
    for (file, context, expected) in [
        ("f.c", "f.toml", "f.c:1: this is no statement of LLVM IR text"),
        ("f.bc", "f.toml", "f.bc: this is no text; `clang -O1 -emit-llvm -S` writes LLVM IR as text"),
        ("none.ll", "f.toml", "none.ll: No such file"),
        ("f.ll", "g.toml", "g.toml: there is no function g"),
        ("f.ll", "torn.toml", "torn.toml: the context can't be read"),
    ] {
        let output = drystone(folder.path(), &["specialise", file, "--context", context]);
        assert_eq!(status(&output), 2, "{file} {context}");
        assert!(complaint(&output).contains(expected), "{}", complaint(&output));
    }
}

/// How IR is made, in the book.
const TO_IR: [&str; 5] = ["-O1", "-g", "-fno-discard-value-names", "-emit-llvm", "-S"];

/// A folder with the book's example, its IR and its context; none if there is no clang.
fn reading() -> Option<TempDir> {
    if clang().is_none() {
        drystone_golden::skipped("there is no clang-16, clang-19 or clang");
        return None;
    }
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let page = page();
    fs::write(folder.path().join("reading.c"), &blocks(&page, "c")[0]).expect("it can be written");
    fs::write(folder.path().join("context.toml"), &blocks(&page, "toml")[0]).expect("it can be written");
    compile(folder.path(), &[&TO_IR[..], &["reading.c"]].concat());
    Some(folder)
}

/// The book's page.
fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder");
    fs::read_to_string(root.join("docs/src/specialise.md")).expect("the book is there")
}

/// The page's blocks in a language, in their order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_string())).collect()
}

/// Makes IR of a C file; returns whether there is a clang for it.
pub fn to_ir(folder: &Path, file: &str) -> bool {
    if clang().is_none() {
        drystone_golden::skipped("there is no clang-16, clang-19 or clang");
        return false;
    }
    compile(folder, &[&TO_IR[..], &[file]].concat());
    true
}

fn clang() -> Option<&'static str> {
    [CLANG, "clang-19", "clang"].into_iter().find(|name| has(name))
}

fn has(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn compile(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(clang().expect("looked for before")).args(arguments).current_dir(folder).output();
    let output = output.expect("clang runs");
    assert!(output.status.success(), "{arguments:?}: {}", complaint(&output));
}

/// Runs the command; gives what it says.
fn specialise(folder: &Path, arguments: &[&str]) -> String {
    let output = drystone(folder, &[&["specialise"], arguments].concat());
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    complaint(&output)
}
