//! Soundness: generated programs that the verifier accepts run on a machine that checks every access, and before every
//! instruction all claims of the verifier. They run twice, with the host's memory at different addresses; what they
//! output must be the same.

use std::{collections::BTreeMap, format, string::String, vec::Vec};

use proptest::prelude::*;

use super::machine::{CODE, Machine, Stopped};
use super::*;
use crate::bytecode::{Instruction, Register, disassemble};
use crate::verifier::state::State;
use crate::verifier::value::{Kind, Value, is_near};

pub type Seen = BTreeMap<usize, Vec<State>>;

/// Verifies, and gives what was known at each instruction.
pub fn verify_watched(program: &Program, contract: &Contract) -> Result<(Verified, Seen), Rejection> {
    let mut workspace = Workspace::default();
    let mut analysis = Analysis::new(program, contract, &mut workspace)?;
    analysis.seen = Some(Seen::new());
    analysis.start()?;
    let guards = analysis.guards();
    let rewrites = core::mem::take(&mut analysis.rewrites);
    let seen = analysis.seen.take().unwrap_or_default();
    Ok((Verified::new(program.clone().rewritten(rewrites), guards), seen))
}

fn is_so(value: &Value, concrete: u64, machine: &Machine) -> bool {
    let from = |base: u64| value.number.contains(concrete.wrapping_sub(base));
    let packet = machine.stretch(PACKET);
    let end = packet.base + packet.bytes.len() as u64;
    let in_region = |region: Region| match region {
        VALUE => machine.memory.iter().any(|it| it.region == Some(VALUE) && from(it.base)),
        PACKET => {
            let reached = (concrete.wrapping_sub(packet.base) as i64).saturating_add(value.reach.into());
            // A reach is used of pointers only that haven't wrapped.
            let used = is_near(value.number) && value.reach != i32::MIN;
            from(packet.base) && (!used || reached <= packet.bytes.len() as i64)
        }
        region => from(machine.base(region)),
    };
    match value.kind {
        Kind::Unset | Kind::Mixed => true,
        Kind::Number => value.number.contains(concrete),
        Kind::Stack(depth) => from(machine.frame(depth.into())),
        Kind::Region(region) => in_region(region),
        Kind::RegionOrNull(region) => concrete == 0 || in_region(region),
        Kind::End(_) => concrete == end,
        Kind::Map => value.number.contains(concrete),
        Kind::Code => from(CODE),
    }
}

fn all_so(state: &State, machine: &Machine) -> Result<(), String> {
    if state.depth() != machine.depth() {
        return Err("another depth".into());
    }
    let mut ties: BTreeMap<u32, (u64, &Value)> = BTreeMap::new();
    let mut check = |what: String, value, concrete: Option<u64>| {
        let Some(concrete) = concrete else {
            return if value == &Value::UNSET {
                Ok(())
            } else {
                Err(format!("{what} isn't set, known is {value:?}"))
            };
        };
        if !is_so(value, concrete, machine) {
            return Err(format!("{what} is {concrete:#x}, known is {value:?}"));
        }
        let (first, tied) = ties.entry(value.tie).or_insert((concrete, value));
        let apart = (i64::from(value.since) - i64::from(tied.since)) as u64;
        if value.tie != 0 && value.kind == tied.kind && first.wrapping_add(apart) != concrete {
            return Err(format!("{what} is {concrete:#x}, not tied to {first:#x}: {value:?} {tied:?}"));
        }
        Ok(())
    };
    for (index, (value, concrete)) in state.registers().iter().zip(machine.registers).enumerate() {
        if value.kind != Kind::Unset {
            check(format!("r{index}"), value, concrete)?;
        }
    }
    for depth in 0..=state.depth() {
        let bytes = &machine.memory[depth].bytes;
        for (first, length, value, set) in state.frame_at(depth as u8).written() {
            let from = (first + crate::FRAME as i64) as usize;
            let cell = from / 8 * 8;
            if (0..8).any(|byte| set & 1 << byte != 0 && bytes[cell + byte].is_none()) {
                return Err(format!("bytes {set:#b} at {first} of frame {depth} weren't all written"));
            }
            if length > 0 {
                let mut concrete = [0; 8];
                for (to, from) in concrete.iter_mut().zip(&bytes[from..from + length]) {
                    *to = from.ok_or_else(|| format!("{first} of frame {depth} wasn't written"))?;
                }
                check(format!("{first} of frame {depth}"), value, Some(u64::from_le_bytes(concrete)))?;
            }
        }
    }
    if machine.stretch(PACKET).bytes.len() < state.packet as usize {
        return Err(format!("the packet has no {} bytes", state.packet));
    }
    Ok(())
}

