//! Ready-made pipes, compared with known results.

use std::vec::Vec;

use crate::bytecode::{Program, assemble};
use crate::pipe::{
    Attributes, Comparison, Features, Gauge, Handle, Mode, Pipe, Pipes, Register, Registers, Stride, Vectors,
    ready,
};

const VECTORS: [Vectors; 3] = [Vectors::None, Vectors::Bits128, Vectors::Bits256];

/// Runs one pipe over data on every kind of vectors: gives what came out, and its registers.
fn through(pipe: &Pipe, data: &[u8]) -> (Vec<u8>, Registers) {
    let mut all = VECTORS.map(|vectors| {
        let mut list = Pipes::new();
        list.add(pipe.clone());
        let pass = list.compile_for(Mode::Write, Features { vectors, crc32c: true }).unwrap();
        assert!(pass.size() > 0);
        let mut registers = pass.registers();
        let mut out = std::vec![0; pass.length(data.len())];
        assert_eq!(pass.run(data, &mut out, &mut registers), Ok(out.len()));
        (out, registers)
    });
    for (out, registers) in &all {
        assert_eq!((out, &registers.cells), (&all[0].0, &all[0].1.cells));
    }
    std::mem::replace(&mut all[0], (Vec::new(), Pipes::new().evaluated(Mode::Read).unwrap().registers()))
}

const FIRST: Handle = Handle { pipe: 0, number: 0, first: 0, count: 1 };

fn sum(pipe: &Pipe, data: &[u8]) -> u64 {
    through(pipe, data).1.export(FIRST).unwrap()
}

