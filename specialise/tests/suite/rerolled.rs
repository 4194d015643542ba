//! Tidying and re-rolling keep the meaning of code: unrolled code, as clang makes it of C, is polished, printed and
//! compiled again, and does the same to overlapping memory as the C.

use drystone_specialise::{parse, passes, print};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How the functions under test are called: two ranges of memory that may overlap, one that doesn't, and a number.
const HEAD: &str = "\
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long u64;
typedef struct __attribute__((packed)) { u8 v; } p8; typedef struct __attribute__((packed)) { u16 v; } p16;
typedef struct __attribute__((packed)) { u32 v; } p32; typedef struct __attribute__((packed)) { u64 v; } p64;
#define AT(width, base, offset) (((p##width *)((base) + (offset)))->v)
#define FUNCTION(n) u64 NAME(n)(u8 *a, u8 *b, u8 *restrict r, u64 x)
void *memcpy(void *, const void *, u64); void *memset(void *, int, u64); void *malloc(u64); void free(void *);
u64 sink(u64 v, u8 *p);
";

/// Calls each function and its original on the same memory, for several distances of the ranges.
const DRIVER: &str = "
#include <stdio.h>
#include <string.h>
static u64 log_[1 << 16], logged; static u8 memory[2][1 << 19], other[2][1 << 19];
u64 sink(u64 v, u8 *p) { logged = logged * 31 + v; *p += (u8)v; return logged; }
static u64 seed = 88172645463325252ull;
static u64 next(void) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return seed; }
int main(void) {
  int bad = 0; static const int distance[] = {0, 1, 3, 4, 8, 40, 5000, -1, -4, -16, 200000};
  for (int f = 0; f < COUNT; f++) for (int d = 0; d < 11; d++) {
    for (unsigned i = 0; i < sizeof memory[0]; i++) \
      { memory[0][i] = memory[1][i] = next(); other[0][i] = other[1][i] = next(); }
    u64 x = next(), was, is; logged = 0;
    was = olds[f](memory[0] + 65536, memory[0] + 65536 + distance[d], other[0] + 65536, x);
    u64 was_logged = logged; logged = 0;
    is = news[f](memory[1] + 65536, memory[1] + 65536 + distance[d], other[1] + 65536, x);
    if (was != is || was_logged != logged || memcmp(memory[0], memory[1], sizeof memory[0]) || \
      memcmp(other[0], other[1], sizeof other[0]))
      { printf(\"f%d differs at distance %d\\n\", f, distance[d]); bad = 1; break; }
  }
  return bad;
}
";

/// The clang to test with.
fn clang() -> Option<&'static str> {
    let found = ["clang-16", "clang-19", "clang"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()));
    if found.is_none() {
        drystone_golden::skipped("there is no clang in PATH");
    }
    found
}

/// Runs a tool, which must succeed; gives what it prints.
fn run(directory: &Path, tool: &str, arguments: &[&str]) -> String {
    let out = Command::new(tool).args(arguments).current_dir(directory).output().expect(tool);
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let kept = std::env::var_os("KEEP").is_some();
    if !out.status.success() && kept {
        let _ = Command::new("cp").arg("-r").arg(directory).arg("/tmp/rerolled").status();
    }
    assert!(out.status.success(), "{tool} {arguments:?}:\n{text}");
    text
}

