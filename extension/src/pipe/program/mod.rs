//! Bodies as untrusted bytecode, which is verified, and then translated into steps.
//!
//! The program is run for each word. The input word is in r1, the output word is left in r0. Its own memory, at r2, is
//! the pipe's registers, 8 bytes each; the bytes above a register's width are always 0. It can call helpers, with the
//! low bits of r1 and r2 as arguments:
//!
//! * 1: the sum of two numbers of 32 bits, plus its carry;
//! * 2: a CRC32C (not complemented), updated by a word as wide as input words;
//! * 3: an Adler-32, updated by a byte.
//!
//! It has no loops. Of a branch both sides are computed, and one result is selected, so that many words can be
//! processed at once.

mod reader;
mod state;

use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::fmt::Display;

use super::body::Register;
use super::{Attributes, Gauge, Pipe, Refusal};
use crate::Verified;
use crate::bytecode::Program;
use crate::verifier::{Contract, Given, Helper, Memory, OWN, Wanted, verify};
use reader::{CELL, Read, Reader};

impl Pipe {
    /// A pipe whose body is a program.
    pub fn of_program(
        name: &str,
        (input, output): (Gauge, Gauge),
        attributes: Attributes,
        registers: &[Register],
        program: Program,
    ) -> Result<Pipe, Refusal> {
        let verified = verified(name, program, &contract(input, registers.len()))?;
        let given = if attributes.keeps { None } else { Some(output) };
        let body = Reader::new(input, registers).and_then(|it| it.body(verified.program(), given));
        let (body, _) = body.map_err(|it| named(name, &it))?;
        Pipe::of_body(name, (input, output), given, attributes, body)
    }

    /// Pipes of a program that calls nothing and has so many persistent registers. The last pipe has registers of 64
    /// bits. Those before it do the same for narrower values of the registers, and process more words at once.
    pub(crate) fn of_function(
        name: &str,
        gauge: Gauge,
        registers: usize,
        program: Program,
    ) -> Result<Vec<Pipe>, Refusal> {
        let mut contract = contract(gauge, registers);
        contract.helpers.clear();
        let verified = verified(name, program, &contract)?;
        let made = |widths: &[Gauge]| -> Read<_> {
            let of_width = |&width: &Gauge| Register { width, initial: 0, persists: true };
            let registers: Vec<Register> = widths.iter().map(of_width).collect();
            let (body, cut) = Reader::new(gauge, &registers)?.body(verified.program(), Some(gauge))?;
            let pipe = Pipe::of_body(name, (gauge, gauge), Some(gauge), Attributes::default(), body)?;
            Ok((pipe, cut))
        };
        let mut widths = vec![gauge; registers];
        let mut pipes = Vec::new();
        // Narrowing may take too many steps.
        while let Ok((pipe, cut)) = made(&widths) {
            if !cut.contains(&true) {
                pipes.push(pipe);
                break;
            }
            for (width, _) in widths.iter_mut().zip(cut).filter(|(_, cut)| *cut) {
                *width = width.wider();
            }
        }
        if widths.iter().any(|it| *it != Gauge::Bits64) || pipes.is_empty() {
            let (wide, _) = made(&vec![Gauge::Bits64; registers]).map_err(|it| named(name, &it))?;
            pipes.push(wide);
        }
        Ok(pipes)
    }
}

fn named(name: &str, what: &dyn Display) -> Refusal {
    Refusal::new(format_args!("{name}: {what}"))
}

fn verified(name: &str, program: Program, contract: &Contract) -> Result<Verified, Refusal> {
    verify(program, contract).map_err(|it| named(name, &it))
}

/// The verifier's contract for a pipe's program.
fn contract(input: Gauge, registers: usize) -> Contract {
    let bytes = (registers.max(1) * CELL as usize).next_power_of_two() as u32;
    let number = Wanted::Number(0, u64::MAX);
    let helper = |name| Helper {
        name,
        wants: vec![number, number],
        gives: Given::Number(0, Gauge::Bits32.most()),
        moves: None,
    };
    let [nothing, word] = [Given::Nothing, Given::Number(0, input.most())];
    Contract {
        registers: [word, Given::Pointer(OWN), nothing, nothing, nothing],
        own: Some(Memory::own(bytes)),
        helpers: BTreeMap::from([
            (1, helper("the sum with what it carries")),
            (2, helper("CRC32C")),
            (3, helper("Adler-32")),
        ]),
        ..Contract::default()
    }
}
