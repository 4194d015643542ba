//! The names of instructions in text, for the assembler and the disassembler: those of the bpf_conformance suites, and
//! for what these lack (other kinds of constants), those of the RFC's pseudocode.

use super::instruction::*;

pub(super) const ALU: [(Alu, &str); 14] = [
    (Alu::Add, "add"),
    (Alu::Sub, "sub"),
    (Alu::Mul, "mul"),
    (Alu::Div, "div"),
    (Alu::SignedDiv, "sdiv"),
    (Alu::Mod, "mod"),
    (Alu::SignedMod, "smod"),
    (Alu::Or, "or"),
    (Alu::And, "and"),
    (Alu::Xor, "xor"),
    (Alu::ShiftLeft, "lsh"),
    (Alu::ShiftRight, "rsh"),
    (Alu::ShiftRightSigned, "arsh"),
    (Alu::Mov, "mov"),
];

pub(super) const CONDITIONS: [(Condition, &str); 11] = [
    (Condition::Equal, "jeq"),
    (Condition::NotEqual, "jne"),
    (Condition::AnyBit, "jset"),
    (Condition::Above, "jgt"),
    (Condition::AboveOrEqual, "jge"),
    (Condition::Below, "jlt"),
    (Condition::BelowOrEqual, "jle"),
    (Condition::SignedGreater, "jsgt"),
    (Condition::SignedGreaterOrEqual, "jsge"),
    (Condition::SignedLess, "jslt"),
    (Condition::SignedLessOrEqual, "jsle"),
];

pub(super) const ATOMICS: [(Atomic, &str); 10] = [
    (Atomic::Add, "add"),
    (Atomic::Or, "or"),
    (Atomic::And, "and"),
    (Atomic::Xor, "xor"),
    (Atomic::FetchAdd, "fetch_add"),
    (Atomic::FetchOr, "fetch_or"),
    (Atomic::FetchAnd, "fetch_and"),
    (Atomic::FetchXor, "fetch_xor"),
    (Atomic::Exchange, "xchg"),
    (Atomic::CompareExchange, "cmpxchg"),
];

pub(super) const EXTENSIONS: [((Width, Size), &str); 5] = [
    ((Width::W32, Size::Byte), "movsx832"),
    ((Width::W32, Size::Half), "movsx1632"),
    ((Width::W64, Size::Byte), "movsx864"),
    ((Width::W64, Size::Half), "movsx1664"),
    ((Width::W64, Size::Word), "movsx3264"),
];

pub(super) const SWAPS: [((Order, Size), &str); 9] = [
    ((Order::Little, Size::Half), "le16"),
    ((Order::Little, Size::Word), "le32"),
    ((Order::Little, Size::Double), "le64"),
    ((Order::Big, Size::Half), "be16"),
    ((Order::Big, Size::Word), "be32"),
    ((Order::Big, Size::Double), "be64"),
    ((Order::Swapped, Size::Half), "bswap16"),
    ((Order::Swapped, Size::Word), "bswap32"),
    ((Order::Swapped, Size::Double), "bswap64"),
];

pub(super) const LOADS: [((Sign, Size), &str); 7] = [
    ((Sign::Zero, Size::Byte), "ldxb"),
    ((Sign::Zero, Size::Half), "ldxh"),
    ((Sign::Zero, Size::Word), "ldxw"),
    ((Sign::Zero, Size::Double), "ldxdw"),
    ((Sign::Extend, Size::Byte), "ldxsb"),
    ((Sign::Extend, Size::Half), "ldxsh"),
    ((Sign::Extend, Size::Word), "ldxsw"),
];

/// Names of stores of registers; those of immediates have `st` in place of `stx`.
pub(super) const STORES: [(Size, &str); 4] =
    [(Size::Byte, "stxb"), (Size::Half, "stxh"), (Size::Word, "stxw"), (Size::Double, "stxdw")];

impl Alu {
    /// All there are.
    pub const ALL: [Alu; ALU.len()] = things(&ALU);
}

impl Condition {
    /// All there are.
    pub const ALL: [Condition; CONDITIONS.len()] = things(&CONDITIONS);
}

impl Atomic {
    /// All there are.
    pub const ALL: [Atomic; ATOMICS.len()] = things(&ATOMICS);
}

/// A thing that a table has a name for.
const fn things<T: Copy, const N: usize>(table: &[(T, &str); N]) -> [T; N] {
    let mut things = [table[0].0; N];
    let mut index = 0;
    while index < N {
        things[index] = table[index].0;
        index += 1;
    }
    things
}

/// The name of a thing.
pub(super) fn name_of<T: PartialEq>(table: &[(T, &'static str)], thing: T) -> &'static str {
    table.iter().find(|(it, _)| *it == thing).map_or("?", |(_, name)| name)
}

/// The thing with a name.
pub(super) fn named<T: Copy>(table: &[(T, &'static str)], name: &str) -> Option<T> {
    table.iter().find(|(_, it)| *it == name).map(|(thing, _)| *thing)
}