fn some_state_is_so(seen: &Seen, machine: &Machine) -> Result<(), String> {
    let Some(states) = seen.get(&machine.at) else {
        return Err(format!("instruction {} is never reached", machine.at));
    };
    let mut why = String::new();
    for state in states.iter().rev() {
        match all_so(state, machine) {
            Ok(()) => return Ok(()),
            Err(not) => why = not,
        }
    }
    Err(format!("instruction {}: nothing that is known there is so: {why}", machine.at))
}

/// Runs an accepted program on many inputs.
fn check_runs(verified: &Verified, seen: &Seen, seed: u64) -> Result<(), String> {
    for (packet, seed) in
        [(0, seed), (14, seed >> 1), (33, seed ^ 0x5555), (64, !seed), (90, seed.rotate_left(20))]
    {
        let mut ends = Vec::new();
        for layout in [0, 1] {
            let mut machine = Machine::new(verified, packet, seed, layout);
            let end = machine.run(|machine| some_state_is_so(seen, machine));
            if let Err(Stopped::Fault(what)) = &end {
                return Err(format!("{what}\n{}", disassemble(verified.program())));
            }
            let public = [OWN, PACKET].map(|region| machine.stretch(region).bytes.clone());
            ends.push((end, public, machine.at, core::mem::take(&mut machine.told)));
        }
        if ends[0] != ends[1] {
            return Err(format!("it tells addresses: {ends:?}\n{}", disassemble(verified.program())));
        }
    }
    Ok(())
}

/// What refused instructions are replaced by, so that the rest of a program can be accepted.
fn without(program: &Program, slot: usize) -> Program {
    let with = match program.at(slot) {
        Some(Instruction::Constant { destination, .. }) => {
            Instruction::Constant { destination, constant: crate::bytecode::Constant::Number(3) }
        }
        Some(Instruction::Exit) => program.at(0).filter(|_| false).unwrap_or(Instruction::Exit),
        Some(it) if it.writes().is_some() => Instruction::Alu {
            width: crate::bytecode::Width::W64,
            operation: crate::bytecode::Alu::Mov,
            destination: it.writes().unwrap_or(Register::FRAME),
            source: crate::bytecode::Operand::Immediate(5),
        },
        _ => Instruction::Jump { width: crate::bytecode::Width::W64, offset: 0 },
    };
    program.clone().rewritten(BTreeMap::from([(slot, with)]))
}

/// Takes what is refused out of a program until it is accepted, and runs it. Says whether it was accepted.
fn try_out(mut program: Program, contract: &Contract, seed: u64) -> Result<bool, String> {
    for _ in 0..60 {
        match verify_watched(&program, contract) {
            Ok((verified, seen)) => return check_runs(&verified, &seen, seed).map(|()| true),
            Err(rejection) => {
                let next = without(&program, rejection.slot());
                if next == program {
                    return Ok(false);
                }
                program = next;
            }
        }
    }
    Ok(false)
}

/// Programs of random bytes: few make sense, and fewer are accepted.
fn wild() -> impl Strategy<Value = Vec<u8>> {
    let opcodes: Vec<u8> = (0..=255).filter(|opcode| opcode & 7 != 0).collect();
    let slot = (proptest::sample::select(opcodes), any::<u8>(), -4i16..12, any::<i32>(), any::<u8>())
        .prop_map(|(opcode, registers, offset, immediate, shape)| {
            let registers = registers % 11 + (registers >> 4) % 11 * 16;
            let immediate = if shape & 1 == 0 { immediate % 70 } else { immediate };
            let register = opcode & 8 != 0 || opcode & 7 == 1;
            let jumps = matches!(opcode & 7, 5 | 6);
            let (registers, immediate) = if register { (registers, 0) } else { (registers & 15, immediate) };
            let offset = if !jumps && matches!(opcode & 7, 4 | 7) { 0 } else { offset };
            crate::bytecode::Slot {
                opcode,
                destination: registers & 15,
                source: registers >> 4,
                offset,
                immediate,
            }
            .bytes()
        });
    proptest::collection::vec(slot, 1..40).prop_map(|slots| slots.concat())
}

