//! Runs that wait, stop and are resumed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use drystone_component::Type;
use drystone_extension::composite::builder::*;
use drystone_extension::composite::*;

use crate::programs::EXECUTORS;
use crate::store::{Store, bank, file};

fn begin(program: &Program, by: Executor, store: Store, rounds: u64) -> Run<Store> {
    let prepared = Arc::new(Prepared::new(program.clone(), &Limits::default(), by).unwrap());
    let table = VarTable::new(prepared.layout().clone());
    Run::new(prepared, table, store, Allowance { rounds, texts: 1 << 16 }).unwrap()
}

fn failure(step: Step) -> (Fault, String) {
    match step {
        Step::Stopped(Why::Failed(Failure { fault, detail, .. })) => (fault, detail),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_goes_on_when_the_table_has_been_put_right() {
    let vars = Builder::new();
    let (a, b, quotient) = (vars.both::<i64>(), vars.both::<i64>(), vars.out::<i64>());
    let program = sequence([a.set(a + 84), quotient.set((a + 0).div(b)), quotient.set(quotient + 1)]);
    let program = vars.program(program).unwrap();
    for by in EXECUTORS {
        let mut run = begin(&program, by, Store::of(&[]), 100);
        for _ in 0..3 {
            assert_eq!(failure(run.resume(10)).0, Fault::DivisionByZero);
        }
        run.set(b.number(), 0, Value::Integer(2)).unwrap();
        assert_eq!(run.resume(10), Step::Ended, "{by:?}");
        let (table, _) = run.into_parts();
        // What was done before wasn't done again.
        assert_eq!((table.value(a), table.value(quotient)), (Some(84), Some(43)));
    }
}

#[test]
fn what_has_come_is_kept_until_it_has_its_place() {
    let vars = Builder::new();
    let bank = vars.communication(&bank());
    let (numbers, i, size) = (vars.outs::<i64>(2), vars.local::<i64>(), vars.out::<i64>());
    let allocate = bank.call("Allocate", (5,), "Allocated", (numbers.at(i), size));
    let program = vars.program(sequence([i.set(2), allocate])).unwrap();
    for by in EXECUTORS {
        let mut run = begin(&program, by, Store::of(&[]), 100);
        assert_eq!(failure(run.resume(10)).0, Fault::IndexOutOfBounds);
        run.set(i.number(), 0, Value::Integer(1)).unwrap();
        assert_eq!(run.resume(10), Step::Ended);
        let (table, store) = run.into_parts();
        assert_eq!((table.values(numbers), table.value(size)), (vec![0, 101], Some(10)));
        assert_eq!(store.lent, [5]);
    }
}

#[test]
fn calls_wait_and_nothing_is_said_twice() {
    let vars = Builder::new();
    let source = vars.communication(&file());
    let buf = vars.out::<Text>();
    let program = vars.program(source.call("Read", (3,), "Data", (buf,))).unwrap();
    for by in EXECUTORS {
        let mut run = begin(&program, by, Store::busy(&[b"abcdef"]), 100);
        assert_eq!(run.resume(1), Step::Yields);
        // Waiting costs nothing.
        for _ in 0..1000 {
            assert_eq!(run.resume(1), Step::Waits);
        }
        run.services().is_busy = false;
        let steps: Vec<Step> = (0..3).map(|_| run.resume(1)).collect();
        assert_eq!(steps.last(), Some(&Step::Ended));
        assert_eq!(run.get(buf.number(), 0), Some(Value::from("abc")));
    }
}

/// AbortOnError and DoNotAbortOnError.
#[test]
fn calls_that_fail_stop_the_program_or_dont() {
    let vars = Builder::new();
    let source = vars.communication(&file());
    let (buf, log) = (vars.local::<Text>(), vars.out::<Text>());
    let note = |what: &str| log.set(log + text(what));
    let program = sequence([
        do_not_abort_on_error(),
        source.send("Read", (3,)),
        if_else(failed(), note("lost "), note("sent ")),
        source.receive("Data", (buf,)),
        if_(failed(), note("lost ")),
        abort_on_error(),
        source.send("Read", (3,)),
        if_(failed(), note("not reached ")),
        source.receive("Data", (buf,)),
        if_(!failed(), note("well ")),
    ]);
    let program = vars.program(program).unwrap();
    for by in EXECUTORS {
        let mut store = Store::of(&[b"abcdef"]);
        store.lost[0] = true;
        let mut run = begin(&program, by, store, 100);
        for _ in 0..2 {
            let why = failure(run.resume(10));
            assert_eq!(why, (Fault::ProtocolViolation, "the other side has gone".into()));
            assert_eq!(run.get(log.number(), 0), Some(Value::from("lost lost ")));
        }
        // It is resumed where it has its communications, when they are there again.
        run.services().lost[0] = false;
        assert_eq!(run.resume(10), Step::Ended);
        assert_eq!(run.get(log.number(), 0), Some(Value::from("lost lost well ")));
    }
}

/// An endless loop, which no program can keep from being stopped.
fn endless() -> Program {
    let vars = Builder::new();
    let rounds = vars.out::<i64>();
    vars.program(while_(true, rounds.set(rounds + 1))).unwrap()
}

#[test]
fn who_spends_all_stops_and_goes_on_with_more() {
    for by in EXECUTORS {
        let mut run = begin(&endless(), by, Store::of(&[]), 1000);
        let mut turns = 0;
        while run.resume(64) == Step::Yields {
            turns += 1;
        }
        assert_eq!((turns, run.resume(64)), (15, Step::Stopped(Why::Budget)), "{by:?}");
        run.allow(500);
        assert_eq!(run.resume(1000), Step::Stopped(Why::Budget));
        // Engines take from the budget before a round, the tree behind it.
        let Some(Value::Integer(rounds)) = run.get(0, 0) else { panic!() };
        assert!((1500..=1501).contains(&rounds), "{by:?}: {rounds}");
    }
}

#[test]
fn what_is_cancelled_stops_whatever_it_does() {
    for by in EXECUTORS {
        let mut run = begin(&endless(), by, Store::of(&[]), u64::MAX);
        let flag = run.cancel_flag().clone();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            flag.store(true, Ordering::Relaxed);
        });
        assert_eq!(run.resume(u64::MAX), Step::Stopped(Why::Cancelled), "{by:?}");
        canceller.join().unwrap();
        assert_eq!(run.resume(u64::MAX), Step::Stopped(Why::Cancelled));
        run.cancel_flag().store(false, Ordering::Relaxed);
        assert_eq!(run.resume(10), Step::Yields);
    }
}

