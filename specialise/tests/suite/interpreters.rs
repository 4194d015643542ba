//! Interpreters (threaded code, regular expressions, a tape), each with a known program, a known program with a loop of
//! unknown length, and an unknown program. For a known program the interpreter must be gone. In every case
//! specialisation must end in time, and the code must do the same.

use crate::toolchain::Compiler;
use crate::{residual, toolchain};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Seconds that an evaluation may take here, and how long it may take with all that comes before and after it.
const SECONDS: u64 = 4;
const PATIENCE: Duration = Duration::from_secs(60);

fn check(name: &str) {
    let Some(clang) = Compiler::clang() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interpreters");
    let work = tempfile::tempdir().expect("there is room for files");
    let ir = work.path().join("interpreter.ll");
    clang.to_ir(&folder.join(name).with_extension("c"), &ir).unwrap_or_else(|error| panic!("{error}"));
    let mut forms: [(Vec<PathBuf>, Vec<String>); 2] = Default::default();
    for entry in ["known", "looping", "run"] {
        let context = format!("entry = \"{entry}\"\n[budget]\nseconds = {SECONDS}");
        let start = Instant::now();
        let room = work.path().join(entry);
        std::fs::create_dir(&room).expect("there is room for files");
        let written = residual::write(std::slice::from_ref(&ir), &context, &room).unwrap();
        assert!(start.elapsed() < PATIENCE, "{name}, {entry}: {:?}", start.elapsed());
        for (form, (files, names)) in written.into_iter().zip(&mut forms) {
            files.push(form.file);
            names.push(format!("-D{entry}_special={}", form.name));
        }
    }
    let [as_c, as_ir] = forms;
    let residual = std::fs::read_to_string(&as_c.0[0]).expect("it was just written");
    let gone = ["switch", "for (", "while (", "goto", "run(", "known("];
    let code = residual.rsplit("/* known, specialised */").next().expect("the function");
    let left: Vec<&&str> = gone.iter().filter(|word| code.contains(**word)).collect();
    assert!(left.is_empty(), "{name}: {left:?} are left in\n{residual}");
    for (files, renamed) in [as_c, as_ir] {
        let program = work.path().join("program");
        let mut inputs = vec![ir.clone(), folder.join("main.c")];
        inputs.extend(files);
        let flags: Vec<&str> = ["-O1"].into_iter().chain(renamed.iter().map(String::as_str)).collect();
        clang.link(&flags, &inputs, &program).unwrap_or_else(|error| panic!("{error}"));
        let outcome = toolchain::run(Command::new(&program)).unwrap();
        assert!(outcome.success, "{name}\n{}", outcome.text);
    }
}

#[test]
fn addresses_of_functions() {
    check("threaded");
}

#[test]
fn regular_expressions() {
    check("regex");
}

#[test]
fn a_tape() {
    check("tape");
}
