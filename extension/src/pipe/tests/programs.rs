//! Programs as pipes: they become the same steps as pipes in Rust, and do what the interpreter does.

use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use crate::bytecode::{Program, assemble};
use crate::engine::{Context, Interpreter, Memory, Platform, State};
use crate::pipe::body::{Binary, Body, Operation};
use crate::pipe::{Attributes, Fault, Features, Gauge, Handle, Mode, Pipe, Pipes, Register, Vectors, ready};

fn program(text: &str) -> Program {
    Program::decode(&assemble(text).unwrap()).unwrap()
}

fn made(gauge: Gauge, registers: &[Register], text: &str) -> Pipe {
    let none = Attributes::default();
    Pipe::of_program("program", (gauge, gauge), none, registers, program(text)).unwrap()
}

#[test]
fn a_program_is_the_same_as_what_is_there() {
    let sum = Register { width: Gauge::Bits32, initial: 0, persists: true };
    let checksum =
        "mov %r6, %r2\nmov %r7, %r1\nldxdw %r2, [%r2]\ncall 1\nstxdw [%r6], %r0\nmov %r0, %r7\nexit";
    let program = made(Gauge::Bits32, &[sum], checksum);
    assert!(!program.modifies() && program.is_commutative());
    let swap = made(Gauge::Bits32, &[], "mov %r0, %r1\nbswap32 %r0\nexit");
    assert_eq!(swap.body, ready::swap32().body);
    let crc = "mov %r6, %r2\nmov %r7, %r1\nldxdw %r1, [%r6]\nmov %r2, %r7\ncall 2\nstxdw [%r6], %r0\n\
               mov %r0, %r7\nexit";
    let initial = Register { initial: 0xffff_ffff, ..sum };
    let crc = made(Gauge::Bits8, &[initial], crc);
    for (program, there) in [(program, ready::internet_checksum()), (crc, ready::crc32c())] {
        let mut list = Pipes::new();
        let (first, second) = (list.add(program), list.add(there));
        let pass = list.compile(Mode::Read).unwrap();
        let mut registers = pass.registers();
        let data: Vec<u8> = (0..1001).map(|at| (at * at) as u8).collect();
        pass.read(&data, &mut registers).unwrap();
        assert_eq!(registers.export(first), registers.export(second));
    }
}

/// A line of a program that computes with r0 and r3 to r5, and memory at r2 and r10.
fn line() -> impl Strategy<Value = String> {
    let operation = prop::sample::select(
        &["add", "sub", "mul", "or", "and", "xor", "lsh", "rsh", "arsh", "mov", "add32", "sub32", "mul32"][..],
    );
    let more = prop::sample::select(&["or32", "and32", "xor32", "lsh32", "rsh32", "arsh32", "mov32"][..]);
    let operation = prop_oneof![operation, more];
    let register = || prop::sample::select(&["%r0", "%r3", "%r4", "%r5"][..]);
    let number = prop_oneof![-3..70i32, any::<i32>()];
    let one = prop::sample::select(
        &["neg", "neg32", "be16", "be32", "be64", "le16", "le32", "bswap16", "bswap64"][..],
    );
    prop_oneof![
        4 => (operation.clone(), register(), register()).prop_map(|(it, a, b)| format!("{it} {a}, {b}")),
        4 => (operation, register(), number).prop_map(|(it, a, b)| {
            let b = if it.starts_with(['l', 'r']) || it.starts_with("ar") { b & 31 } else { b };
            format!("{it} {a}, {b}")
        }),
        1 => (one, register()).prop_map(|(it, a)| format!("{it} {a}")),
        1 => (register(), 0..2).prop_map(|(a, at)| format!("ldxdw {a}, [%r2+{}]", 8 * at)),
        1 => (register(), 0..2).prop_map(|(a, at)| format!("stxdw [%r2+{}], {a}", 8 * at)),
        1 => (register(), 1..3).prop_map(|(a, at)| format!("stxdw [%r10-{}], {a}", 8 * at)),
        1 => (register(), 1..3).prop_map(|(a, at)| format!("ldxdw {a}, [%r10-{}]", 8 * at)),
    ]
}

/// Such a line, a way out, or a jump with how many of what follows it leaves out.
fn item() -> impl Strategy<Value = (String, Option<usize>)> {
    let condition = prop::sample::select(
        &["jeq", "jne", "jset", "jgt", "jge", "jlt", "jle", "jsgt", "jsge", "jslt", "jsle"][..],
    );
    let register = || prop::sample::select(&["%r0", "%r3", "%r4", "%r5"][..]);
    let right = prop_oneof![register().prop_map(String::from), (-3..300i32).prop_map(|it| it.to_string())];
    let width = prop::sample::select(&["", "32"][..]);
    let jump =
        (condition, width, register(), right).prop_map(|(it, width, a, b)| format!("{it}{width} {a}, {b},"));
    prop_oneof![
        6 => line().prop_map(|it| (it, None)),
        3 => (jump, 0..6usize).prop_map(|(it, over)| (it, Some(over))),
        1 => (0..4usize).prop_map(|over| ("ja".into(), Some(over))),
        1 => register().prop_map(|it| (format!("jgt {it}, 9, +1\nexit"), None)),
    ]
}

