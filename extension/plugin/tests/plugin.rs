//! Calls the plugin as the conformance runner does.

use std::io::Write;
use std::process::{Command, Stdio};

use drystone_extension::bytecode::assemble;

/// What it says, or why it fails, with each engine: the same.
fn plugin(arguments: &[&str], input: &str) -> Result<String, String> {
    let results = ["--interpret", "--jit"].map(|engine| {
        let mut plugin = Command::new(env!("CARGO_BIN_EXE_drystone-bpf-plugin"))
            .args(arguments)
            .arg(engine)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may have ended without reading.
        let _ = plugin.stdin.take().unwrap().write_all(input.as_bytes());
        let output = plugin.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_string();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    });
    assert_eq!(results[0], results[1]);
    results[0].clone()
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x} ")).collect()
}

fn program(text: &str) -> String {
    hex(assemble(text).unwrap().into_iter().flat_map(|slot| slot.bytes()))
}

#[test]
fn it_runs_a_program_with_memory() {
    let sum = program("ldxw %r0, [%r1+1]\nadd %r0, %r2\nexit");
    assert_eq!(plugin(&["00 01 02 03 04"], &sum), Ok("4030206".into()));
    assert_eq!(plugin(&["0001020304"], &sum), Ok("4030206".into()));
    assert_eq!(plugin(&[], &program("mov %r0, -1\nexit")), Ok("ffffffffffffffff".into()));
    assert_eq!(plugin(&[], &program("mov %r0, %r2\nexit")), Ok("0".into()));
}

#[test]
fn it_has_the_helpers_that_tests_call() {
    let frob = program("mov %r6, %r1\nmov %r2, 2\ncall 1\nldxh %r0, [%r6]\nexit");
    assert_eq!(plugin(&["2a2b"], &frob), Ok("100".into()));
    assert_eq!(plugin(&[], &program("mov %r1, 1000000\ncall 3\nexit")), Ok("3e8".into()));
    let compare = program("mov %r2, %r1\nadd %r2, 3\ncall 4\nexit");
    assert_eq!(plugin(&["616200616200"], &compare), Ok("0".into()));
    assert_eq!(plugin(&["616300616200"], &compare), Ok("1".into()));
}

#[test]
fn it_says_what_is_wrong() {
    let fault = |arguments: &[&str], input: &str| plugin(arguments, input).unwrap_err();
    let end = |line| format!("drystone-bpf-plugin: {line}");
    assert_eq!(fault(&[], "95"), end("a program of 1 bytes: instructions have 8"));
    assert_eq!(fault(&[], "xy"), end("something else than hex digits and blanks"));
    assert_eq!(fault(&["0"], ""), end("a byte of only one hex digit"));
    assert_eq!(
        fault(&[], "ff00000000000000"),
        end("instruction 0: RFC 9669 has no arithmetic 0xf with offset 0")
    );
    assert_eq!(
        fault(&["00"], &program("ldxdw %r0, [%r1+4096]\nexit")),
        end("stopped at instruction 0: it accesses memory that isn't its own")
    );
    assert!(fault(&["--loud"], "").starts_with(&end("it doesn't know `--loud`\nusage: ")));
}

#[test]
fn it_runs_what_clang_compiled() {
    let source = "static const unsigned long t[3] = {5, 6, 7}; unsigned long n = 8;
        unsigned long f(unsigned char *p) { n += 1; return ((volatile const unsigned long *)t)[p[0]] * 10 + n; }";
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("f.c"), source).unwrap();
    for clang in ["clang-16", "clang-19", "clang"] {
        let command = Command::new(clang)
            .args(["-target", "bpf", "-O2", "-c", "f.c", "-o", "f.o"])
            .current_dir(folder)
            .status();
        let Ok(status) = command else { continue };
        assert!(status.success());
        let object = hex(std::fs::read(folder.join("f.o")).unwrap());
        return assert_eq!(plugin(&["02", "--elf"], &object), Ok(format!("{:x}", 7 * 10 + 9)));
    }
    println!("skipped: it_runs_what_clang_compiled: there is no clang-16 or clang-19");
}