/// Pieces that programs are made of, which look like what people write, but for their numbers and registers.
fn piece() -> impl Strategy<Value = String> {
    let register = || (0u8..10).prop_map(|it| format!("%r{it}"));
    let small = || {
        prop_oneof![
            -20i32..20,
            proptest::sample::select([255, 256, 4096, -1, i32::MAX, i32::MIN, 63, 15, 31].to_vec())
        ]
    };
    let alu = proptest::sample::select(
        ["add", "sub", "mul", "div", "sdiv", "mod", "smod", "or", "and", "xor", "lsh", "rsh", "arsh", "mov"]
            .to_vec(),
    );
    let jump = || {
        proptest::sample::select(
            ["jeq", "jne", "jset", "jgt", "jge", "jlt", "jle", "jsgt", "jsge", "jslt", "jsle"].to_vec(),
        )
    };
    let half = || proptest::sample::select(["", "", "32"].to_vec());
    let size = || proptest::sample::select(["b", "h", "w", "dw"].to_vec());
    let computed = (alu, half(), register(), register(), small(), any::<bool>()).prop_map(
        |(operation, half, to, from, number, immediate)| match immediate {
            true => format!("{operation}{half} {to}, {number}"),
            false => format!("{operation}{half} {to}, {from}"),
        },
    );
    let one =
        (proptest::sample::select(["neg", "neg32", "be16", "be32", "bswap64", "le32"].to_vec()), register())
            .prop_map(|(name, register)| format!("{name} {register}"));
    let extended =
        (proptest::sample::select(["movsx832", "movsx1664", "movsx3264"].to_vec()), register(), register())
            .prop_map(|(name, to, from)| format!("{name} {to}, {from}"));
    let bounded =
        (register(), jump(), half(), small(), 1i32..6).prop_map(|(register, jump, half, number, over)| {
            format!("{jump}{half} {register}, {number}, +{over}")
        });
    let compared = (register(), register(), jump(), half(), 1i32..6)
        .prop_map(|(left, right, jump, half, over)| format!("{jump}{half} {left}, {right}, +{over}"));
    let back = (register(), jump(), small(), 1i32..6).prop_map(|(register, jump, number, back)| {
        format!("add {register}, 1\n{jump} {register}, {number}, -{back}")
    });
    let packet = (1i32..24, 0i32..26, size(), register()).prop_map(|(check, at, size, to)| {
        format!("mov %r5, %r7\nadd %r5, {check}\njgt %r5, %r8, +1\nldx{size} {to}, [%r7+{at}]")
    });
    let further = (register(), 0i32..40).prop_map(|(by, mask)| format!("and {by}, {mask}\nadd %r7, {by}"));
    let reload = proptest::strategy::Just(String::from("ldxw %r7, [%r6]\nldxw %r8, [%r6+4]"));
    let loads = (size(), register(), register(), -24i32..24)
        .prop_map(|(size, to, base, at)| format!("ldx{size} {to}, [{base}{at:+}]"));
    let stores = (size(), register(), register(), -24i32..24)
        .prop_map(|(size, base, from, at)| format!("stx{size} [{base}{at:+}], {from}"));
    let spills =
        (register(), -4i32..0, any::<bool>(), size()).prop_map(|(register, cell, load, size)| match load {
            true => format!("ldx{size} {register}, [%r10{}]", cell * 8),
            false => format!("stx{size} [%r10{}], {register}", cell * 8),
        });
    let frames = (register(), register(), -30i32..0, 0i32..30).prop_map(|(to, by, at, mask)| {
        format!("mov {to}, %r10\nand {by}, {mask}\nadd {to}, {at}\nadd {to}, {by}")
    });
    let table = (any::<bool>(), register(), 0i32..18, size()).prop_map(|(check, to, at, size)| {
        let check = if check { "jeq %r0, 0, +1\n" } else { "" };
        format!(
            "stw [%r10-4], 5\nlddw %r1, map_by_fd(0)\nmov %r2, %r10\nadd %r2, -4\ncall 1\n\
             {check}ldx{size} {to}, [%r0+{at}]"
        )
    });
    let direct =
        (register(), 0i32..18).prop_map(|(to, at)| format!("lddw {to}, map_val(map_by_fd(0)){at:+}"));
    let calls = proptest::sample::select(
        [
            "call 2",
            "mov %r1, %r6\ncall 5",
            "mov %r1, %r10\nadd %r1, -16\nmov %r2, 12\ncall 3",
            "mov %r1, %r10\nadd %r1, -24\nmov %r2, 9\ncall 4",
            "mov %r1, %r10\nadd %r1, -16\ncall local f",
            "mov %r1, %r7\nmov %r2, %r9\ncall local f",
            "mov %r1, %r9\ncall local g",
            "lddw %r0, code_addr(g)\ncallx %r0",
            "mov %r0, 2\ncallx %r0",
            "lock fetch_add [%r10-8], %r0",
            "lock cmpxchg32 [%r9+4], %r1",
            "mov %r0, 0",
            "mov %r9, 0",
        ]
        .to_vec(),
    )
    .prop_map(String::from);
    prop_oneof![
        4 => computed,
        1 => one,
        1 => extended,
        3 => bounded,
        2 => compared,
        2 => back,
        3 => packet,
        2 => further,
        1 => reload,
        2 => loads,
        2 => stores,
        3 => spills,
        2 => frames,
        1 => table,
        1 => direct,
        3 => calls,
    ]
}

