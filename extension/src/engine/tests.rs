//! Tests of engines with guards that only the verifier can choose.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::jit::{Constants, Jit, pages};
use super::*;
use crate::bytecode::{Program, assemble};
use crate::{Guard, Verified};

fn program(text: &str) -> Program {
    Program::decode(&assemble(text).unwrap()).unwrap()
}

type Run = Box<dyn Fn(&mut Context<()>) -> Result<u64, Stop>>;

/// With one guard for every access.
fn engines(text: &str, guard: Guard) -> Vec<Run> {
    let program = program(text);
    let guards = Verified::unproven(program.clone()).guards().to_vec();
    let guards = guards.into_iter().map(|it| if it == Guard::Check { guard } else { it }).collect();
    let verified = Verified::new(program, guards);
    let platform = Platform { helpers: &[], values: &[], memory: 64 };
    // SAFETY: the tests access nothing but what is the program's.
    let (interpreter, plain, blinded) = unsafe {
        (
            Interpreter::new(&verified, platform).unwrap(),
            Jit::new(&verified, platform, Constants::Plain, pages).unwrap(),
            Jit::new(&verified, platform, Constants::Blinded(7), pages).unwrap(),
        )
    };
    let interpreted: Run = Box::new(move |context| interpreter.run(context));
    [interpreted, Box::new(move |context| plain.run(context)), Box::new(move |context| blinded.run(context))]
        .into()
}

fn run(engine: &Run, memory: &mut Memory) -> Result<u64, Stop> {
    engine(&mut Context::new(State::new([Memory::BEGIN, 64, 0, 0, 0], 0), memory, &mut ()))
}

#[test]
fn confined_accesses_stay_in_the_own_memory_wherever_they_go() {
    for address in [0, 5, 63, 64, 0x7fff_ffff, u64::MAX, Memory::BEGIN - 8, Memory::BEGIN + 61] {
        for (offset, at) in [(0, address), (-3, address.wrapping_sub(3)), (70, address.wrapping_add(70))] {
            let at = (at % 64) as usize;
            for (size, bytes) in [("b", 1), ("h", 2), ("w", 4), ("dw", 8)] {
                let text = alloc::format!(
                    "lddw %r3, {address}\nst{size} [%r3{offset:+}], 0x7a7a7a7a\nldx{size} %r0, [%r3{offset:+}]\nexit"
                );
                for engine in engines(&text, Guard::Confine) {
                    let mut memory = Memory::new(64);
                    let result = run(&engine, &mut memory).unwrap();
                    let expected =
                        if bytes == 8 { 0x7a7a_7a7a } else { 0x7a7a_7a7a & ((1 << (8 * bytes)) - 1) };
                    assert_eq!(result, expected, "{text}");
                    let touched = |index: &usize| (at..at + bytes.min(4)).contains(index);
                    let is_right =
                        |(index, byte): (usize, &u8)| *byte == if touched(&index) { 0x7a } else { 0 };
                    assert!(memory.own().iter().enumerate().all(is_right), "{text} {:?}", memory.own());
                    assert_eq!(
                        memory.at(Memory::BEGIN - 4096, 4096).unwrap(),
                        [0; 4096],
                        "{text}: the stack"
                    );
                }
            }
        }
    }
}

#[test]
fn confined_atomics_are_where_stores_are() {
    let text = "lddw %r3, 0x1234567890\nstxdw [%r3+8], %r3\nmov %r4, 5\nlock fetch_add [%r3+8], %r4\n\
                lock xchg [%r3+8], %r3\nldxdw %r0, [%r1+24]\nadd %r0, %r4\nadd %r0, %r3\nexit";
    for engine in engines(text, Guard::Confine) {
        let mut memory = Memory::new(64);
        assert_eq!(run(&engine, &mut memory), Ok(0x12_3456_7890 * 3 + 5));
    }
}

#[test]
fn what_was_proved_is_accessed_without_guards() {
    let text = "stdw [%r1+8], -1\nmov %r2, 3\nstxdw [%r10-8], %r2\nldxdw %r0, [%r1+8]\nldxdw %r3, [%r10-8]\n\
                add %r0, %r3\nexit";
    for engine in engines(text, Guard::None) {
        assert_eq!(run(&engine, &mut Memory::new(64)), Ok(2));
    }
}

