//! The programs of *composite calls*, and those of Off++ with call arrays.

use std::sync::Arc;

use drystone_extension::composite::builder::*;
use drystone_extension::composite::*;

use crate::store::{Store, bank, file};

pub const EXECUTORS: [Executor; 3] = [Executor::Tree, Executor::Interpreter, Executor::Jit(7)];

/// The paper's Figure 3, and how many bytes were copied.
pub fn copy() -> (Program, Var<i64>, Var<i64>) {
    let vars = Builder::new();
    let (source, target) = (vars.communication(&file()), vars.communication(&file()));
    let (piece, copied) = (vars.input::<i64>(), vars.out::<i64>());
    let buf = vars.local::<Text>();
    let program = vars.program(sequence([
        source.call("Read", (piece,), "Data", (buf,)),
        while_(
            buf.length().gt(0),
            sequence([
                target.call("Write", (buf,), "Written", ()),
                copied.set(copied + buf.length()),
                source.call("Read", (piece,), "Data", (buf,)),
            ]),
        ),
    ]));
    (program.unwrap(), piece, copied)
}

/// Runs a program to its end; what was in the table and with the services then.
pub fn run(
    program: &Program,
    by: Executor,
    fill: impl FnOnce(&mut VarTable),
    store: Store,
) -> (Step, VarTable, Store) {
    let prepared = Arc::new(Prepared::new(program.clone(), &Limits::default(), by).unwrap());
    let mut table = VarTable::new(prepared.layout().clone());
    fill(&mut table);
    let allowance = Allowance { rounds: 1_000_000, texts: 1 << 24 };
    let mut run = Run::new(prepared, table, store, allowance).unwrap();
    let step = run.resume(u64::MAX);
    let (table, store) = run.into_parts();
    (step, table, store)
}

#[test]
fn a_file_is_copied() {
    let bytes: Vec<u8> = (0..100_000u32).map(|it| it as u8).collect();
    let (program, piece, copied) = copy();
    let interfaces = [file(), file()];
    program.check_interfaces(&interfaces.iter().collect::<Vec<_>>()).unwrap();
    for by in EXECUTORS {
        let (step, table, store) =
            run(&program, by, |table| table.assign(piece, 1000).unwrap(), Store::of(&[&bytes, b""]));
        assert_eq!(step, Step::Ended, "{by:?}");
        assert_eq!(table.value(copied), Some(100_000));
        assert!(store.files[1].bytes == bytes);
    }
}

/// The client builds a program and a table, and has only bytes of them go to the server and back.
#[test]
fn programs_and_tables_cross_as_bytes() {
    let (program, piece, copied) = copy();
    let mut mine = VarTable::of(&program).unwrap();
    mine.assign(piece, 3).unwrap();
    let (sent, values) = (program.encode(), mine.encode_in());
    assert_eq!(values, [0, 0, 0, 0, 0, 0, 0, 3]);

    let theirs = Program::decode(&sent, &Limits::default()).unwrap();
    let (step, table, store) = run(
        &theirs,
        Executor::Jit(1),
        |table| table.decode_in(&values).unwrap(),
        Store::of(&[b"Hello", b""]),
    );
    assert_eq!((step, &store.files[1].bytes[..]), (Step::Ended, &b"Hello"[..]));
    let values = table.encode_out();
    assert_eq!(values, [0, 0, 0, 0, 0, 0, 0, 5]);
    mine.decode_out(&values).unwrap();
    assert_eq!(mine.value(copied), Some(5));
}

#[test]
fn many_resources_are_allocated_at_once() {
    let vars = Builder::new();
    let bank = vars.communication(&bank());
    let (sizes, numbers, given) = (vars.inputs::<i64>(4), vars.outs::<i64>(4), vars.outs::<i64>(4));
    let i = vars.local();
    let allocate = bank.call("Allocate", (sizes.at(i),), "Allocated", (numbers.at(i), given.at(i)));
    let program = vars.program(for_(i, 0, 3, allocate)).unwrap();
    for by in EXECUTORS {
        let fill = |table: &mut VarTable| {
            (0..4).for_each(|it| table.assign_element(sizes, it, 10 * i64::from(it)).unwrap());
        };
        let (step, table, store) = run(&program, by, fill, Store::of(&[]));
        assert_eq!(step, Step::Ended);
        assert_eq!(table.values(numbers), [101, 102, 103, 104]);
        assert_eq!(table.values(given), [0, 20, 40, 60]);
        assert_eq!(store.lent, [0, 10, 20, 30]);
    }
}

