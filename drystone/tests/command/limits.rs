//! `drystone specialise` with programs that would take unlimited time or memory: it stops at its limits, and says where
//! they were used up.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::specialise::to_ir;
use crate::{DRYSTONE, complaint, status};

/// An interpreter whose stack is known and whose program isn't: there are as many stacks as instructions.
const INTERPRETER: &str = "
int run(const unsigned char *program, int *out) {
    int stack[SIZE];
    for (int i = 0; i < SIZE; i++) stack[i] = i * i;
    switch (*program) {
#define ONE(n) case n: stack[n] = n * 7; break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define ALL(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
    ALL(0) ALL(16) ALL(32) ALL(48) ALL(64) ALL(80) ALL(96) ALL(112)
    ALL(128) ALL(144) ALL(160) ALL(176) ALL(192) ALL(208) ALL(224) ALL(240)
    }
    for (int i = 0; i < SIZE; i++) out[i] = stack[i];
    return 0;
}
";

/// An interpreter whose program is known and never ends: each round has another state.
const ENDLESS: &str = "
#include <stdlib.h>
static const char program[] = { 'p', 'i', 'j' };
struct cell { struct cell *next; unsigned value; };
unsigned run(void) {
    struct cell *top = 0;
    unsigned at = 0, number = 0;
    for (;;) {
        switch (program[at++]) {
        case 'p': { struct cell *cell = malloc(sizeof *cell); cell->next = top; cell->value = number; top = cell; \
          break; }
        case 'i': number++; break;
        case 'j': at = 0; break;
        default: return top->value;
        }
    }
}
";

/// The executable of `drystone specialise`. It exists once the command has been asked for it: in a checkout Cargo
/// builds it, which takes more memory than the tests allow.
static SPECIALISER: LazyLock<PathBuf> = LazyLock::new(|| {
    let made = Command::new(DRYSTONE).args(["specialise", "--help"]).output().expect("the command runs");
    assert_eq!(status(&made), 0, "{}", complaint(&made));
    Path::new(DRYSTONE).with_file_name("drystone-specialise")
});

/// The memory of a process besides what is counted: its code, and a stack that is mostly only reserved.
const BESIDE: u64 = 330_000_000;

/// The default limits.
#[test]
fn the_usual_limits_are_told() {
    let help = Command::new(&*SPECIALISER).arg("--help").output().expect("it runs");
    let told = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(told.contains("[default: 10, or what the context says]"), "{told}");
    assert!(told.contains("[default: 2000 MB, or what the context says]"), "{told}");
}

#[test]
fn an_interpreters_stacks_end_at_the_memory_that_there_is() {
    for (size, memory) in [(32_768, 500_000_000), (16_384, 200_000_000)] {
        let Some(folder) = folder(&format!("#define SIZE {size}{INTERPRETER}")) else { return };
        let output = within(&folder, memory, &format!("--memory {memory}"));
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        let budget = format!("the budget of {} MB was not enough", memory / 1_000_000);
        let said = complaint(&output);
        let line = said.lines().find(|line| line.contains(&budget)).unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains("run (program.c:"), "{line}");
    }
}

#[test]
fn an_interpreter_that_never_ends_does() {
    let Some(folder) = folder(ENDLESS) else { return };
    let begun = Instant::now();
    let output = within(&folder, 2_000_000_000, "--seconds 2");
    let took = begun.elapsed();
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let said = complaint(&output);
    assert!(said.contains("calls of run are left: the budget of 2 s was not enough"), "{said}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    assert!(said.contains("most of it went into run (program.c:"), "{said}");
}

#[test]
fn what_is_left_of_a_program_ends_at_the_memory_that_there_is() {
    let text = "int g(int);\nint run(int x) {\n    for (int i = 0; i < 1000000; i++) x = x & 1 ? g(x + i) : x * i;\n\
                return x;\n}\n";
    let Some(folder) = folder(text) else { return };
    let output = within(&folder, 200_000_000, "--memory 200000000");
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let said = complaint(&output);
    assert!(said.contains("not unrolled: the loop in run (program.c:3): the budget of 200 MB"), "{said}");
    // Nearly the limit: the residual of so many rounds is written to its end.
    let rounds = text.replace("1000000", "18000");
    fs::write(folder.path().join("program.c"), rounds).expect("it can be written");
    to_ir(folder.path(), "program.c");
    let output = within(&folder, 200_000_000, "--memory 200000000");
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    assert!(!complaint(&output).contains("not unrolled"), "{}", complaint(&output));
}

#[test]
fn a_file_is_read_as_far_as_there_is_memory() {
    let mut code = String::from("define i32 @run(i32 %a) {\n  %x0 = add i32 %a, 1\n");
    for at in 1..300_000 {
        writeln!(code, "  %x{at} = add i32 %x{}, {at}", at - 1).expect("texts grow");
    }
    code += "  ret i32 %a\n}\n";
    let elements = vec!["i32 7"; 1_000_000].join(", ");
    let table = format!(
        "@table = constant [1000000 x i32] [{elements}]\ndefine i32 @run(i32 %a) {{\n  ret i32 %a\n}}\n"
    );
    // Control flow for which the analysis takes quadratic time.
    let mut flow = String::from("define i32 @run(i32 %a) {\n  br label %b0\n");
    for at in 0..60_000 {
        write!(flow, "b{at}:\n  %x{at} = add i32 %a, {at}\n  br label %b{}\n", at + 1).expect("texts grow");
    }
    flow += "b60000:\n  ret i32 %a\n}\n";
    for (text, expected, fails) in [
        (code, "calls of run are left: program.ll:", false),
        (table, "error: program.ll:1: the budget of 100 MB is not enough", true),
        (flow, "calls of run are left: the budget of 100 MB is not enough", false),
    ] {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        write(&folder, "program.ll", &text);
        write(&folder, "context.toml", "entry = \"run\"\n");
        let output = within(&folder, 100_000_000, "--memory 100000000");
        assert_eq!(status(&output), if fails { 2 } else { 0 }, "{}", complaint(&output));
        let said = complaint(&output);
        assert!(said.contains(expected) && said.contains("the budget of 100 MB is not enough"), "{said}");
    }
}

/// A folder with a program in C, its IR and a context; `None` if there is no clang.
fn folder(text: &str) -> Option<TempDir> {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    write(&folder, "program.c", text);
    write(&folder, "context.toml", "entry = \"run\"\n");
    to_ir(folder.path(), "program.c").then_some(folder)
}

fn write(folder: &TempDir, name: &str, text: &str) {
    fs::write(folder.path().join(name), text).expect("a temporary folder can be written");
}

/// Specialises the folder's program, in a process whose memory is limited to this, a tenth more, and its own needs: if
/// it asks for more, it fails.
fn within(folder: &TempDir, memory: u64, options: &str) -> Output {
    let kilobytes = (memory + memory / 10 + BESIDE) / 1024;
    let line =
        format!("ulimit -v {kilobytes}; exec \"$0\" program.ll --context context.toml -o out.c {options}");
    let mut command = Command::new("sh");
    command.arg("-c").arg(&line).arg(&*SPECIALISER).current_dir(folder.path());
    // One heap that grows, instead of several large reserved ones.
    command.env("MALLOC_ARENA_MAX", "1");
    command.output().expect("a shell runs")
}
