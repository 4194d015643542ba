//! Bodies as bytecode, from who isn't trusted: verified, and then taken apart into the same steps as all others.
//!
//! A program is run for each word, which is in r1, and leaves the word that goes out in r0. Its own memory, at r2, is
//! the pipe's registers, 8 bytes for each; the bytes above a register's width are always 0. It can call, with the low
//! bits of r1 and r2:
//!
//! * 1: the sum of two numbers of 32 bits with what it carries,
//! * 2: a CRC32C, not inverted, after a word as wide as those that come in,
//! * 3: an Adler-32 after a byte.
//!
//! It has no loops. Where it branches, both ways are gone, and of what they come to one is selected: so it can be done
//! on many words at once.

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

    /// A pipe whose body is a program with so many registers, which persist, and that calls nothing: the last one has
    /// registers of 64 bits. Before it the same with registers of as few bits as may do, for values that fit, as that
    /// lets more words be done at once.
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
        // To make values narrower may take more steps than a pipe has.
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

/// The terms on which a pipe's program runs.
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