/// Polishes functions and compares them with what they were; gives the text of the polished code.
fn check(bodies: &[String]) -> Option<String> {
    let clang = clang()?;
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    let mut source = String::from(HEAD);
    let mut driver = String::from(HEAD);
    let mut tables = [String::new(), String::new()];
    for (number, body) in bodies.iter().enumerate() {
        writeln!(source, "FUNCTION(f{number}) {{\n{body}\n}}").expect("a string");
        for (prefix, table) in ["old_", "new_"].into_iter().zip(&mut tables) {
            writeln!(driver, "u64 {prefix}f{number}(u8 *, u8 *, u8 *, u64);").expect("a string");
            write!(table, "{prefix}f{number},").expect("a string");
        }
    }
    let [old, new] = tables;
    let pointers = "(*const {}[])(u8 *, u8 *, u8 *, u64)";
    for (name, table) in [("olds", old), ("news", new)] {
        writeln!(driver, "static u64 {} = {{{table}}};", pointers.replace("{}", name)).expect("a string");
    }
    writeln!(driver, "#define COUNT {}\n{DRIVER}", bodies.len()).expect("a string");
    std::fs::write(at.join("x.c"), source).expect("written");
    std::fs::write(at.join("main.c"), driver).expect("written");
    run(
        at,
        clang,
        &["-O1", "-fno-strict-aliasing", "-DNAME(n)=new_##n", "-emit-llvm", "-S", "x.c", "-o", "x.ll"],
    );
    run(at, clang, &["-O1", "-fno-strict-aliasing", "-DNAME(n)=old_##n", "-c", "x.c", "-o", "old.o"]);
    let text = std::fs::read_to_string(at.join("x.ll")).expect("IR");
    let mut module = parse::read(&text, "x.ll").expect("clang's IR is read");
    passes::polish(&mut module);
    let polished = print::print(&module);
    std::fs::write(at.join("new.ll"), &polished).expect("written");
    run(at, clang, &["-O2", "-c", "new.ll", "-o", "new.o"]);
    run(at, clang, &["-O1", "main.c", "old.o", "new.o", "-o", "main"]);
    run(at, "./main", &[]);
    Some(polished)
}

/// So many repetitions of statements, with `K` for the number and `{expression of K}` computed by the compiler.
fn unrolled(count: usize, group: &str) -> String {
    (0..count).map(|k| group.replace('K', &format!("{k}ul")) + "\n").collect()
}

/// Words from a range that are summed up, sum and words swapped behind each other: what is left of a frame and its
/// checksum.
fn frame(from: &str) -> String {
    let words = unrolled(40, "u32 vK = __builtin_bswap32(AT(32, FROM, K*4));").replace("FROM", from);
    let sum = unrolled(40, "s += vK & 65535; s += vK >> 16;");
    let stores = unrolled(40, "AT(32, a, K*4+8) = vK;");
    format!("u64 s = x;\n{words}{sum}AT(64, a, 0) = s;\n{stores}")
}

/// How many loops are in polished code, and how many calls of bulk functions.
fn loops(polished: &str) -> usize {
    polished.matches(" times").count()
}

