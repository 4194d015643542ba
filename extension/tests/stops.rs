//! Programs that are stopped, and resumed by the same engine or another.

mod engines;

use std::sync::atomic::AtomicBool;

use drystone_extension::engine::{Answer, Context, Helper, Memory, Platform, State, Stop};
use engines::{
    End, Engine, Host, engines, engines_on, memory_with, platform, program, run, run_everywhere, size_of,
    start, work,
};

const SUM: &str = "mov %r0, 0\nmov %r1, 1000\nagain: add %r0, %r1\nsub %r1, 1\njne %r1, 0, again\nexit";

#[test]
fn a_budget_is_jumps_back_and_calls() {
    // 999 jumps are taken; the guard stands before the last, that isn't, too.
    assert_eq!(
        run_everywhere(SUM, &[], 1000),
        End { result: Ok(500_500), memory: vec![0; 8], budget: 0, host: Host::default() }
    );
    assert_eq!(run_everywhere(SUM, &[], 999).result, Err(Stop::Budget));
    assert_eq!(run_everywhere(SUM, &[], 1_000_000).budget, 999_000);
    assert_eq!(run_everywhere("call local f\nexit\nf: exit", &[], 0).result, Err(Stop::Budget));
    assert_eq!(run_everywhere("ja -1", &[], 20_000).result, Err(Stop::Budget));
}

#[test]
fn what_helpers_do_is_paid_from_the_budget_too() {
    let text = "mov %r1, 10\ncall 0\nmov %r1, 5\ncall 0\nmov %r0, 0\nexit";
    let helpers = [Helper { function: work, arguments: 1 }];
    for (name, engine) in engines_on(&program(text), Platform { helpers: &helpers, values: &[], memory: 8 }) {
        let (enough, little) = (run(engine.as_ref(), &[], 20), run(engine.as_ref(), &[], 14));
        assert_eq!((enough.result, enough.budget), (Ok(0), 5), "{name}");
        assert_eq!((little.result, little.budget), (Err(Stop::Budget), 4), "{name}");
    }
}

