//! Modules with one mistake each: every `tests/invalid/*.ll` must be refused with the message in its first line, after
//! `; refused: `. `BLESS=1 cargo test` rewrites it.

use drystone_golden as golden;
use drystone_specialise::ir::FunctionId;
use drystone_specialise::{parse, verify};
use std::path::Path;

const MARK: &str = "; refused: ";

#[test]
fn each_mistake_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    golden::compare(&golden::cases(&folder, "ll"), "ll", |case| {
        let text = golden::read(case);
        let (first, code) = text.split_once('\n').expect("a first line");
        assert!(first.starts_with(MARK), "{}: the first line does not say what is wrong", case.display());
        let refusal = refusal(code).unwrap_or_else(|| panic!("{} is accepted", case.display()));
        format!("{MARK}{refusal}\n{code}")
    });
}

/// What is said of a module when it is read, or when what was read is verified.
fn refusal(text: &str) -> Option<String> {
    let module = match parse::read(text, "invalid.ll") {
        Ok(module) => module,
        Err(error) => return Some(error.what),
    };
    let functions = (0..module.functions.len()).map(|id| FunctionId(id as u32));
    let unread = functions.filter_map(|id| module.body(id).err()).map(|error| error.what).next();
    unread.or_else(|| verify::module(&module).err().map(|malformed| malformed.fault.to_string()))
}
