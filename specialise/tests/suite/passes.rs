//! What tidying and re-rolling make of IR text: each `tests/passes/*.ll` becomes the `.expected` beside it, each
//! `tests/passes/machine/*.ll` as code for the machine. `BLESS=1 cargo test` rewrites the expectations.

use drystone_golden as golden;
use drystone_specialise::ir::Module;
use drystone_specialise::{parse, passes, print};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

#[test]
fn for_a_compiler() {
    compare("tests/passes", passes::polish);
}

#[test]
fn for_the_machine() {
    compare("tests/passes/machine", |module| {
        passes::polish(module);
        passes::polish_for_machine(module);
    });
}

fn compare(folder: &str, polish: impl Fn(&mut Module)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    golden::compare(&golden::cases(&folder, "ll"), "expected", |case| {
        let name = case.display().to_string();
        let mut module = parse::read(&golden::read(case), &name).expect("IR that can be read");
        polish(&mut module);
        print::print(&module)
    });
}

/// The text of a function that swaps so many elements one by one.
fn straight(elements: usize) -> String {
    let mut text = String::from("declare i32 @llvm.bswap.i32(i32)\ndefine void @f(ptr %s, ptr %d) {\n");
    for k in 0..elements {
        let (from, to) = (k * 4, k * 4 + 28);
        writeln!(
            text,
            "%a{k} = getelementptr inbounds i8, ptr %s, i64 {from}\n%v{k} = load i32, ptr %a{k}, align 4"
        )
        .expect("a string");
        writeln!(text, "%w{k} = call i32 @llvm.bswap.i32(i32 %v{k})").expect("a string");
        writeln!(
            text,
            "%b{k} = getelementptr inbounds i8, ptr %d, i64 {to}\nstore i32 %w{k}, ptr %b{k}, align 4"
        )
        .expect("a string");
    }
    text + "ret void\n}\n"
}

#[test]
fn time_grows_with_size_only() {
    let time = |elements: usize| {
        let mut module = parse::read(&straight(elements), "straight.ll").expect("IR that can be read");
        let function = module.function("f").expect("it is there");
        module.body(function).expect("a body that can be read");
        let start = Instant::now();
        passes::polish(&mut module);
        let took = start.elapsed();
        let body = module.body(function).expect("a body").expect("a body");
        let left: usize = body.blocks.iter().map(|block| block.instructions.len()).sum();
        assert!(left < 20, "{left} instructions are left of {elements} elements");
        println!("{elements} elements: {took:?}");
        took
    };
    let (small, large) = (time(10_000), time(160_000));
    assert!(large < small * 80, "16 times the size takes {large:?} after {small:?}");
}
