//! Generated programs give the same results in every engine, stopped often or not; and in `rbpf`, for the instructions
//! that it knows.

mod engines;
mod programs;

use drystone_extension::bytecode::*;
use drystone_extension::engine::{Context, Stop};
use engines::{End, Engine, Host, engines, memory_with, run, start};
use programs::Part;
use proptest::prelude::*;

const MEMORY: [u8; 64] = [0xa5; 64];
const BUDGET: u64 = 40;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_engine_does_the_same(slots in programs::that_make_sense()) {
        let program = Program::decode(&slots).unwrap();
        let all = engines(&program, MEMORY.len());
        let ends: Vec<End> = all.iter().map(|(_, engine)| run(engine.as_ref(), &MEMORY, BUDGET)).collect();
        for (end, (name, _)) in ends.iter().zip(&all) {
            prop_assert_eq!(end, &ends[0], "{} of\n{}", name, disassemble(&program));
        }
        let calm = in_turns(&[all[0].1.as_ref()], BUDGET);
        let by_turns: Vec<&dyn Engine> = all.iter().map(|(_, engine)| engine.as_ref()).collect();
        for piece in [1, 3] {
            prop_assert_eq!(&in_turns(&by_turns, piece), &calm, "{} at a time\n{}", piece, disassemble(&program));
        }
    }

    #[test]
    fn rbpf_does_the_same(slots in that_rbpf_knows()) {
        let program = Program::decode(&slots).unwrap();
        let theirs = in_rbpf(&slots);
        for (name, engine) in engines(&program, MEMORY.len()) {
            let end = run(engine.as_ref(), &MEMORY, BUDGET);
            prop_assert_eq!((end.result, end.memory), theirs.clone(), "{} of\n{}", name, disassemble(&program));
        }
    }
}

/// `PROPTEST_CASES` says how many.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}

/// Runs with a piece of budget after the other, each in the next engine, until it ends, stops for good, or BUDGET is
/// spent.
fn in_turns(all: &[&dyn Engine], piece: u64) -> (Result<u64, Stop>, Vec<u8>, usize) {
    let (mut memory, mut host) = (memory_with(&MEMORY), Host::default());
    let mut state = start(&MEMORY, piece.min(BUDGET));
    let mut left = BUDGET - piece.min(BUDGET);
    let mut stops = 0;
    let result = loop {
        let mut context = Context::new(state, &mut memory, &mut host);
        let result = all[stops % all.len()].run(&mut context);
        stops += 1;
        match result {
            Err(Stop::Budget) if left > 0 => {
                context.state_mut().set_budget(piece.min(left));
                left -= piece.min(left);
            }
            // Where it hesitates again and again, it is asked again some times.
            Err(Stop::Helper(_)) if stops < 200 => {}
            result => break result,
        }
        state = context.state().clone();
    };
    (result, memory.own().to_vec(), host.calls)
}

/// They go only forward, because nothing else stops them there; and compute with no addresses, which are others there.
fn that_rbpf_knows() -> impl Strategy<Value = Vec<Slot>> {
    let at = |number| Just(Register::new(number).unwrap());
    let access = prop_oneof![programs::access(8, at(9), 0i16..57), programs::access(8, at(10), (-64i16)..-8)];
    let part = prop_oneof![
        10 => programs::computation(8).prop_map(Part::Plain),
        5 => access.prop_map(Part::Plain),
        3 => programs::jump_if(Just(0)).prop_map(|jump| Part::To(jump, 0)),
        1 => Just(Part::Call(Instruction::CallHelper { number: 0 }, None)),
    ];
    let parts = prop::collection::vec((part, 1..8usize), 1..60);
    (prop::collection::vec(any::<u64>(), 9), parts).prop_map(|(numbers, parts)| {
        let mut parts: Vec<(Part, usize)> = parts.into_iter().filter(|(part, _)| is_known(part)).collect();
        parts.push((Part::Plain(Instruction::Exit), 0));
        let last = parts.len() - 1;
        let ahead = |(at, (part, distance)): (usize, (Part, usize))| match part {
            Part::To(jump, _) => Part::To(jump, (at + distance).min(last)),
            part => part,
        };
        programs::laid_out(&numbers, &parts.into_iter().enumerate().map(ahead).collect::<Vec<_>>())
    })
}

/// What it lacks, and where it differs from the RFC: it compares 64 bits with immediates without sign, and leaves the
/// upper half in 32-bit remainders by 0; it panics where it negates the smallest number.
fn is_known(part: &Part) -> bool {
    let Part::Plain(instruction) = part else {
        return match part {
            Part::To(Instruction::JumpIf { left, right, width, condition, .. }, _) => {
                let is_unsigned = matches!(
                    condition,
                    Condition::Equal
                        | Condition::NotEqual
                        | Condition::Above
                        | Condition::AboveOrEqual
                        | Condition::Below
                        | Condition::BelowOrEqual
                );
                let differs = matches!(right, Operand::Immediate(..0)) && *width == Width::W64 && is_unsigned;
                left.number() < 9 && is_number(right) && !differs
            }
            _ => true,
        };
    };
    match instruction {
        Instruction::Alu { operation: Alu::SignedDiv | Alu::SignedMod, .. } => false,
        Instruction::Alu { operation: Alu::Mod, width: Width::W32, .. } => false,
        Instruction::Alu { source, .. } => is_number(source),
        Instruction::Negate { width, .. } => *width == Width::W32,
        Instruction::Swap { order, .. } => *order != Order::Swapped,
        Instruction::Load { sign, .. } => *sign == Sign::Zero,
        Instruction::Store { source, .. } => is_number(source),
        Instruction::Extend { .. } | Instruction::Atomic { .. } => false,
        _ => true,
    }
}

fn is_number(operand: &Operand) -> bool {
    !matches!(operand, Operand::Register(register) if register.number() >= 9)
}

fn in_rbpf(slots: &[Slot]) -> (Result<u64, Stop>, Vec<u8>) {
    let bytes: Vec<u8> = slots.iter().flat_map(|slot| slot.bytes()).collect();
    let mut machine = rbpf::EbpfVmRaw::new(None).unwrap();
    machine.set_verifier(|_| Ok(())).unwrap();
    machine.set_program(&bytes).unwrap();
    machine
        .register_helper(0, |a, b, c, d, e| [a, b, c, d, e].iter().fold(0, |all, it| all << 8 | it & 0xff))
        .unwrap();
    let mut memory = MEMORY;
    let result = machine.execute_program(&mut memory).unwrap();
    (Ok(result), memory.to_vec())
}
