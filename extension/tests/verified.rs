//! Verified programs do in every engine what they do with all accesses checked.

mod engines;
mod programs;

use std::cell::{Cell, RefCell};

use drystone_extension::Verified;
use drystone_extension::bytecode::{Program, disassemble};
use drystone_extension::engine::jit::{Constants, Jit, pages};
use drystone_extension::engine::{Interpreter, Memory, State, Stop};
use drystone_extension::verifier::{Contract, Given, Helper, Wanted, Workspace, verify};
use engines::{End, Engine, platform, run, run_in};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const MEMORY: [u8; 64] = [0xa5; 64];
const BUDGET: u64 = 40;

/// What [`engines::run`] gives to programs.
fn contract() -> Contract {
    let helper = |name| Helper {
        name,
        wants: vec![Wanted::Anything; 5],
        gives: Given::Number(0, u64::MAX),
        moves: None,
    };
    let helpers = ["gather", "hesitate", "increment"].into_iter().enumerate();
    Contract {
        helpers: helpers.map(|(number, name)| (number as u32, helper(name))).collect(),
        ..Contract::of_own_memory(MEMORY.len() as u32)
    }
}

fn engines_of(verified: &Verified) -> [Box<dyn Engine>; 3] {
    let platform = platform(MEMORY.len());
    // SAFETY: platform and runs are as the contract says, and pages as the compiler asks for them.
    unsafe {
        [
            Box::new(Interpreter::new(verified, platform).unwrap()),
            Box::new(Jit::new(verified, platform, Constants::Plain, pages).unwrap()),
            Box::new(Jit::new(verified, platform, Constants::Blinded(9), pages).unwrap()),
        ]
    }
}

/// How it ends where every access is checked. None where it leaves its memory, but not what is checked: the stack is
/// next to it, and what is verified is confined. That shows where its memory lies in the midst of more, whatever that
/// holds.
fn checked_end(program: &Program) -> Option<End> {
    const AROUND: usize = 4096;
    let checked = |bytes| Interpreter::unproven(program.clone(), platform(bytes)).unwrap();
    let end = run(&checked(MEMORY.len()), &MEMORY, BUDGET);
    let stays = [0x5a, 0xff].into_iter().all(|filler| {
        let mut all = [filler; 4 * AROUND];
        all[AROUND..][..MEMORY.len()].copy_from_slice(&MEMORY);
        let mut memory = Memory::new(all.len());
        memory.own_mut().copy_from_slice(&all);
        let begin = Memory::BEGIN + AROUND as u64;
        let state = State::new([begin, MEMORY.len() as u64, 0, 0, 0], BUDGET);
        let elsewhere = run_in(&checked(all.len()), memory, state);
        all[AROUND..][..MEMORY.len()].copy_from_slice(&end.memory);
        elsewhere.result == end.result && elsewhere.memory == all
    });
    stays.then_some(end)
}

#[test]
fn accepted_programs_do_what_checked_ones_do() {
    let (contract, workspace) = (contract(), RefCell::new(Workspace::default()));
    let (accepted, compared) = (Cell::new(0), Cell::new(0));
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_local_rejects: u32::MAX,
        ..Config::default()
    });
    let result = runner.run(&programs::that_make_sense(), |slots| {
        let program = Program::decode(&slots).unwrap();
        let verified = verify(program.clone(), &contract);
        let guards = |verified: &Result<Verified, _>| match verified {
            Ok(verified) => Ok(verified.guards().to_vec()),
            Err(rejection) => Err(format!("{rejection}")),
        };
        let again = workspace.borrow_mut().verify(program.clone(), &contract);
        prop_assert_eq!(guards(&again), guards(&verified), "after others: {}", disassemble(&program));
        let Ok(verified) = verified else { return Ok(()) };
        accepted.set(accepted.get() + 1);
        let ends = engines_of(&verified).map(|engine| run(engine.as_ref(), &MEMORY, BUDGET));
        for end in &ends {
            prop_assert_eq!(end, &ends[0], "{}", disassemble(&program));
        }
        // Guards of other kinds stop elsewhere, and cost something else.
        let differs = |end: &End| matches!(end.result, Err(Stop::Access | Stop::Budget | Stop::Depth));
        let Some(checked) = checked_end(&program) else { return Ok(()) };
        if !differs(&checked) && !differs(&ends[0]) {
            compared.set(compared.get() + 1);
            prop_assert_eq!(&ends[0].result, &checked.result, "{}", disassemble(&program));
            prop_assert_eq!(&ends[0].memory, &checked.memory, "{}", disassemble(&program));
        }
        Ok(())
    });
    result.unwrap();
    assert!(accepted.get() > cases / 50, "only {} of {cases} were accepted", accepted.get());
    assert!(compared.get() > accepted.get() / 10, "only {} could be compared", compared.get());
}
