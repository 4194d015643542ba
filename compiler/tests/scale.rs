//! Compilation takes time in proportion to the text, whatever the text is long in.

use std::fmt::Write;
use std::fs;

use drystone_compiler::{Processor, compile_object};
use drystone_language::check::{Options, check};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

/// Texts of this many repetitions are compared with some four times as long.
const SOME: usize = 500;

/// Its name, and a text with so many repetitions of it.
type Shape = (&'static str, fn(usize) -> String);

/// What may be repeated often in a text.
const SHAPES: &[Shape] = &[
    ("statements", |n| body("x: INTEGER", &repeat(n, |_| "x := x + 1;".into()))),
    ("conditions", |n| body("x: INTEGER", &repeat(n, |i| format!("IF x > {i} THEN x := x - 1 END;")))),
    ("arms", |n| {
        body(
            "x: INTEGER",
            &format!("IF x = 0 THEN {} END", repeat(n, |i| format!("ELSIF x = {i} THEN x := 1 "))),
        )
    }),
    ("texts", |n| body("x: INTEGER; t: TEXT", &repeat(n, |i| format!("t := TEXT(x) + \"{i}\";")))),
    ("loops", |n| body("x: INTEGER", &repeat(n, |i| format!("WHILE x < {i} DO x := x + 1 END;")))),
    ("locks", |n| body("x: INTEGER", &repeat(n, |_| "BEGIN {EXCLUSIVE} x := x + 1 END;".into()))),
    ("variables", |n| {
        let names = repeat(n, |i| format!("v{i}, "));
        let body = repeat(n, |i| format!("v{i} := v{} + x;", i / 2));
        format!(
            "COMPONENT Main;
             PROCEDURE P; VARIABLE {names}x: INTEGER; BEGIN FOR x := 1 TO 2 DO {body} END END P;
             BEGIN P END Main;"
        )
    }),
    ("waits", |n| {
        let names = repeat(n, |i| format!("v{i}, "));
        let body = repeat(n, |i| format!("v{i} := v{} + x; PASSIVATE(0);", i / 2));
        format!(
            "COMPONENT Main;
             PROCEDURE P; VARIABLE {names}x: INTEGER; BEGIN {body} END P;
             BEGIN P END Main;"
        )
    }),
    ("messages in a row", |n| {
        let talk = repeat(n, |_| "s!A; s?B;".into());
        format!("{SERVER} COMPONENT Main; VARIABLE s: Server; BEGIN NEW(s); {talk} END Main;")
    }),
    ("procedures", |n| {
        let procedures = repeat(n, |i| {
            let call = if i > 0 { format!("; P{}", i - 1) } else { String::new() };
            format!("PROCEDURE P{i}; BEGIN x := x + 1{call} END P{i};\n")
        });
        format!("COMPONENT Main; VARIABLE x: INTEGER; {procedures} BEGIN P{} END Main;", n - 1)
    }),
    ("components", |n| {
        let components = repeat(n, |i| {
            format!("COMPONENT C{i} OFFERS I; IMPLEMENTATION I; BEGIN ?A; !B END I; END C{i};\n")
        });
        format!(
            "INTERFACE I; IN A OUT B END I; {components}
             COMPONENT Main; VARIABLE c: C0; BEGIN NEW(c); c!A; c?B END Main;"
        )
    }),
    ("interfaces", |n| {
        let interfaces = repeat(n, |i| format!("INTERFACE I{i}; IN A{i}(x: INTEGER) OUT B END I{i};\n"));
        format!("{interfaces} {}", body("x: INTEGER", "x := 1"))
    }),
    ("states", |n| {
        let protocol = repeat(n, |i| format!("IN A{} OUT B{} ", i % 7, i % 5));
        let server = repeat(n, |i| format!("?A{}; !B{};", i % 7, i % 5));
        let client = repeat(n, |i| format!("s!A{}; s?B{};", i % 7, i % 5));
        format!(
            "INTERFACE I; {protocol} END I;
             COMPONENT Server OFFERS I; IMPLEMENTATION I; BEGIN {server} END I; END Server;
             COMPONENT Main; VARIABLE s: Server; BEGIN NEW(s); {client} END Main;"
        )
    }),
    ("wrong types", |n| body("x: INTEGER", &repeat(n, |_| "x := TRUE;\n".into()))),
    ("unknown names", |n| body("x: INTEGER", &repeat(n, |i| format!("u{i} := x;\n")))),
    ("wrong syntax", |n| body("x: INTEGER", &repeat(n, |_| "x := := 1;\n".into()))),
    ("names declared twice", |n| {
        format!("COMPONENT Main; VARIABLE {}\nBEGIN END Main;", repeat(n, |_| "x: INTEGER;\n".into()))
    }),
    ("wrong in one line", |n| body("x: INTEGER", &repeat(n, |_| "x := TRUE; ".into()))),
];

const SERVER: &str = "INTERFACE I; { IN A OUT B } END I;
    COMPONENT Server OFFERS I; IMPLEMENTATION I; BEGIN WHILE ?A DO ?A; !B END END I; END Server;";

fn body(variables: &str, statements: &str) -> String {
    format!("COMPONENT Main; VARIABLE {variables};\nBEGIN\n{statements}\nEND Main;")
}

fn repeat(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, index| {
        write!(text, "{}", part(index)).expect("a string takes everything");
        text
    })
}

/// Linear is 4 times, quadratic 16.
const MOST: f64 = 8.0;

#[test]
fn time_grows_like_the_text() {
    let mut wrong = String::new();
    for (name, text) in SHAPES {
        work(text(SOME / 10));
        let (some, more) = (work(text(SOME)), work(text(4 * SOME)));
        println!("{name}: {SOME}: {some:.2} s, {}: {more:.2} s", 4 * SOME);
        // What takes no time tells nothing.
        if more > 0.5 && more > MOST * some.max(0.03) {
            writeln!(wrong, "{name}: {some:.2} s, but four times as long {more:.2} s").expect("a string");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compiles a text, or says what is wrong with it; the processor's time for that.
fn work(text: String) -> f64 {
    let before = processor_time();
    let files = [SourceFile { path: "long.dry".into(), text }];
    match check(&files, Options::default()) {
        Ok(program) => _ = compile_object(&program, &files, Processor::V2),
        Err(errors) => _ = render(&files, &errors, Colour::Plain),
    }
    processor_time() - before
}

/// Of all threads of this process, in seconds: others on the machine do not matter.
fn processor_time() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells");
    let behind_name = &stat[stat.rfind(')').expect("a name in brackets") + 1..];
    let ticks =
        behind_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}
