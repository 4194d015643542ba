//! What must hold for any text that is read as LLVM IR; the fuzzer `ir` checks the same.

use drystone_specialise::{ir::FunctionId, link, parse, print};

/// Reading never panics; what is printed is read again as the same; linking keeps what can be read.
pub fn check(text: &str) {
    let Ok(module) = parse::read(text, "torn.ll") else { return };
    for id in 0..module.functions.len() {
        // Errors are answers too, and are written for people.
        let _ = module.body(FunctionId(id as u32)).map_err(|unsupported| unsupported.to_string());
    }
    let printed = print::print(&module);
    let again = parse::read(&printed, "printed.ll").unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(code(&printed), code(&print::print(&again)));
    let _ = link::link(vec![module, again])
        .map(|linked| print::print(&linked))
        .map_err(|error| error.to_string());
}

/// A text without its comments, which say why a function could not be read and are not read again.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with(';')).collect()
}