fn likely() -> impl Strategy<Value = String> {
    let pieces = |most| proptest::collection::vec(piece(), 1..most).prop_map(|pieces| pieces.join("\n"));
    (pieces(14), pieces(6), pieces(6)).prop_map(|(main, f, g)| {
        let f = f.replace("call local f", "call local g");
        format!(
            "mov %r6, %r1\nldxw %r7, [%r6]\nldxw %r8, [%r6+4]\nmov %r9, %r3\nmov %r0, 0\n\
             stdw [%r10-8], 1\nstdw [%r10-16], 2\n{main}\nmov %r0, 0\nmov %r0, 0\nmov %r0, 0\nmov %r0, 0\nmov %r0, 0\n\
             exit\nf: mov %r6, %r1\nmov %r0, 7\nmov %r9, %r2\n{f}\n\
             mov %r1, 1\nmov %r1, 1\nmov %r1, 1\nmov %r1, 1\nmov %r1, 1\nexit\n\
             g: mov %r0, 3\n{g}\nmov %r1, 1\nmov %r1, 1\nmov %r1, 1\nmov %r1, 1\nmov %r1, 1\nexit"
        )
    })
}

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_is_known_of_likely_programs_is_so(text in likely(), seed: u64) {
        let Ok(slots) = assemble(&text) else { panic!("{text}\n{:?}", assemble(&text)) };
        let Ok(program) = Program::decode(&slots) else { return Ok(()) };
        for contract in [handler_with_r3(), confining()] {
            let contract = Contract { patience: PATIENCE, ..contract };
            try_out(program.clone(), &contract, seed).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn what_is_known_of_wild_programs_is_so(bytes in wild(), seed: u64) {
        let slots: Vec<_> = bytes.chunks(8).map(|it| crate::bytecode::Slot::read(it.try_into().unwrap())).collect();
        // What makes no sense becomes something else.
        let mut slots = slots;
        slots.push(assemble("exit").unwrap()[0]);
        while let Err(error) = Program::decode(&slots) {
            let instead = if error.at + 1 == slots.len() { "exit" } else { "mov %r0, 1" };
            slots[error.at] = assemble(instead).unwrap()[0];
        }
        let program = Program::decode(&slots).unwrap();
        let contract = Contract { patience: PATIENCE, ..confining() };
        try_out(program, &contract, seed).map_err(TestCaseError::fail)?;
    }
}

/// The handler's contract; r3 is a number.
fn handler_with_r3() -> Contract {
    let mut contract = handler();
    contract.registers[2] = Given::Number(0, u64::MAX);
    contract
}
