//! A second, plain implementation of arithmetic and comparisons.

use crate::bytecode::{Alu, Condition, Size, Width};

pub fn compute(operation: Alu, width: Width, a: u64, b: u64) -> u64 {
    match width {
        Width::W64 => wide(operation, a, b),
        Width::W32 => u64::from(narrow(operation, a as u32, b as u32)),
    }
}

fn wide(operation: Alu, a: u64, b: u64) -> u64 {
    let (signed, other) = (a as i64, b as i64);
    match operation {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => signed.wrapping_div(other) as u64,
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => signed.wrapping_rem(other) as u64,
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::Xor => a ^ b,
        Alu::ShiftLeft => a << (b & 63),
        Alu::ShiftRight => a >> (b & 63),
        Alu::ShiftRightSigned => (signed >> (b & 63)) as u64,
        Alu::Mov => b,
    }
}

fn narrow(operation: Alu, a: u32, b: u32) -> u32 {
    let (signed, other) = (a as i32, b as i32);
    match operation {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => signed.wrapping_div(other) as u32,
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => signed.wrapping_rem(other) as u32,
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::Xor => a ^ b,
        Alu::ShiftLeft => a << (b & 31),
        Alu::ShiftRight => a >> (b & 31),
        Alu::ShiftRightSigned => (signed >> (b & 31)) as u32,
        Alu::Mov => b,
    }
}

pub fn holds(condition: Condition, width: Width, a: u64, b: u64) -> bool {
    let (a, b) = if width == Width::W32 { (a as u32 as u64, b as u32 as u64) } else { (a, b) };
    let signed = |number: u64| if width == Width::W32 { number as i32 as i64 } else { number as i64 };
    match condition {
        Condition::Equal => a == b,
        Condition::NotEqual => a != b,
        Condition::AnyBit => a & b != 0,
        Condition::Above => a > b,
        Condition::AboveOrEqual => a >= b,
        Condition::Below => a < b,
        Condition::BelowOrEqual => a <= b,
        Condition::SignedGreater => signed(a) > signed(b),
        Condition::SignedGreaterOrEqual => signed(a) >= signed(b),
        Condition::SignedLess => signed(a) < signed(b),
        Condition::SignedLessOrEqual => signed(a) <= signed(b),
    }
}

pub fn extend(value: u64, from: Size) -> u64 {
    let above = 64 - 8 * from.bytes() as u32;
    ((value << above) as i64 >> above) as u64
}