#[test]
fn what_helpers_take_in_a_loop_is_missing_from_the_budget_behind_it() {
    let text = "mov %r6, 6\nagain: mov %r1, %r6\ncall 0\nmov %r1, 1\ncall 0\nadd %r6, -1\njne %r6, 0, again\n\
                mov %r0, 0\nexit";
    let helpers = [Helper { function: work, arguments: 1 }];
    for (name, engine) in engines_on(&program(text), Platform { helpers: &helpers, values: &[], memory: 8 }) {
        for budget in 0..40 {
            // 6 + 5 + .. and 1 for each round, which ends with a jump back.
            let end = run(engine.as_ref(), &[], budget);
            assert_eq!(end.result.is_ok(), budget >= 21 + 6 + 6, "{name}, {budget}: {:?}", end.result);
            let mut left = budget;
            for cost in (1..=6).rev().flat_map(|round| [round, 1, 1]) {
                match left.checked_sub(cost) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
            assert_eq!(end.budget, left, "{name}, {budget}");
        }
    }
}

/// Stops every other time that it is called, and says what it is called with.
extern "C" fn gather_late(context: &mut Context<Host>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
    context.host.calls += 1;
    match context.host.calls % 2 {
        1 => Err(Stop::Helper(7.try_into().unwrap())).into(),
        _ => Ok([a, b, c, d, e].into_iter().fold(0, |all: u64, it| all.wrapping_mul(31).wrapping_add(it)))
            .into(),
    }
}

#[test]
fn a_helper_that_stopped_is_called_again_with_the_same() {
    let arguments = [
        "mov %r1, %r6\nmov %r2, 7\nmov %r3, %r10\nadd %r3, -8\nlddw %r4, 0x1234567890\nldxdw %r5, [%r9]",
        "mov %r1, %r6\nadd %r1, 5\nmov %r2, %r7\nmov %r7, 3\nmov32 %r3, -1\nmov %r4, %r1\nmov32 %r5, %r6",
        "mov %r5, 1\nmov %r4, %r5\nadd %r4, 2\nmov %r3, %r8\nadd32 %r3, 2\nmov %r2, %r9\nsub %r2, 8\n\
         mov %r1, %r6\nadd %r1, %r7",
    ];
    let helpers = [Helper { function: gather_late, arguments: 5 }];
    let platform = Platform { helpers: &helpers, values: &[], memory: 16 };
    for arguments in arguments {
        let text = format!(
            "mov %r9, %r1\nmov %r6, 6\nlddw %r7, -5\nmov %r8, 8\nstdw [%r9], 77\nmov %r0, 0\n{arguments}\n\
             call 0\nmov %r8, %r0\nmov %r1, 1\nmov %r2, %r8\nmov %r3, 3\nmov %r4, 4\nmov %r5, %r6\ncall 0\n\
             add %r0, %r8\nexit"
        );
        let deep = format!("call local f\nexit\nf: {text}");
        for text in [text, deep] {
            let all = engines_on(&program(&text), platform);
            let calm = until_the_end(&|_| all[0].1.as_ref(), 5);
            for first in 0..all.len() {
                let mixed = until_the_end(&|turn| all[(first + turn) % all.len()].1.as_ref(), 5);
                assert_eq!(mixed, calm, "{text}");
                assert_eq!(until_the_end(&|_| all[first].1.as_ref(), 5), calm, "{} {text}", all[first].0);
            }
        }
    }
}

/// Calls, loops in the callee, memory and helpers that hesitate.
const WORK: &str = "
    mov %r6, %r1
    mov %r7, 3
    again:
        mov %r1, %r6
        mov %r2, %r7
        call local f
        ldxdw %r1, [%r6]
        add %r1, %r0
        stxdw [%r6], %r1
        mov %r1, %r7
        call 1
        ldxdw %r1, [%r6+8]
        xor %r1, %r0
        stxdw [%r6+8], %r1
        sub %r7, 1
        jne %r7, 0, again
    ldxdw %r0, [%r6]
    exit
    f:
        mov %r6, 5
        mov %r7, 7
        mov %r9, %r2
        stxdw [%r10-16], %r2
        add %r2, -1
        jeq %r2, 0, deep
        call local f
        ja loop
    deep:
        mov %r0, 0
    loop:
        ldxdw %r1, [%r10-16]
        add %r0, %r1
        add %r0, %r6
        add %r6, -1
        jne %r6, 0, loop
        add %r0, %r9
        exit
";

#[test]
fn what_is_stopped_often_ends_as_what_isnt() {
    let all = engines(&program(WORK), 16);
    let calm = until_the_end(&|_| all[0].1.as_ref(), u64::MAX / 2);
    for budget in [1, 2, 3, 7] {
        for (name, engine) in &all {
            assert_eq!(until_the_end(&|_| engine.as_ref(), budget), calm, "{name} with {budget} at a time");
        }
        let mixed = until_the_end(&|turn| all[turn % all.len()].1.as_ref(), budget);
        assert_eq!(mixed, calm, "in turns with {budget} at a time");
    }
    assert_eq!(calm.0, 150);
}

/// What it returns, and leaves in memory.
fn until_the_end<'e>(engine: &dyn Fn(usize) -> &'e dyn Engine, budget: u64) -> (u64, Vec<u8>) {
    let (mut memory, mut host) = (Memory::new(16), Host::default());
    let mut state = start(&[0; 16], budget);
    for turn in 0..10_000 {
        let mut context = Context::new(state, &mut memory, &mut host);
        match engine(turn).run(&mut context) {
            Ok(result) => return (result, memory.own().to_vec()),
            Err(Stop::Budget) => context.state_mut().set_budget(budget),
            Err(Stop::Helper(number)) => assert_eq!(number.get(), 7),
            Err(stop) => panic!("{stop}"),
        }
        state = context.state().clone();
    }
    panic!("it doesn't end");
}

#[test]
fn a_call_that_stopped_can_be_answered_instead() {
    for (name, engine) in engines(&program("mov %r6, 5\ncall 1\nadd %r0, %r6\nexit"), 8) {
        let (mut memory, mut host) = (Memory::new(8), Host::default());
        let mut context = Context::new(start(&[], 0), &mut memory, &mut host);
        assert_eq!(engine.run(&mut context), Err(Stop::Helper(7.try_into().unwrap())), "{name}");
        assert_eq!(context.state().slot(), 1, "{name}");
        context.state_mut().answer(37);
        assert_eq!(engine.run(&mut context), Ok(42), "{name}");
    }
}