#[test]
fn texts_are_gathered_and_scattered() {
    let vars = Builder::new();
    let (source, target) = (vars.communication(&file()), vars.communication(&file()));
    let parts = vars.outs::<Text>(3);
    let i = vars.local();
    let program = vars.program(sequence([
        for_(i, 0, 2, source.call("Read", (i + 1,), "Data", (parts.at(i),))),
        for_(i, 0, 2, target.call("Write", (parts.at(-(i - 2)),), "Written", ())),
    ]));
    let program = program.unwrap();
    for by in EXECUTORS {
        let (step, table, store) = run(&program, by, |_| {}, Store::of(&[b"abcdef", b""]));
        assert_eq!(step, Step::Ended);
        assert_eq!(table.values(parts), ["a", "bc", "def"].map(|it| Text::from(it.as_bytes())));
        assert_eq!(store.files[1].bytes, b"defbca");
    }
}

/// Off++'s Move: columns of a matrix become rows, records are spread out.
#[test]
fn strided_moves_copy_items() {
    let vars = Builder::new();
    let (matrix, turned, records) = (vars.inputs::<i64>(6), vars.outs::<i64>(6), vars.outs::<i64>(9));
    let program = vars.program(sequence([
        strided((matrix, 0, 3), (turned, 0, 1), 1, 2),
        strided((matrix, 1, 3), (turned, 2, 1), 1, 2),
        strided((matrix, 2, 3), (turned, 4, 1), 1, 2),
        strided((matrix, 0, 2), (records, 0, 3), 2, 3),
        // Backwards, and one item again and again.
        strided((matrix, 5, -1), (records, 2, 3), 1, 3),
        strided((matrix, 0, 0), (turned, 0, 1), 1, 2),
    ]));
    let program = program.unwrap();
    for by in EXECUTORS {
        let fill = |table: &mut VarTable| {
            (0..6).for_each(|it| table.assign_element(matrix, it, i64::from(it)).unwrap());
        };
        let (step, table, _) = run(&program, by, fill, Store::of(&[]));
        assert_eq!(step, Step::Ended);
        assert_eq!(table.values(turned), [0, 0, 1, 4, 2, 5]);
        assert_eq!(table.values(records), [0, 1, 5, 2, 3, 4, 4, 5, 3]);
    }
}

/// A program is handed on: another component adds its calls.
#[test]
fn a_program_is_extended_by_another() {
    let first = Builder::new();
    let source = first.communication(&file());
    let buf = first.out::<Text>();
    let program = first.program(source.call("Read", (5,), "Data", (buf,))).unwrap();
    let sent = program.encode();

    let second = Builder::extending(Program::decode(&sent, &Limits::default()).unwrap());
    let target = second.communication(&file());
    let written = second.out::<bool>();
    let program = second
        .program(sequence([target.call("Write", (buf + text("!"),), "Written", ()), written.set(true)]));
    let program = program.unwrap();
    for by in EXECUTORS {
        let (step, table, store) = run(&program, by, |_| {}, Store::of(&[b"Hello", b""]));
        assert_eq!((step, table.value(written)), (Step::Ended, Some(true)));
        assert_eq!(store.files[1].bytes, b"Hello!");
    }
}

#[test]
fn what_doesnt_fit_the_interface_is_said_by_the_builder() {
    let wrong = |write: &dyn Fn(&Builder, &Communication) -> Command| {
        let vars = Builder::new();
        let source = vars.communication(&file());
        vars.program(write(&vars, &source)).unwrap_err().0.split_once(": ").unwrap().1.to_string()
    };
    assert_eq!(
        wrong(&|_, it| it.send("Raed", (1,))),
        "File has no message Raed that clients send; it has IN Read(x: INTEGER), OUT Data(x: TEXT), \
         IN Write(x: TEXT), OUT Written"
    );
    assert_eq!(wrong(&|_, it| it.send("Read", (text("1"),))), "Read carries (INTEGER), not (TEXT)");
    assert_eq!(
        wrong(&|vars, it| it.receive("Data", (vars.locals::<Text>(3).at(1),))),
        "a message's value goes to an element whose index is a variable; assign it to one first"
    );
}
