//! How long the verifier takes: `cargo run --release -p drystone-extension --example verifier_times`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use drystone_extension::bytecode::{Program, assemble};
use drystone_extension::verifier::{Contract, Given, Helper, verify};

/// A program of about so many instructions.
type Shape = fn(usize) -> String;

fn main() {
    println!("{:24}{:>14}{:>14}{:>14}", "shape", "instructions", "ms", "ns each");
    println!("{:24}{:>14}{:>14.5}", "copy loop", 15, time(&copy_loop()).as_secs_f64() * 1e3);
    for rounds in [100_000, 1_000_000] {
        let text = format!("mov %r6, 0\nagain: call 1\nadd %r6, 1\njne %r6, {rounds}, again\nexit");
        println!("{:24}{:>14}{:>14.5}", format!("{rounds} rounds"), 5, time(&text).as_secs_f64() * 1e3);
    }
    let shapes: [(&str, Shape); 8] = [
        ("straight", straight),
        ("branches", branches),
        ("a loop round it all", one_loop),
        ("loops", loops),
        ("loops in loops", nested),
        ("spills", spills),
        ("calls", calls),
        ("functions", functions),
    ];
    for (name, shape) in shapes {
        for size in [1_000, 10_000, 100_000, 1_000_000] {
            let text = shape(size);
            let took = time(&text);
            let each = took.as_nanos() as f64 / size as f64;
            println!("{name:24}{size:>14}{:>14.3}{each:>14.1}", took.as_secs_f64() * 1e3);
        }
    }
}

/// The best of some times.
fn time(text: &str) -> Duration {
    let program = Program::decode(&assemble(text).expect("it can be read")).expect("it makes sense");
    let mut contract = Contract::of_own_memory(4096);
    let null = Helper { name: "null", wants: vec![], gives: Given::Number(0, u64::MAX), moves: None };
    contract.helpers.insert(1, null);
    let times = if program.slots() < 100 { 10_000 } else { 3 };
    let once = || {
        let program = program.clone();
        let begin = Instant::now();
        let verified = verify(program, &contract);
        let took = begin.elapsed();
        verified.unwrap_or_else(|rejection| panic!("{rejection}"));
        took
    };
    (0..times).map(|_| once()).min().expect("it was timed")
}

/// Two calls with three arguments out of own memory, 1000 times.
fn copy_loop() -> String {
    let call = |first: i32| {
        format!(
            "ldxdw %r1, [%r6+{first}]\nldxdw %r2, [%r6+{}]\nldxdw %r3, [%r6+{}]\ncall 1\n",
            first + 8,
            first + 16
        )
    };
    let (read, write) = (call(0), call(24));
    format!(
        "mov %r6, %r1\nmov %r7, 1000\nagain: {read}{write}stxdw [%r6], %r0\nadd %r7, -1\njne %r7, 0, again\nexit"
    )
}

fn straight(size: usize) -> String {
    "ldxdw %r3, [%r1+8]\nand %r3, 4080\nadd %r3, %r2\nstxdw [%r1+16], %r3\n".repeat(size / 4)
        + "mov %r0, 0\nexit"
}

/// Every fourth instruction may skip the next two.
fn branches(size: usize) -> String {
    let piece = "ldxb %r3, [%r1+8]\njgt %r3, 7, +2\nadd %r3, 5\nstxb [%r1+9], %r3\n";
    piece.repeat(size / 4) + "mov %r0, 0\nexit"
}

fn one_loop(size: usize) -> String {
    let body = branches(size).replace("mov %r0, 0\nexit", "");
    format!("mov %r6, 0\nagain: {body}add %r6, 1\njge %r6, 100, out\nja32 again\nout: mov %r0, 0\nexit")
}

fn loops(size: usize) -> String {
    let mut text = String::new();
    for index in 0..size / 5 {
        let piece = "ldxb %r3, [%r1+8]\nadd %r6, 1\nstxb [%r1+9], %r3";
        _ = writeln!(text, "mov %r6, 0\nl{index}: {piece}\njlt %r6, 10, l{index}");
    }
    text + "mov %r0, 0\nexit"
}

/// Each eight deep.
fn nested(size: usize) -> String {
    let mut text = String::new();
    for index in 0..size / 24 {
        for depth in 0..8 {
            _ = writeln!(text, "mov %r{}, 0\nl{index}_{depth}:", 2 + depth % 8);
        }
        for depth in (0..8).rev() {
            let register = 2 + depth % 8;
            _ = writeln!(text, "add %r{register}, 1\njne %r{register}, 3, l{index}_{depth}");
        }
    }
    text + "mov %r0, 0\nexit"
}

/// The whole stack is in use.
fn spills(size: usize) -> String {
    let mut text = String::new();
    for index in 0..size / 3 {
        let cell = 8 + index % 64 * 8;
        _ = writeln!(
            text,
            "stxdw [%r10-{cell}], %r2\njeq %r2, {}, +0\nldxdw %r2, [%r10-{cell}]",
            index % 1000
        );
    }
    text + "mov %r0, 0\nexit"
}

/// Of one function, from everywhere.
fn calls(size: usize) -> String {
    let piece = "mov %r1, %r6\nmov %r2, 7\ncall local f\nmov %r7, %r0\n";
    let f = "f: stxdw [%r1+8], %r2\nldxdw %r0, [%r1]\njgt %r0, 9, +1\nmov %r0, 1\nexit";
    format!("mov %r6, %r1\n{}mov %r0, 0\nexit\n{f}", piece.repeat(size / 4))
}

/// Each calls the next twice, seven deep.
fn functions(size: usize) -> String {
    let mut text = String::new();
    let chains = size / 7 / 6;
    for chain in 0..chains {
        _ = writeln!(text, "mov %r1, %r10\ncall local f{chain}_1");
    }
    text += "mov %r0, 0\nexit\n";
    for chain in 0..chains {
        for depth in 1..8 {
            _ = writeln!(text, "f{chain}_{depth}: stdw [%r10-8], 3\nmov %r1, %r10");
            match depth {
                7 => text += "mov %r0, 0\n",
                _ => {
                    _ = writeln!(
                        text,
                        "call local f{chain}_{0}\nmov %r1, %r10\ncall local f{chain}_{0}",
                        depth + 1
                    )
                }
            }
            text += "exit\n";
        }
    }
    text
}