/// Memory that isn't the program's own, such as a packet, of which the verifier would know how much there is.
#[test]
fn other_memory_is_reached_by_its_address() {
    let packet = [3u8, 4, 5];
    let engines = engines("ldxb %r0, [%r3+1]\nexit", Guard::None);
    for engine in engines {
        let mut memory = Memory::new(64);
        let address = memory.address_of(packet.as_ptr());
        let state = State::new([0, 0, address, 0, 0], 0);
        assert_eq!(engine(&mut Context::new(state, &mut memory, &mut ())), Ok(4));
    }
}

#[test]
fn products_are_the_same_whatever_way_they_are_computed() {
    let near_powers = (0..31).flat_map(|bits| [-1, 0, 1].map(|apart| (1i32 << bits) + apart));
    for number in near_powers.chain([i32::MAX, i32::MIN, i32::MIN + 1, -1, -2, -31, 10, 100]) {
        for (width, mask) in [("", u64::MAX), ("32", 0xffff_ffff)] {
            let text = alloc::format!(
                "lddw %r0, 0x123456789abcdef1\nmul{width} %r0, {number}\nmov %r7, %r0\nmov %r0, %r7\nexit"
            );
            let product = 0x1234_5678_9abc_def1u64.wrapping_mul(i64::from(number) as u64) & mask;
            for engine in engines(&text, Guard::None) {
                assert_eq!(run(&engine, &mut Memory::new(64)), Ok(product), "{text}");
            }
        }
    }
}

#[test]
fn long_ways_forward_take_no_more_of_the_hosts_stack_than_short_ones() {
    let straight = "add %r0, 1\n".repeat(100_000) + "exit";
    let leaps = ["lddw %r3, 7\nja +200\n", &"add %r0, 1\n".repeat(200)].concat().repeat(1000) + "exit";
    let wide = "lddw %r3, 7\n".repeat(50_000) + "mov %r0, %r3\nexit";
    let small = std::thread::Builder::new().stack_size(1 << 18);
    let all = small.spawn(move || {
        [straight, leaps, wide].map(|text| {
            engines(&("mov %r0, 0\n".to_string() + &text), Guard::None)
                .iter()
                .map(|engine| run(engine, &mut Memory::new(64)).unwrap())
                .collect::<Vec<u64>>()
        })
    });
    assert_eq!(all.unwrap().join().unwrap(), [[100_000; 3], [0; 3], [7; 3]]);
}

#[test]
fn blinded_constants_arent_in_the_code() {
    let text = "lddw %r0, 0x1122334455667788\nadd %r0, 0x1a2b3c4d\nmov %r1, 0x1a2b3c4d\n\
                jeq %r1, 0x1a2b3c4d, +0\nstw [%r10-4], 0x1a2b3c4d\ndiv %r0, 0x1a2b3c4d\n\
                jset32 %r1, 0x1a2b3c4d, +0\nmul32 %r1, 0x1a2b3c4d\nexit";
    let code = |constants| {
        let verified = Verified::unproven(program(text));
        let platform = Platform::<()> { helpers: &[], values: &[], memory: 64 };
        let mut code = Vec::new();
        // SAFETY: it is never run.
        let _ = unsafe {
            Jit::new(&verified, platform, constants, |bytes| {
                code = bytes.to_vec();
                Ok(code.clone())
            })
        };
        code
    };
    let says = |code: &[u8], constant: &[u8]| code.windows(constant.len()).any(|window| window == constant);
    let constants: [&[u8]; 3] =
        [&[0x4d, 0x3c, 0x2b, 0x1a], &[0x88, 0x77, 0x66, 0x55], &[0x44, 0x33, 0x22, 0x11]];
    for constant in constants {
        assert!(says(&code(Constants::Plain), constant));
        assert!(!says(&code(Constants::Blinded(1)), constant));
    }
    assert_ne!(code(Constants::Blinded(1)), code(Constants::Blinded(2)));
}