#[test]
fn texts_have_a_limit() {
    let vars = Builder::new();
    let all = vars.out::<Text>();
    let program =
        vars.program(sequence([all.set(text("0123456789")), while_(true, all.set(all + all))])).unwrap();
    for by in EXECUTORS {
        let mut run = begin(&program, by, Store::of(&[]), 1 << 20);
        assert_eq!(failure(run.resume(1 << 20)).0, Fault::OutOfMemory);
        let Some(Value::Text(text)) = run.get(all.number(), 0) else { panic!() };
        assert_eq!(text.len(), 40960, "{by:?}");
    }
    let mut table = VarTable::of(&program).unwrap();
    table.assign(all, Text::from(vec![0; 1 << 17])).unwrap();
    let prepared = Arc::new(Prepared::<Store>::new(program, &Limits::default(), Executor::Tree).unwrap());
    let allowance = Allowance { rounds: 1, texts: 1 << 16 };
    let refused = Run::new(prepared.clone(), table.clone(), Store::of(&[]), allowance).err().unwrap();
    assert_eq!(refused.0, "the variable table is another program's");
    let mut table = VarTable::new(prepared.layout().clone());
    table.assign(all, Text::from(vec![0; 1 << 17])).unwrap();
    let refused = Run::new(prepared, table, Store::of(&[]), allowance).err().unwrap();
    assert_eq!(refused.0, "the texts in the variable table have more than the 65536 bytes that are allowed");
}