#[test]
fn crc32c_is_that_of_rfc_3720() {
    let crc = |data: &[u8]| !sum(&ready::crc32c(), data) as u32;
    assert_eq!(crc(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc(&[0xff; 32]), 0x62a8_ab43);
    let ascending: Vec<u8> = (0..32).collect();
    assert_eq!(crc(&ascending), 0x46dd_794e);
    let descending: Vec<u8> = (0..32).rev().collect();
    assert_eq!(crc(&descending), 0x113f_db5c);
    assert_eq!(crc(b"123456789"), 0xe306_9283);
}

#[test]
fn adler32_is_that_of_rfc_1950() {
    assert_eq!(sum(&ready::adler32(), b"Wikipedia"), 0x11e6_0398);
    assert_eq!(sum(&ready::adler32(), b""), 1);
    assert_eq!(sum(&ready::adler32(), &[0xff; 10_000]), super::naive::adler32(1, &[0xff; 10_000]).into());
    // More vectors than its sums have room for at once.
    let long = std::vec![0xff; 1 << 20];
    assert_eq!(sum(&ready::adler32(), &long), super::naive::adler32(1, &long).into());
}

#[test]
fn the_checksum_is_that_of_rfc_1071() {
    // Its example: the sum is ddf2.
    let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    let folded = ready::folded(sum(&ready::internet_checksum(), &data));
    assert_eq!((!folded).to_le_bytes(), [0xdd, 0xf2]);
    // A header of IPv4 that has its checksum gives 0.
    let header =
        [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
    assert_eq!(ready::folded(sum(&ready::internet_checksum(), &header)), 0);
    assert_eq!(sum(&ready::internet_checksum(), &[0xff; 65536]), 0xffff_ffff);
}

#[test]
fn hex_is_what_rust_formats() {
    let data: Vec<u8> = (0..=255).collect();
    let text: std::string::String = data.iter().map(|byte| std::format!("{byte:02x}")).collect();
    assert_eq!(through(&ready::hex(), &data).0, text.as_bytes());
    for text in [text.clone(), text.to_uppercase()] {
        let (back, registers) = through(&ready::from_hex(), text.as_bytes());
        assert_eq!((back, registers.export(FIRST)), (data.clone(), Ok(0)));
    }
    for wrong in [&b"0g"[..], b"/0", b"0:", b"`0", b"@1", b"123", b"\x00\x00"] {
        assert_eq!(sum(&ready::from_hex(), wrong), 1, "{wrong:?}");
    }
}

#[test]
fn others_do_what_they_are_called() {
    assert_eq!(through(&ready::swap16(), &[1, 2, 3]).0, [2, 1, 0]);
    assert_eq!(through(&ready::swap32(), &[1, 2, 3, 4, 5]).0, [4, 3, 2, 1, 0]);
    assert_eq!(through(&ready::swap64(), &[1, 2, 3, 4, 5, 6, 7, 8]).0, [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(through(&ready::xor(0x0807_0605_0403_0201), &[0, 0, 0]).0, [1, 2, 3]);
    let (out, registers) = through(&ready::histogram(), b"hello");
    assert_eq!(out, b"hello");
    let table = registers.table(FIRST).unwrap();
    assert_eq!((table[usize::from(b'l')], table[usize::from(b'h')], table[0]), (2, 1, 0));
    assert_eq!(through(&ready::copy(), b"hello").0, b"hello");
}

#[test]
fn registers_persist_or_not() {
    let count = |persists| {
        let none = Attributes::default();
        Pipe::new("count", Gauge::Bits8, Gauge::Bits8, none, |it| {
            let count = it.register(Register { width: Gauge::Bits32, initial: 5, persists });
            count.becomes(count.value() + 1);
        })
        .unwrap()
    };
    for (persists, expected) in [(true, 13), (false, 9)] {
        let mut list = Pipes::new();
        let handle = list.add(count(persists));
        for pass in [list.evaluated(Mode::Read).unwrap(), list.compile(Mode::Read).unwrap()] {
            let mut registers = pass.registers();
            pass.read(b"four", &mut registers).unwrap();
            pass.read(b"four", &mut registers).unwrap();
            assert_eq!(registers.export(handle), Ok(expected));
        }
    }
}

#[test]
fn rows_of_the_ethernet_become_one_piece() {
    // Section III-C: 16 bytes of data and 16 bytes of padding by turns.
    let mut list = Pipes::new();
    list.source(Stride { run: 16, gap: 16 });
    let sum = list.add(ready::internet_checksum());
    let pass = list.compile(Mode::Write).unwrap();
    let source: Vec<u8> = (0..=255).flat_map(|row| [[row; 16], [0xee; 16]].concat()).collect();
    let mut destination = std::vec![0; 4096];
    let mut registers = pass.registers();
    assert_eq!(pass.run(&source, &mut destination, &mut registers), Ok(4096));
    let data: Vec<u8> = (0..=255).flat_map(|row| [row; 16]).collect();
    assert_eq!(destination, data);
    assert_eq!(registers.export(sum).unwrap(), self::sum(&ready::internet_checksum(), &data));
}

#[test]
fn the_book_is_right() {
    let sum = Register { width: Gauge::Bits64, initial: 0, persists: true };
    let brighter = Pipe::new("brighter", Gauge::Bits8, Gauge::Bits8, Attributes::default(), |it| {
        let total = it.register(sum);
        total.becomes(total.value() + it.input().widened(Gauge::Bits64));
        it.output(it.input().select(Comparison::Below, 236, it.input() + 20, 255));
    })
    .unwrap();
    let (out, registers) = through(&brighter, &[0, 100, 235, 236, 255].repeat(20));
    assert_eq!(out, [20, 120, 255, 255, 255].repeat(20));
    assert_eq!(registers.export(FIRST), Ok(20 * (100 + 235 + 236 + 255)));

    let program = "mov %r0, %r1\nxor %r0, 0x5a5a5a5a\nexit";
    let program = Program::decode(&assemble(program).unwrap()).unwrap();
    let both = (Gauge::Bits32, Gauge::Bits32);
    let xor = Pipe::of_program("xor", both, Attributes::default(), &[], program).unwrap();
    assert_eq!(through(&xor, &[0x5a; 70]).0, [0; 70]);
}
