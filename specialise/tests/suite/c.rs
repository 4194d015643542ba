//! The C of modules: small IR texts against expected C (`BLESS=1 cargo test` rewrites the expectations), and C programs
//! that must do the same after their IR has become C again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use drystone_golden as golden;
use drystone_specialise::{c, parse};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn print(ir: &Path) -> String {
    let text = fs::read_to_string(ir).unwrap();
    let module = parse::read(&text, &ir.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
    c::print(&module).unwrap_or_else(|refusal| panic!("{}: {refusal}", ir.display()))
}

#[test]
fn c_reads_as_expected() {
    golden::compare(&golden::cases(&tests().join("c"), "ll"), "c", print);
}

#[test]
fn refusals_name_what_they_refuse() {
    let ir = "declare i32 @llvm.strange.thing.i32(i32)\n\
              define i32 @f(i32 %x) {\n  %r = call i32 @llvm.strange.thing.i32(i32 %x)\n  ret i32 %r\n}\n";
    let module = parse::read(ir, "strange.ll").unwrap_or_else(|error| panic!("{error}"));
    let refusal = c::print(&module).unwrap_err();
    assert_eq!(refusal.name, "f");
    assert!(refusal.to_string().contains("llvm.strange.thing.i32"), "{refusal}");
}

/// Where variables are declared is found by looking at each mention once: it was once for each variable, and took a
/// minute and a half.
#[test]
fn long_blocks_are_written_in_proportion_to_their_length() {
    let mut ir = String::from(
        "define i32 @run(i32 %a, ptr %p) {\n  %c = icmp eq i32 %a, 7\n  br i1 %c, label %yes, label %no\nyes:\n",
    );
    let mut last = "%a".to_string();
    for at in 0..20_000_u64 {
        // Of all lengths, so that no loop is made of them.
        let offset = at * at % 8191 * 4;
        ir += &format!(
            "  %q{at} = getelementptr i8, ptr %p, i64 {offset}\n  %x{at} = load volatile i32, ptr %q{at}\n  \
             %y{at} = mul i32 %x{at}, %x{at}\n  %z{at} = xor i32 %y{at}, {last}\n  \
             store volatile i32 %z{at}, ptr %q{at}\n"
        );
        last = format!("%z{at}");
    }
    ir += &format!("  ret i32 {last}\nno:\n  ret i32 1\n}}\n");
    let started = Instant::now();
    let module = parse::read(&ir, "long.ll").unwrap_or_else(|error| panic!("{error}"));
    let written = c::print(&module).unwrap_or_else(|error| panic!("{error}"));
    assert!(written.len() > 20_000 * 40, "{} bytes", written.len());
    let taken = started.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

fn first_there(names: &[&str]) -> Option<String> {
    let is_there =
        |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    names.iter().find(is_there).map(|name| name.to_string())
}

fn run(program: &str, args: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Runs a compiler, which must succeed.
fn compile(program: &str, args: &[&str], folder: &Path) {
    let output = run(program, args, folder);
    assert!(output.status.success(), "{program} {args:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn programs_do_the_same_after_their_ir_became_c() {
    let Some(clang) = first_there(&["clang-16", "clang-19", "clang"]) else {
        drystone_golden::skipped("there is no clang in PATH");
        return;
    };
    let mut compilers = vec![(clang.clone(), "-O2")];
    match first_there(&["gcc"]) {
        Some(gcc) => compilers.extend([(gcc.clone(), "-O2"), (gcc, "-fsanitize=undefined")]),
        None => println!("there is no gcc in PATH: clang only"),
    }
    let mut programs = golden::cases(&tests().join("c/run"), "c");
    programs.extend(golden::cases(&tests().join("corpus"), "c"));
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut failures = String::new();
    for program in programs {
        let source = program.display().to_string();
        for level in [["-O1", "-g"].as_slice(), &["-O2", "-fno-vectorize", "-fno-slp-vectorize"]] {
            let with = |more: &[&'static str]| -> Vec<&str> {
                level
                    .iter()
                    .copied()
                    .chain(["-w", "-fno-pic", source.as_str()])
                    .chain(more.iter().copied())
                    .collect()
            };
            compile(&clang, &with(&["-no-pie", "-o", "original", "-lm"]), at);
            compile(&clang, &with(&["-S", "-emit-llvm", "-o", "program.ll"]), at);
            let expected = run("./original", &[], at);
            fs::write(at.join("program.c"), print(&at.join("program.ll"))).unwrap();
            for (compiler, flag) in &compilers {
                compile(compiler, &[flag, "-w", "program.c", "-no-pie", "-o", "residual", "-lm"], at);
                let found = run("./residual", &[], at);
                if (&found.status, &found.stdout, &found.stderr)
                    != (&expected.status, &expected.stdout, &expected.stderr)
                {
                    failures.push_str(&format!(
                        "{source} {level:?}, C by {compiler} {flag}: {}\n{}\n",
                        found.status,
                        String::from_utf8_lossy(&found.stderr)
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
