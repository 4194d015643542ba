//! Programs as pipes: they become the same steps as if they were written in Rust, and do what the interpreter does.

use proptest::prelude::*;
use std::vec::Vec;

use crate::bytecode::{Program, assemble};
use crate::engine::{Context, Interpreter, Memory, Platform, State};
use crate::pipe::{Attributes, Features, Gauge, Handle, Mode, Pipe, Pipes, Register, Vectors, ready};

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
    let crc = "mov %r6, %r2\nmov %r7, %r1\nldxdw %r1, [%r6]\nmov %r2, %r7\ncall 2\nstxdw [%r6], %r0\nmov %r0, %r7\nexit";
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
fn line() -> impl Strategy<Value = std::string::String> {
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
        4 => (operation.clone(), register(), register()).prop_map(|(it, a, b)| std::format!("{it} {a}, {b}")),
        4 => (operation, register(), number).prop_map(|(it, a, b)| {
            let b = if it.starts_with(['l', 'r']) || it.starts_with("ar") { b & 31 } else { b };
            std::format!("{it} {a}, {b}")
        }),
        1 => (one, register()).prop_map(|(it, a)| std::format!("{it} {a}")),
        1 => (register(), 0..2).prop_map(|(a, at)| std::format!("ldxdw {a}, [%r2+{}]", 8 * at)),
        1 => (register(), 0..2).prop_map(|(a, at)| std::format!("stxdw [%r2+{}], {a}", 8 * at)),
        1 => register().prop_map(|a| std::format!("stxdw [%r10-8], {a}\nldxdw %r4, [%r10-8]")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_do_what_the_interpreter_does(
        lines in prop::collection::vec(line(), 1..25), gauge in super::generate::gauge(),
        data in prop::collection::vec(any::<u8>(), 0..200),
        vectors in prop::sample::select(&[Vectors::None, Vectors::Bits128, Vectors::Bits256][..]),
    ) {
        let text = std::format!("mov %r0, %r1\nmov %r3, %r1\nmov %r4, 7\nmov %r5, -9\n{}\nexit", lines.join("\n"));
        let it = program(&text);
        let held = Register { width: Gauge::Bits64, initial: 0x1234_5678_9abc_def0, persists: true };
        let registers = [held, Register { initial: 3, ..held }];
        let none = Attributes::default();
        let pipe = Pipe::of_program("program", (gauge, gauge), none, &registers, it.clone());
        prop_assume!(pipe.as_ref().err().is_none_or(|refusal| !std::format!("{refusal}").contains("128 steps")));
        let pipe = pipe.unwrap();

        let platform = Platform::<()> { helpers: &[], values: &[], memory: 16 };
        let interpreter = Interpreter::unproven(it, platform).unwrap();
        let mut memory = Memory::new(16);
        for (bytes, register) in memory.own_mut().chunks_exact_mut(8).zip(&registers) {
            bytes.copy_from_slice(&register.initial.to_le_bytes());
        }
        let mut expected = Vec::new();
        for word in data.chunks(gauge.bytes()) {
            let state = State::new([gauge.read(word), Memory::BEGIN, 0, 0, 0], 1000);
            let result = interpreter.run(&mut Context::new(state, &mut memory, &mut ())).unwrap();
            expected.extend(&result.to_le_bytes()[..gauge.bytes()]);
        }
        expected.truncate(data.len());

        let mut list = Pipes::new();
        let handle: Handle = list.add(pipe);
        let pass = list.compile_for(Mode::Write, Features { vectors, crc32c: true }).unwrap();
        let mut held = pass.registers();
        let mut out = std::vec![0; data.len()];
        pass.run(&data, &mut out, &mut held).unwrap();
        prop_assert_eq!(out, expected, "{}", text);
        for (at, bytes) in memory.own().chunks_exact(8).enumerate() {
            prop_assert_eq!(held.export(handle.number(at)).unwrap().to_le_bytes(), bytes);
        }
    }
}
