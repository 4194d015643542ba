//! Programs that clang compiled, read and printed, still do what they did; and so do modules that were linked here.

use drystone_specialise::ir::{FunctionId, Module};
use drystone_specialise::{link, parse, print};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILERS: [&str; 3] = ["clang-16", "clang-19", "clang"];

/// The compilers that are here; says so if there are none.
fn compilers() -> Vec<&'static str> {
    let works =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let mut found: Vec<&str> = COMPILERS.into_iter().filter(works).collect();
    if found.len() > 1 {
        found.retain(|name| *name != "clang");
    }
    if found.is_empty() {
        drystone_golden::skipped("there is no clang here");
    }
    found
}

fn programs() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Runs a command that must succeed; gives what it writes.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn compile_to_ir(compiler: &str, level: &str, source: &Path, to: &Path) -> Module {
    let flags = [level, "-g", "-fno-pic", "-S", "-emit-llvm", "-o"];
    run(Command::new(compiler).args(flags).arg(to).arg(source));
    let name = to.display().to_string();
    parse::read(&std::fs::read_to_string(to).unwrap(), &name).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads all bodies of a module that has only such as can be read.
fn read_all(module: &Module) {
    for id in 0..module.functions.len() {
        module.body(FunctionId(id as u32)).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn output_of_ir(compiler: &str, text: &str, directory: &Path) -> String {
    let (ir, program) = (directory.join("printed.ll"), directory.join("program"));
    std::fs::write(&ir, text).unwrap();
    run(Command::new(compiler).args(["-O1", "-Wno-override-module", "-o"]).arg(&program).arg(&ir).arg("-lm"));
    run(&mut Command::new(program))
}

#[test]
fn what_is_printed_does_what_was_read() {
    for compiler in compilers() {
        for source in programs() {
            let directory = tempfile::tempdir().unwrap();
            let original = directory.path().join("original");
            run(Command::new(compiler).args(["-O1", "-o"]).arg(&original).arg(&source).arg("-lm"));
            let expected = run(&mut Command::new(&original));
            for level in ["-O0", "-O1", "-O2"] {
                let module = compile_to_ir(compiler, level, &source, &directory.path().join("read.ll"));
                read_all(&module);
                let text = print::print(&module);
                let printed = output_of_ir(compiler, &text, directory.path());
                assert_eq!(printed, expected, "{compiler} {level} {}", source.display());
                let again = parse::read(&text, "printed.ll").unwrap_or_else(|error| panic!("{error}"));
                same(&module, &again);
                assert_eq!(text, print::print(&again), "{compiler} {level} {}", source.display());
            }
        }
    }
}

/// Two modules are the same but for their places.
fn same(one: &Module, other: &Module) {
    assert_eq!(one.globals, other.globals);
    assert_eq!(one.functions.len(), other.functions.len());
    for (id, (a, b)) in one.functions.iter().zip(&other.functions).enumerate() {
        let signature = |f: &drystone_specialise::ir::Function| {
            format!("{} {:?} {} {} {:?} {}", f.name, f.params, f.result, f.variadic, f.memory, f.noreturn)
        };
        assert_eq!(signature(a), signature(b));
        let body = |module: &Module| {
            let body = module.body(FunctionId(id as u32)).unwrap_or_else(|error| panic!("{error}"));
            let mut body = body.map(std::rc::Rc::unwrap_or_clone).unwrap_or_default();
            for block in &mut body.blocks {
                block.place = None;
                block.instructions.iter_mut().for_each(|instruction| instruction.place = None);
            }
            body
        };
        assert_eq!(body(one), body(other), "{}", a.name);
    }
}

#[test]
fn linked_programs_do_what_their_parts_did() {
    const LIBRARY: &str = "
        int calls; static int own(int n) { return n * 3; }
        __attribute__((weak)) int chosen(int n) { return -n; }
        int library(int n) { calls++; return own(n) + chosen(n); }";
    const PROGRAM: &str = "
        #include <stdio.h>
        extern int calls; int library(int); int chosen(int n) { return n + 100; }
        static int own(int n) { return n + 1; } int (*volatile through)(int) = own;
        int main(void) { int a = library(5); printf(\"%d %d %d\\n\", a, through(6), calls); return 0; }";
    for compiler in compilers() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("library.c"), LIBRARY).unwrap();
        std::fs::write(path("program.c"), PROGRAM).unwrap();
        let module = |name: &str| compile_to_ir(compiler, "-O0", &path(name), &path(&format!("{name}.ll")));
        let linked = link::link(vec![module("library.c"), module("program.c")]).unwrap();
        read_all(&linked);
        assert_eq!(output_of_ir(compiler, &print::print(&linked), directory.path()), "120 7 1\n");
    }
}
