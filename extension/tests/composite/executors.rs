//! Runs programs by all executors, for tests and fuzzers.

use std::sync::Arc;

use drystone_extension::composite::*;

use crate::generate;
use crate::script::Script;

const ALLOWANCE: Allowance = Allowance { rounds: 20_000, texts: 1 << 20 };
/// What strangers may send, and use.
pub const LIMITS: Limits = Limits { program: 1 << 16, words: 1 << 12, texts: 1 << 8 };
const LITTLE: Allowance = Allowance { rounds: 5000, texts: 1 << 16 };

/// What came of a run: every time that it stopped with an error, and what was there in the end.
#[derive(Debug, PartialEq)]
struct Outcome {
    failures: Vec<Failure>,
    done: Vec<String>,
    out: Vec<u8>,
}

/// None if it used up its budget, which isn't the same for all.
fn outcome(prepared: &[&Arc<Prepared<Script>>], values: &[u8], slice: u64, patience: u32) -> Option<Outcome> {
    let first = prepared[0];
    let mut table = VarTable::new(first.layout().clone());
    generate::fill(values, &mut table, &first.program().variables);
    let script = Script::patient(patience);
    let mut run = Run::new(first.clone(), table, script, ALLOWANCE).unwrap();
    let mut failures = Vec::new();
    for turn in 1.. {
        match run.resume(slice) {
            Step::Ended => break,
            Step::Waits | Step::Yields => {}
            Step::Stopped(Why::Failed(failure)) => {
                // What is wrong stays wrong; only calls may succeed when they are tried again.
                let again = failures.last() == Some(&failure) && failures.len() > 1;
                failures.push(failure);
                if again || failures.len() > 20 {
                    break;
                }
            }
            Step::Stopped(why) => {
                assert_eq!(why, Why::Budget);
                return None;
            }
        }
        if turn > 1_000_000 {
            panic!("it doesn't end");
        }
        let next = prepared[turn % prepared.len()];
        if prepared.len() > 1 {
            run.go_on_with(next.clone()).unwrap();
        }
    }
    let out = run.encode_out();
    let done = run.services().done.clone();
    Some(Outcome { failures, done, out })
}

fn prepare(program: &Program, by: Executor) -> Arc<Prepared<Script>> {
    match Prepared::new(program.clone(), &Limits::default(), by) {
        Ok(prepared) => Arc::new(prepared),
        Err(refusal) => panic!("{refusal}\n{program:#?}"),
    }
}

/// Whether the outcomes could be compared.
pub fn agree(bytes: &[u8], values: &[u8]) -> bool {
    let program = generate::program(bytes);
    let encoded = program.encode();
    // By their bytes: a REAL may be no number, which isn't equal to itself.
    assert_eq!(Program::decode(&encoded, &Limits::default()).map(|it| it.encode()), Ok(encoded));
    let tree = prepare(&program, Executor::Tree);
    let interpreter = prepare(&program, Executor::Interpreter);
    let jit = Arc::new(interpreter.with(Executor::Jit(5)).unwrap().unwrap());
    let Some(expected) = outcome(&[&tree], values, u64::MAX, 0) else { return false };
    for (name, prepared) in [
        ("tree", vec![&tree]),
        ("interpreter", vec![&interpreter]),
        ("jit", vec![&jit]),
        ("by turns", vec![&interpreter, &jit]),
    ] {
        for slice in [u64::MAX, 1, 2, 3, 7] {
            for patience in [0, 1] {
                let Some(found) = outcome(&prepared, values, slice, patience) else { continue };
                assert_eq!(
                    found, expected,
                    "{name} in pieces of {slice}, patience {patience}: {:?}",
                    program.code
                );
            }
        }
    }
    true
}

/// What is done with bytes that came from somewhere: gives whether they were a program that ran.
pub fn take(bytes: &[u8], values: &[u8]) -> bool {
    let Ok(program) = Program::decode(bytes, &LIMITS) else { return false };
    assert_eq!(program.encode(), bytes, "there is one form of each program");
    let mut ran = false;
    for by in [Executor::Tree, Executor::Jit(3)] {
        let Ok(prepared) = Prepared::new(program.clone(), &LIMITS, by) else { continue };
        let prepared = Arc::new(prepared);
        let mut table = VarTable::new(prepared.layout().clone());
        let _ = table.decode_in(values);
        let Ok(mut run) = Run::new(prepared, table, Script::default(), LITTLE) else { continue };
        let mut steps = 0;
        while matches!(run.resume(1000), Step::Waits | Step::Yields) {
            steps += 1;
            assert!(steps < 100, "it has a budget");
        }
        run.encode_out();
        ran = true;
    }
    ran
}
