//! A program of any instructions, of which nothing is proved: every engine does the same with it, at once and piece by
//! piece, and nothing outside its memory is touched.

#![no_main]

use drystone_extension::bytecode::{Constant, Instruction, Program, Register, Slot, decode, disassemble};
use drystone_extension::engine::jit::{Constants, Jit};
use drystone_extension::engine::{Answer, Context, Helper, Interpreter, Memory, Platform, State, Stop};

const SIZE: usize = 64;
const BUDGET: u64 = 50;
const HELPERS: [Helper<()>; 2] =
    [Helper { function: sum, arguments: 5 }, Helper { function: increment, arguments: 1 }];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let slots = program_of(bytes);
    let program = Program::decode(&slots).expect("it was made so");
    let platform = Platform { helpers: &HELPERS, values: &[Memory::BEGIN], memory: SIZE };
    let Ok(interpreter) = Interpreter::unproven(program.clone(), platform) else { return };
    let plain = Jit::unproven(program.clone(), platform, Constants::Plain).unwrap();
    let blinded = Jit::unproven(program.clone(), platform, Constants::Blinded(5)).unwrap();

    let engines: [&dyn Fn(&mut Context<()>) -> Result<u64, Stop>; 3] =
        [&|context| interpreter.run(context), &|context| plain.run(context), &|context| blinded.run(context)];
    let expected = run(&engines[..1], BUDGET);
    for engine in 1..3 {
        assert_eq!(run(&engines[engine..=engine], BUDGET), expected, "{}", disassemble(&program));
    }
    assert_eq!(run(&engines, 1), expected, "piece by piece\n{}", disassemble(&program));
});

type Engine<'a> = &'a dyn Fn(&mut Context<()>) -> Result<u64, Stop>;

/// With a piece of budget after the other, each in the next engine.
fn run(engines: &[Engine], piece: u64) -> (Result<u64, Stop>, Vec<u8>) {
    let (mut memory, mut host) = (Memory::new(SIZE), ());
    let mut state = State::new([Memory::BEGIN, SIZE as u64, 3, 4, 5], piece);
    let mut left = BUDGET - piece;
    for turn in 0.. {
        let mut context = Context::new(state, &mut memory, &mut host);
        let result = engines[turn % engines.len()](&mut context);
        if result != Err(Stop::Budget) || left == 0 {
            return (result, memory.own().to_vec());
        }
        context.state_mut().set_budget(piece);
        left -= piece;
        state = context.state().clone();
    }
    unreachable!()
}

/// What can be decoded of some bytes, with jumps that lead to instructions, and numbers in r1 to r5 after calls, which
/// engines leave there what they like.
fn program_of(bytes: &[u8]) -> Vec<Slot> {
    let given: Vec<Slot> = bytes.as_chunks().0.iter().map(|bytes| Slot::read(*bytes)).collect();
    let mut slots = Vec::new();
    let mut begins = Vec::new();
    for at in 0..given.len() {
        let Slot { immediate, .. } = given[at];
        let pair = [given[at], Slot { immediate, ..Slot::default() }];
        let Ok(instruction) = decode(&pair, 0) else { continue };
        if instruction.writes() == Some(Register::FRAME) {
            continue;
        }
        begins.push(slots.len());
        instruction.encode(&mut slots);
        if matches!(
            instruction,
            Instruction::CallHelper { .. } | Instruction::CallLocal { .. } | Instruction::CallRegister { .. }
        ) {
            for register in 1..=5 {
                let destination = Register::new(register).unwrap();
                let constant = Constant::Number(Memory::BEGIN + u64::from(register));
                Instruction::Constant { destination, constant }.encode(&mut slots);
            }
        }
    }
    begins.push(slots.len());
    Instruction::Exit.encode(&mut slots);
    for &at in &begins {
        let Ok(instruction) = decode(&slots, at) else { continue };
        let Some(target) = instruction.target(at) else { continue };
        let to = begins[target.unsigned_abs() as usize % begins.len()];
        let offset = to as i32 - at as i32 - 1;
        match instruction {
            Instruction::Jump { .. } if slots[at].opcode == 5 => slots[at].offset = offset as i16,
            Instruction::JumpIf { .. } => slots[at].offset = offset as i16,
            _ => slots[at].immediate = offset,
        }
    }
    slots
}

extern "C" fn sum(_: &mut Context<()>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
    Ok([a, b, c, d, e].into_iter().fold(0, u64::wrapping_add)).into()
}

extern "C" fn increment(context: &mut Context<()>, address: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    let Some([byte]) = context.memory.at_mut(address, 1) else {
        return Err(Stop::Helper(1.try_into().unwrap())).into();
    };
    *byte = byte.wrapping_add(1);
    Ok((*byte).into()).into()
}