/// A loop that began in the interpreter goes on compiled, and back.
#[test]
fn engines_take_turns_with_a_run() {
    let vars = Builder::new();
    let (i, sum) = (vars.local::<i64>(), vars.out::<i64>());
    let program = vars.program(for_(i, 1, 1000, sum.set(sum + i))).unwrap();
    let interpreted = Arc::new(Prepared::new(program, &Limits::default(), Executor::Interpreter).unwrap());
    let compiled = Arc::new(interpreted.with(Executor::Jit(3)).unwrap().unwrap());
    let table = VarTable::new(interpreted.layout().clone());
    let allowance = Allowance { rounds: 10_000, texts: 0 };
    let mut run = Run::new(interpreted.clone(), table, Store::of(&[]), allowance).unwrap();
    for turn in 0.. {
        if run.resume(13) == Step::Ended {
            break;
        }
        let next = if turn % 2 == 0 { &compiled } else { &interpreted };
        run.go_on_with(next.clone()).unwrap();
    }
    assert_eq!(run.get(sum.number(), 0), Some(Value::Integer(500_500)));
    let other = Arc::new(Prepared::new(endless(), &Limits::default(), Executor::Interpreter).unwrap());
    assert!(run.go_on_with(other).is_err());
}

#[test]
fn tables_say_what_doesnt_fit() {
    let program = endless();
    let mut table = VarTable::of(&program).unwrap();
    let mut said = |variable, index, value: Value| table.set(variable, index, value).unwrap_err().0;
    assert_eq!(said(9, 0, true.into()), "there is no variable 9");
    assert_eq!(said(0, 1, 5i64.into()), "variable 0 has 1 elements, and none is 1");
    assert_eq!(said(0, 0, true.into()), "variable 0 is INTEGER, not BOOLEAN");
    assert_eq!(table.decode_out(&[0; 4]).unwrap_err().0, "variable 0 of the table: an INTEGER is cut off");
    assert_eq!(
        table.decode_in(&[0; 4]).unwrap_err().0,
        "the table doesn't fit the program's variables: 4 bytes too many"
    );
    assert_eq!(Value::initial(Type::Text), Value::from(""));
}

#[test]
fn long_texts_are_paid_also_where_nothing_loops() {
    let vars = Builder::new();
    let (hay, found, done) = (vars.input::<Text>(), vars.local::<i64>(), vars.out::<i64>());
    let look = || [found.set(hay.find(text("x"), 0)), done.set(done + 1)];
    let program = vars.program(sequence((0..100).flat_map(|_| look()).collect::<Vec<_>>())).unwrap();
    for by in EXECUTORS {
        let mut run = begin(&program, by, Store::of(&[]), 10_000);
        run.set(hay.number(), 0, Value::Text(vec![0; 60_000].into())).unwrap();
        let mut turns = 0;
        while run.resume(64) == Step::Yields {
            turns += 1;
        }
        assert_eq!(run.resume(64), Step::Stopped(Why::Budget), "{by:?}");
        let Some(Value::Integer(done)) = run.get(done.number(), 0) else { panic!() };
        // Each costs 938 rounds, more than a turn has: another one's turn is after each.
        assert!((10..=12).contains(&done) && turns >= 10, "{by:?}: {done} in {turns} turns");
    }
}

/// A change copies a text that another variable has too.
#[test]
fn changes_of_texts_that_are_shared_are_paid() {
    for appends in [true, false] {
        let vars = Builder::new();
        let (all, other, done) = (vars.input::<Text>(), vars.local::<Text>(), vars.out::<i64>());
        let change = if appends { all.set(all + text("x")) } else { all.set_byte(0, b'x') };
        let program = sequence([other.set(all), change, done.set(done + 1)]);
        let program = vars.program(while_(true, program)).unwrap();
        for by in EXECUTORS {
            let mut run = begin(&program, by, Store::of(&[]), 10_000);
            run.set(all.number(), 0, Value::Text(vec![0; 30_000].into())).unwrap();
            while run.resume(64) == Step::Yields {}
            let Some(Value::Integer(done)) = run.get(done.number(), 0) else { panic!() };
            // Each costs 470 rounds.
            assert!((20..=22).contains(&done), "{by:?}, appends: {appends}: {done}");
        }
    }
}
