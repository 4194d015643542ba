//! Refused pipes and lists, with their messages.

use std::string::{String, ToString};

use crate::bytecode::{Program, assemble};
use crate::pipe::{
    Attributes, Comparison, Fault, Gauge, Mode, Pass, Pipe, Pipes, Register, Stride, Writer, ready,
};

const BITS32: (Gauge, Gauge) = (Gauge::Bits32, Gauge::Bits32);

fn refused((input, output): (Gauge, Gauge), attributes: Attributes, write: impl FnOnce(&Writer)) -> String {
    Pipe::new("p", input, output, attributes, write).unwrap_err().to_string()
}

fn as_written(write: impl FnOnce(&Writer)) -> String {
    refused(BITS32, Attributes::default(), write)
}

#[test]
fn widths_must_match() {
    let mixed = as_written(|it| it.output(it.input() + it.number(Gauge::Bits8, 1)));
    assert_eq!(mixed, "p: values of 32 bits and of 8 bits together: widen one of them, or narrow one");
    let large = as_written(|it| it.output(it.number(Gauge::Bits8, 256)));
    assert_eq!(large, "p: the number 256 doesn't fit into 8 bits");
    let output = as_written(|it| it.output(it.input().widened(Gauge::Bits64)));
    assert_eq!(output, "p: the output has 64 bits, the output gauge is 32 bits: widen or narrow");
    let narrower = as_written(|it| it.output(it.input().widened(Gauge::Bits8)));
    assert_eq!(narrower, "p: a value of 32 bits can't be widened to 8 bits: narrow it");
    let wider = as_written(|it| it.output(it.input().narrowed(Gauge::Bits64)));
    assert_eq!(wider, "p: a value of 32 bits can't be narrowed to 64 bits: widen it");
    let joined = as_written(|it| {
        let wide = it.input().widened(Gauge::Bits64);
        it.output(wide.joined(wide).narrowed(Gauge::Bits32));
    });
    assert_eq!(joined, "p: two values of 64 bits can't be joined: 128 are too many");
    let register = as_written(|it| {
        it.register(Register { width: Gauge::Bits8, initial: 0, persists: true }).becomes(it.input());
    });
    assert_eq!(register, "p: a register of 8 bits can't become a value of 32 bits: widen or narrow that");
    let initial = as_written(|it| {
        it.register(Register { width: Gauge::Bits8, initial: 256, persists: true });
    });
    assert_eq!(initial, "p: 256 doesn't fit into a register of 8 bits");
    let sum = as_written(|it| it.output(it.input().widened(Gauge::Bits64).crc32c(it.input())));
    assert_eq!(sum, "p: a CRC32C has 32 bits, not 64 bits");
    let byte = as_written(|it| it.output(it.input().adler32(it.input())));
    assert_eq!(byte, "p: what an Adler-32 takes in has 8 bits, not 32 bits");
    let entry = as_written(|it| it.table(4).set(it.input(), it.input()));
    assert_eq!(entry, "p: a table's entry has 64 bits, not 32 bits");
    let selected = as_written(|it| {
        let wide = it.number(Gauge::Bits64, 1);
        it.output(it.input().select(Comparison::Equal, 1, it.input(), wide));
    });
    assert_eq!(selected, "p: values of 32 bits and of 64 bits together: widen one of them, or narrow one");
}

#[test]
fn pipes_have_limits() {
    let register = Register { width: Gauge::Bits8, initial: 0, persists: true };
    let registers = as_written(|it| (0..17).for_each(|_| _ = it.register(register)));
    assert_eq!(registers, "p: a pipe has at most 16 registers");
    let tables = as_written(|it| (0..5).for_each(|_| _ = it.table(4)));
    assert_eq!(tables, "p: a pipe has at most 4 tables");
    let entries = as_written(|it| _ = it.table(3));
    assert_eq!(entries, "p: a table of 3 entries: take a power of two, at most 65536");
    for steps in [200, 2000] {
        let long = as_written(|it| {
            let word = (0..steps).fold(it.input(), |word, step| (word ^ step) * word);
            it.output(word);
        });
        assert_eq!(long, "p: a pipe does at most 128 steps for a word: make it two pipes");
    }
}

#[test]
fn attributes_must_be_true() {
    let keeps = Attributes { keeps: true, ..Attributes::default() };
    let modifies = refused(BITS32, keeps, |it| it.output(it.input() + 1));
    assert_eq!(modifies, "p: it is said to keep the words, and its output isn't its input: leave out one");
    let nothing = refused((Gauge::Bits8, Gauge::Bits16), Attributes::default(), |_| {});
    assert_eq!(nothing, "p: words of 8 bits come in, 16 bits have to go out: say what (output)");
}

fn list(pipes: impl IntoIterator<Item = Pipe>) -> Pipes {
    let mut list = Pipes::new();
    pipes.into_iter().for_each(|pipe| _ = list.add(pipe));
    list
}

