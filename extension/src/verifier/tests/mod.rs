//! Tests of the verifier: what it accepts, its rejections, and that its claims about accepted programs hold.

mod accepted;
mod arithmetic;
mod hostile;
mod machine;
mod numbers;
mod refused;
mod sound;

use std::{collections::BTreeMap, string::String, vec, vec::Vec};

use super::*;
use crate::bytecode::{Program, Size, assemble};
use crate::{Guard, Verified};

const CONTEXT: Region = 0;
const PACKET: Region = 1;
const VALUE: Region = 2;
const OWN_BYTES: u32 = 256;
/// So that tests see it used up.
const PATIENCE: u64 = 200;
const PACKET_MOST: u32 = 65535;

/// A handler: r1 is a context as XDP has it, r2 a number; a table; some helpers.
fn handler() -> Contract {
    let field =
        |offset, gives, stands_at| Field { offset, size: Size::Word, gives, writable: false, stands_at };
    let fields = vec![
        field(0, Given::Pointer(PACKET), Some((0, Size::Double))),
        field(4, Given::End(PACKET), Some((8, Size::Double))),
        field(12, Given::Number(0, 100), Some((20, Size::Word))),
        Field { writable: true, ..field(16, Given::Number(0, 7), None) },
        field(20, Given::Number(0, 1 << 31), Some((28, Size::Word))),
    ];
    let bytes = Memory::bytes;
    let helper = |name, wants, gives| Helper { name, wants, gives, moves: None };
    let helpers = [
        (1, helper("lookup", vec![Wanted::Map, Wanted::Readable(Bytes::Key)], Given::ValueOrNull)),
        (2, helper("random", vec![], Given::Number(0, u64::MAX))),
        (3, helper("print", vec![Wanted::Readable(Bytes::InNext), Wanted::Number(0, 64)], Given::Nothing)),
        (
            4,
            helper(
                "fill",
                vec![Wanted::Writable(Bytes::InNext), Wanted::Number(0, 64)],
                Given::Number(0, 64),
            ),
        ),
        (
            5,
            Helper {
                moves: Some(PACKET),
                ..helper("adjust", vec![Wanted::Pointer(CONTEXT)], Given::Number(0, 1))
            },
        ),
        (6, helper("change", vec![Wanted::Changeable(Bytes::Exactly(16))], Given::Nothing)),
    ];
    Contract {
        registers: [
            Given::Pointer(CONTEXT),
            Given::Number(0, u64::MAX),
            Given::Nothing,
            Given::Nothing,
            Given::Nothing,
        ],
        regions: vec![
            Memory { fields, ..bytes("the context", 32) },
            Memory { extent: Extent::ToEnd(PACKET_MOST), ..bytes("the packet", 0) },
            Memory { single: false, ..bytes("a value of the table", 16) },
        ],
        own: None,
        maps: vec![Map { key: 4, value: VALUE, direct: true }],
        helpers: BTreeMap::from_iter(helpers),
        ..Contract::default()
    }
}

/// The same with own memory, which r3 leads to.
fn confining() -> Contract {
    let mut contract = handler();
    contract.registers[2] = Given::Pointer(OWN);
    Contract { own: Some(Memory::own(OWN_BYTES)), ..contract }
}

fn program(text: &str) -> Program {
    let slots = assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Program::decode(&slots).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The guards of an accepted program, with their slots.
fn guards(text: &str, contract: &Contract) -> Vec<(usize, Guard)> {
    match verify(program(text), contract) {
        Ok(verified) => guarded(&verified),
        Err(rejection) => panic!("{rejection}\n{text}"),
    }
}

fn guarded(verified: &Verified) -> Vec<(usize, Guard)> {
    let guards = verified.guards().iter().copied().enumerate();
    guards.filter(|&(_, guard)| guard != Guard::None).collect()
}

fn refusal(text: &str, contract: &Contract) -> String {
    use std::string::ToString;
    match verify(program(text), contract) {
        Ok(verified) => std::format!("accepted, with guards {:?}", guarded(&verified)),
        Err(rejection) => rejection.to_string(),
    }
}