#[test]
fn known_shapes_become_loops() {
    let shapes = [
        ("bswap", unrolled(1000, "AT(32, a, K*4+28) = __builtin_bswap32(AT(32, b, K*4));"), 1),
        ("same range, a byte on", unrolled(300, "AT(8, b, K) = AT(8, a, K);"), 1),
        ("constants", unrolled(200, "AT(32, a, K*4) = K*4+1;"), 1),
        (
            "structures",
            unrolled(
                100,
                "AT(32, a, K*15) = __builtin_bswap32(AT(32, b, K*24)); AT(64, a, K*15+4) = AT(64, b, K*24+8) + K;
                 AT(8, a, K*15+12) = AT(8, b, K*24+16); AT(8, a, K*15+13) = AT(8, b, K*24+17);
                 AT(8, a, K*15+14) = AT(8, b, K*24+18) ^ 5;",
            ),
            1,
        ),
        ("sum", format!("u64 s = x;\n{} return s;", unrolled(500, "s += AT(16, a, K*2);")), 1),
        (
            "two sums",
            format!("u64 s = 1, t = 0;\n{} return s << 16 | t;", unrolled(400, "s += AT(8, a, K); t += s;")),
            1,
        ),
        ("prefix sums", unrolled(100, "AT(32, a, K*4+4) += AT(32, a, K*4);"), 1),
        ("copies of structures", unrolled(64, "memcpy(r + K*20, b + K*24, 16);"), 1),
        ("calls", unrolled(50, "sink(K*3+x, a + K*7);"), 1),
        ("volatile", unrolled(50, "*(volatile u8 *)(a + K*2) = 7;"), 1),
        ("last value", format!("u32 v;\n{} return v;", unrolled(90, "v = AT(32, a, K*8) * 3; AT(32, b, K*4) = v;")), 1),
        ("downwards", unrolled(120, "AT(16, a, 400-K*2) = AT(16, b, K*2) + 1;"), 1),
        ("neighbours", unrolled(120, "AT(32, r, K*4) = AT(32, a, K*4) + AT(32, a, K*4+4);"), 1),
        (
            "two beginnings",
            format!(
                "u64 y = x >> 7, z = x >> 9; AT(64, a, 0) = y; AT(64, a, 8) = z; u64 v = (z * 3) ^ (y + 1);\n\
                 {} return v;",
                unrolled(20, "v = (v * 3) ^ (v + 1);")
            ),
            1,
        ),
        ("loads, then a sum and its store, then stores", frame("r"), 1),
        ("the same where they may overlap", frame("b"), 0),
        ("list", format!("u8 *p = a;\n{} return p - a;", unrolled(40, "p += AT(8, p, 3) & 7;")), 1),
    ];
    let bodies: Vec<String> = shapes.iter().map(|(_, body, _)| format!("{body}\nreturn x;")).collect();
    let Some(polished) = check(&bodies) else { return };
    let functions: Vec<&str> = polished.split("\ndefine ").skip(1).collect();
    for ((name, _, count), function) in shapes.iter().zip(functions) {
        let function = function.split("\n}").next().unwrap_or_default();
        assert_eq!(loops(function), *count, "{name}:\n{function}");
    }
}

#[test]
fn short_copies_are_joined_where_they_may() {
    let bodies = [
        unrolled(6, "AT(8, a, K) = AT(8, b, K);") + "return x;",
        unrolled(6, "AT(8, r, K) = AT(8, b, K);") + "return x;",
        String::from("u8 s = AT(8, b, 0), t = AT(8, b, 1); AT(8, a, 0) = s; AT(8, a, 1) = t; return x;"),
        [(0, 8), (1, 9), (8, 16), (9, 17), (2, 10), (3, 11)]
            .map(|(to, from)| format!("AT(8, a, {to}) = AT(8, a, {from});"))
            .concat()
            + "return x;",
    ];
    let Some(polished) = check(&bodies) else { return };
    let stores: Vec<usize> =
        polished.split("\ndefine ").skip(1).map(|function| function.matches("store ").count()).collect();
    assert_eq!(stores, [6, 2, 1, 6], "{polished}");
}

#[test]
fn whole_copies_and_fills_become_calls_where_they_may() {
    let bodies = [
        unrolled(100, "AT(64, r, K*8) = AT(64, a, K*8);") + "return x;",
        unrolled(100, "AT(32, a, K*8) = 0; AT(32, a, K*8+4) = 0;") + "return x;",
        unrolled(100, "AT(64, a, K*8) = AT(64, b, K*8);") + "return x;",
    ];
    let Some(polished) = check(&bodies) else { return };
    let functions: Vec<&str> = polished.split("\ndefine ").skip(1).collect();
    for (function, what) in functions.iter().zip(["@llvm.memcpy", "@llvm.memset", "100 times"]) {
        let function = function.split("\n}").next().unwrap_or_default();
        assert!(function.contains(what), "{what}:\n{function}");
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len() as u64) as usize]
    }

    /// An access; `{}` is where a multiple of the number of the repetition is added.
    fn access(&mut self) -> String {
        let width = [8, 16, 32, 64][self.roll(4) as usize];
        let pointer = self.of(&["a", "a", "b", "b", "r", "l"]);
        let stride = [0, 1, 2, 4, 8, width / 8, width / 8, width / 8, 12][self.roll(9) as usize];
        format!("AT({width}, {pointer}, {} + K*{stride})", self.roll(24))
    }

    fn statement(&mut self) -> String {
        let to = self.access();
        match self.roll(9) {
            0 => format!("{to} = {};", self.roll(3) * 255),
            1 => format!("{to} = K*{}+{};", self.roll(4), self.roll(9)),
            2..=4 => format!("{to} = {};", self.access()),
            5 => format!("{to} = {} + {};", self.access(), self.access()),
            6 => format!("s += {};", self.access()),
            7 => format!("t = s ^ {to}; s = t + K;"),
            _ => format!("{to} = {} ^ s;", self.access()),
        }
    }

    fn body(&mut self) -> String {
        let mut body = String::from("u8 l[1024]; memset(l, 3, 1024); u64 s = x, t = 0;\n");
        for _ in 0..1 + self.roll(5) {
            let group: String = (0..1 + self.roll(5)).map(|_| self.statement()).collect();
            for k in 0..1 + self.roll(30) {
                body += &(group.replace('K', &format!("{k}ul")) + "\n");
                if self.roll(40) == 0 {
                    body += &(self.statement().replace('K', "5ul") + "\n");
                }
            }
        }
        body + "return s + t + l[17];"
    }
}