#[test]
fn lists_have_limits() {
    let refused = |list: Pipes| list.compile(Mode::Write).unwrap_err().to_string();
    assert_eq!(
        refused(list([ready::hex(), ready::from_hex()])),
        "hex and from hex both change the length of the data, and a list has one such pipe: make it two passes"
    );
    assert_eq!(refused(list((0..33).map(|_| ready::copy()))), "33 pipes: a list has at most 32");
    let tables = |_| {
        let none = Attributes::default();
        Pipe::new("large", Gauge::Bits8, Gauge::Bits8, none, |it| _ = it.table(1 << 16)).unwrap()
    };
    assert_eq!(
        refused(list((0..5).map(tables))),
        "the tables have too many entries together: there may be 262144"
    );
    let mut strided = Pipes::new();
    strided.source(Stride { run: 0, gap: 16 });
    assert_eq!(refused(strided), "data with rows of 0 bytes: there is none");
    // SAFETY: nothing is placed.
    let placed = unsafe {
        let none = |_: &[u8]| -> Result<std::vec::Vec<u8>, String> { Err("there is no memory".into()) };
        Pipes::new().compile_in(Mode::Write, crate::pipe::Features::NONE, none)
    };
    assert_eq!(placed.unwrap_err().to_string(), "there is no memory");
}

fn pass(pipes: impl IntoIterator<Item = Pipe>, mode: Mode) -> Pass {
    list(pipes).compile(mode).unwrap()
}

#[test]
fn runs_that_make_no_sense_do_nothing() {
    let write = pass([ready::crc32c()], Mode::Write);
    let read = pass([ready::crc32c()], Mode::Read);
    let mut registers = write.registers();
    let mut memory = [7; 8];
    let room = write.run(&[1; 9], &mut memory, &mut registers).unwrap_err();
    assert_eq!(room, Fault::Room { there: 8, needed: 9 });
    assert_eq!(room.to_string(), "the destination has 8 bytes, and 9 would be written: make it larger");
    assert_eq!(write.read(&memory, &mut registers), Err(Fault::Mode));
    assert_eq!(read.run(&[1], &mut memory, &mut read.registers()), Err(Fault::Mode));
    assert_eq!(read.read(&memory, &mut registers), Err(Fault::Registers));
    assert_eq!(write.run_within(&mut memory, 0..9, 0, &mut registers), Err(Fault::Outside));
    assert_eq!(write.run_within(&mut memory, 0..1, 9, &mut registers), Err(Fault::Outside));
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = write.run_within(&mut memory, 5..1, 0, &mut registers);
    assert_eq!(reversed, Err(Fault::Outside));
    assert_eq!(write.run_within(&mut memory, 0..4, 2, &mut registers), Err(Fault::Backwards));
    let hex = pass([ready::hex()], Mode::Write);
    assert_eq!(hex.run_within(&mut memory, 0..4, 0, &mut hex.registers()), Err(Fault::Overlap));
    let large = hex.run_within(&mut memory, 0..8, 0, &mut hex.registers());
    assert_eq!(large, Err(Fault::Room { there: 8, needed: 16 }));
    assert_eq!(memory, [7; 8]);
    for fault in [Fault::Mode, Fault::Registers, Fault::Backwards, Fault::Overlap, Fault::Outside] {
        assert!(fault.to_string().len() > 20);
    }
}

#[test]
fn registers_that_are_not_there_are_said_to_be() {
    let mut list = Pipes::new();
    let crc = list.add(ready::crc32c());
    let histogram = list.add(ready::histogram());
    let mut registers = list.compile(Mode::Read).unwrap().registers();
    assert_eq!(registers.export(crc.number(1)), Err(Fault::Missing));
    assert_eq!(registers.export(histogram), Err(Fault::Missing));
    assert_eq!(registers.table(crc), Err(Fault::Missing));
    assert_eq!(registers.import(list.add(ready::copy()), 1), Err(Fault::Missing));
    assert_eq!(registers.import(crc, 1 << 32), Err(Fault::Wide));
    assert_eq!(registers.import(crc, 7), Ok(()));
    assert_eq!(registers.export(crc), Ok(7));
    registers.table_mut(histogram).unwrap()[3] = 4;
    assert_eq!(registers.table(histogram).unwrap()[3], 4);
}

fn program(text: &str) -> Result<Pipe, String> {
    let program = Program::decode(&assemble(text).unwrap()).unwrap();
    let sum = Register { width: Gauge::Bits32, initial: 0, persists: true };
    let made = Pipe::of_program("p", BITS32, Attributes::default(), &[sum], program);
    made.map_err(|refusal| refusal.to_string())
}

#[test]
fn programs_say_where_they_are_refused() {
    let refused = |text| program(text).unwrap_err();
    assert_eq!(
        refused("mov %r0, %r1\nadd %r0, 1\njne %r0, 9, -2\nexit"),
        "p: instruction 2, `jne %r0, 9, -2`: a pipe goes on to its end: it has no loops"
    );
    assert_eq!(
        refused("mov %r0, %r1\ndiv %r0, 3\nexit"),
        "p: instruction 1, `div %r0, 3`: a pipe can't divide: shift, or multiply with an inverse"
    );
    assert_eq!(
        refused("ldxw %r0, [%r2]\nexit"),
        "p: instruction 0, `ldxw %r0, [%r2+0]`: registers of pipes, and the stack, are read and written 8 bytes at once"
    );
    assert_eq!(
        refused("mov %r0, %r2\nsub %r0, %r1\nexit"),
        "p: instruction 1, `sub %r0, %r1`: it computes with an address: only constants can be added to those"
    );
    assert!(refused("ldxdw %r0, [%r2+8]\nexit").starts_with("p: instruction 0"));
    assert!(refused("ldxdw %r0, [%r3]\nexit").starts_with("p: instruction 0"));
    assert!(refused("exit").starts_with("p: instruction 0"));
    assert!(refused("call 9\nexit").starts_with("p: instruction 0"));
}