#[test]
fn a_program_that_is_cancelled_stops_whatever_it_does() {
    for (name, engine) in engines(&program("again: ja again"), 8) {
        let (mut memory, mut host) = (Memory::new(8), Host::default());
        let flag = AtomicBool::new(false);
        let mut context = Context::new(start(&[], u64::MAX / 2), &mut memory, &mut host).cancelled_by(&flag);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                flag.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            assert_eq!(engine.run(&mut context), Err(Stop::Cancelled), "{name}");
        });
        assert_eq!(engine.run(&mut context), Err(Stop::Cancelled), "{name}: still");
    }
}

#[test]
fn eight_calls_are_under_way_at_most() {
    let deep = |calls| {
        format!(
            "mov %r1, {calls}\ncall local f\nexit\nf: sub %r1, 1\njeq %r1, 0, +1\ncall local f\nmov %r0, 3\nexit"
        )
    };
    assert_eq!(run_everywhere(&deep(7), &[], 100).result, Ok(3));
    assert_eq!(run_everywhere(&deep(8), &[], 100).result, Err(Stop::Depth));
    let through_register = "lddw %r1, code_addr(f)\nf: callx %r1\nexit";
    assert_eq!(run_everywhere(through_register, &[], 100).result, Err(Stop::Depth));
}

#[test]
fn what_isnt_its_own_isnt_accessed() {
    let memory = [7; 64];
    let access = |offset: i64, size: &str| {
        let load = format!("lddw %r3, {offset}\nadd %r3, %r1\nldx{size} %r0, [%r3]\nmov %r0, 1\nexit");
        let store = format!("lddw %r3, {offset}\nadd %r3, %r1\nst{size} [%r3], 7\nmov %r0, 1\nexit");
        let result = run_everywhere(&load, &memory, 0).result;
        assert_eq!(run_everywhere(&store, &memory, 0).result, result);
        result
    };
    for (size, bytes) in [("b", 1), ("h", 2), ("w", 4), ("dw", 8)] {
        for (inside, outside) in
            [(0, 64), (64 - bytes, 65 - bytes), (-4096, -4097), (-1, i64::MIN), (1, i64::MAX)]
        {
            assert_eq!(access(inside, size), Ok(1), "{inside} {size}");
            assert_eq!(access(outside, size), Err(Stop::Access), "{outside} {size}");
        }
    }
    for text in ["mov %r1, 0\nldxdw %r0, [%r1]\nexit", "mov %r1, 8\nlock add [%r1-16], %r1\nexit"] {
        assert_eq!(run_everywhere(text, &memory, 0).result, Err(Stop::Access), "{text}");
    }
}

#[test]
fn a_register_calls_only_functions_whose_address_is_taken_and_helpers() {
    for target in ["3", "-1", "0x4000000000000003", "0x4000000000000000"] {
        let text = format!("lddw %r1, {target}\ncallx %r1\nexit");
        assert_eq!(run_everywhere(&text, &[], 100).result, Err(Stop::Callee), "{text}");
    }
}

#[test]
#[should_panic(expected = "prepared for memory of another size")]
fn memory_has_the_size_that_was_said() {
    let (mut memory, mut host) = (memory_with(&[0; 100]), Host::default());
    assert_eq!(size_of(&[0; 100]), 128);
    let _ = engines(&program("exit"), 64)[0].1.run(&mut Context::new(
        State::new([0; 5], 0),
        &mut memory,
        &mut host,
    ));
}

#[test]
fn what_the_platform_lacks_is_said() {
    use drystone_extension::engine::Interpreter;
    let fault = |text| Interpreter::unproven(program(text), platform(8)).err().unwrap();
    assert_eq!(fault("call 9\nexit"), "instruction 0: there is no helper 9; there are 3");
    assert_eq!(fault("lddw %r0, map_val(map_by_fd(2))\nexit"), "instruction 0: there is no map 2");
    assert_eq!(fault("lddw %r0, var_addr(2)\nexit"), "instruction 0: there is no variable 2");
}