#[test]
fn random_straight_code_computes_the_same() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for round in 0..rounds {
        let mut dice = Dice(0x1234_5678_9abc_def1 + round);
        let bodies: Vec<String> = (0..60).map(|_| dice.body()).collect();
        let Some(polished) = check(&bodies) else { return };
        assert!(loops(&polished) > 10, "too few loops to test anything: {}", loops(&polished));
    }
}

impl Dice {
    /// Something that sets or asks one of a few variables, of few values, that later statements ask for again.
    fn branching(&mut self, depth: u64) -> String {
        let (one, other) = (self.of(&["p", "q", "t"]), self.of(&["p", "q", "t"]));
        let (number, byte) = (self.roll(4), self.roll(40));
        match self.roll(if depth == 0 { 6 } else { 10 }) {
            0 => format!("{one} = {number};"),
            1 => format!("{one} = {other};"),
            2 => format!("{one} = AT(8, a, {byte}) & 3;"),
            3 => format!("AT(8, a, {byte}) = {one} + {number};"),
            4 => format!(
                "s = s * 3 + {one}; if (s - {number} < 200) return 9; if (s - {} < 77) return 9;",
                self.roll(400)
            ),
            5 => format!("if ({one} + AT(8, b, {byte}) % 2 - {number} < {}) return 9;", self.roll(3)),
            6 => format!("if ({one} == {number} && {other} != 1) {{ {} }}", self.block(depth - 1)),
            7 => format!(
                "if ({one} != {number} || {other} < 2) {{ {} }} else {{ {} }}",
                self.block(depth - 1),
                self.block(depth - 1)
            ),
            8 => format!(
                "switch ({one}) {{ case 0: {} break; case {}: {} default: {} }}",
                self.block(depth - 1),
                1 + number,
                self.block(depth - 1),
                self.block(depth - 1)
            ),
            _ => format!("for (u64 i = 0; i < AT(8, b, {byte}) % 4; i++) {{ {} }}", self.block(depth - 1)),
        }
    }

    fn block(&mut self, depth: u64) -> String {
        (0..1 + self.roll(4)).map(|_| self.branching(depth) + "\n").collect()
    }
}

#[test]
fn random_branches_go_where_they_went() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for round in 0..rounds {
        let mut dice = Dice(0x2345_6789_abcd_ef13 + round);
        let body = |dice: &mut Dice| {
            let statements: String = (0..6).map(|_| dice.branching(3) + "\n").collect();
            format!(
                "u64 s = x, p = AT(8, b, 1) & 3, q = x & 3, t = 0;\n{statements} return s * 64 + p * 16 + q * 4 + t;"
            )
        };
        let bodies: Vec<String> = (0..60).map(|_| body(&mut dice)).collect();
        if check(&bodies).is_none() {
            return;
        }
    }
}