fn text(items: &[(String, Option<usize>)]) -> String {
    let mut text = String::from(
        "mov %r0, %r1\nmov %r3, %r1\nmov %r4, 7\nmov %r5, -9\nstxdw [%r10-8], %r1\nstxdw [%r10-16], %r5",
    );
    for (at, (item, over)) in items.iter().enumerate() {
        text.push('\n');
        text.push_str(item);
        if let Some(over) = over {
            let left_out = items.iter().skip(at + 1).take(*over);
            let slots: usize = left_out.map(|(item, _)| item.lines().count()).sum();
            text.push_str(&format!(" +{slots}"));
        }
    }
    text + "\nexit"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases()))]

    #[test]
    fn programs_do_what_the_interpreter_does(
        items in prop::collection::vec(item(), 1..25), gauge in super::generate::gauge(),
        data in prop::collection::vec(any::<u8>(), 0..200),
        first in prop_oneof![0..300u64, any::<u64>()], second in 0..300u64,
        vectors in prop::sample::select(&[Vectors::None, Vectors::Bits128, Vectors::Bits256][..]),
    ) {
        let text = text(&items);
        let it = program(&text);
        let initial = [first, second];
        let (expected, left) = interpreted(it.clone(), gauge, initial, &data);

        let registers = initial.map(|initial| Register { width: Gauge::Bits64, initial, persists: true });
        let pipe = Pipe::of_program("program", (gauge, gauge), Attributes::default(), &registers, it.clone());
        prop_assume!(pipe.as_ref().err().is_none_or(|refusal| !format!("{refusal}").contains("128 steps")));
        let functions = Pipe::of_function("program", gauge, 2, it).unwrap();
        for pipe in functions.into_iter().chain(pipe) {
            let mut list = Pipes::new();
            let handle: Handle = list.add(pipe);
            let pass = list.compile_for(Mode::Write, Features { vectors, crc32c: true }).unwrap();
            let mut held = pass.registers();
            let imported = (0..2).try_for_each(|at| held.import(handle.number(at), initial[at]));
            if imported == Err(Fault::Wide) {
                continue;
            }
            let mut out = vec![0; data.len()];
            pass.run(&data, &mut out, &mut held).unwrap();
            prop_assert_eq!(&out, &expected, "{}", text);
            prop_assert_eq!([0, 1].map(|at| held.export(handle.number(at)).unwrap()), left, "{}", text);
        }
    }
}

/// What comes out of a program, run for each word, and what its registers hold then.
fn interpreted(it: Program, gauge: Gauge, initial: [u64; 2], data: &[u8]) -> (Vec<u8>, [u64; 2]) {
    let platform = Platform::<()> { helpers: &[], values: &[], memory: 16 };
    let interpreter = Interpreter::unproven(it, platform).unwrap();
    let mut memory = Memory::new(16);
    for (bytes, register) in memory.own_mut().as_chunks_mut().0.iter_mut().zip(initial) {
        *bytes = register.to_le_bytes();
    }
    let mut out = Vec::new();
    for word in data.chunks(gauge.bytes()) {
        let state = State::new([gauge.read(word), Memory::BEGIN, 0, 0, 0], 1000);
        let result = interpreter.run(&mut Context::new(state, &mut memory, &mut ())).unwrap();
        out.extend(&result.to_le_bytes()[..gauge.bytes()]);
    }
    out.truncate(data.len());
    let held = memory.own().as_chunks().0;
    (out, [0, 1].map(|at| u64::from_le_bytes(held[at])))
}

/// What is written without knowing of vectors is done in them.
#[test]
fn programs_become_as_narrow_as_their_words() {
    let of = |gauge, registers, text| {
        Pipe::of_function("program", gauge, registers, program(text)).unwrap()[0].body.clone()
    };
    let widths = |body: &Body| body.steps.iter().map(|it| it.width).max();
    // Letters become small ones: (u8)(c - 'A') < 26 ? c + 32 : c.
    let small = of(
        Gauge::Bits8,
        0,
        "mov32 %r0, %r1\nmov32 %r2, %r1\nadd32 %r2, -65\nand32 %r2, 255\njge32 %r2, 26, +1\nadd32 %r0, 32\nexit",
    );
    assert_eq!(widths(&small), Some(Gauge::Bits8));
    // A cipher whose key is a register, and a sum with what it carries, as C has it.
    let both = of(
        Gauge::Bits32,
        2,
        "mov %r0, %r1\nldxdw %r3, [%r2]\nxor %r0, %r3\nldxdw %r3, [%r2+8]\nadd %r3, %r1\nmov %r4, %r3\nrsh %r4, 32\n\
         mov32 %r3, %r3\nadd %r3, %r4\nstxdw [%r2+8], %r3\nexit",
    );
    assert_eq!(widths(&both), Some(Gauge::Bits32));
    assert!(both.steps.iter().any(|it| matches!(it.operation, Operation::Binary(Binary::EndAroundAdd, ..))));
}
