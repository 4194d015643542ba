//! The interpreter's arithmetic and comparisons, each a type, so that generic operations are compiled for each.

/// A function of two numbers.
pub(super) trait Compute {
    fn compute(a: u64, b: u64) -> u64;
}

/// A condition on two numbers.
pub(super) trait Holds {
    fn holds(a: u64, b: u64) -> bool;
}

/// Defines functions: the type in which each computes, and how.
macro_rules! computations {
    ($($name:ident: $type:ty, |$a:tt, $b:ident| $result:expr;)*) => {
        $(pub(super) struct $name;
        impl Compute for $name {
            #[inline(always)]
            fn compute(a: u64, b: u64) -> u64 {
                let ($a, $b) = (a as $type, b as $type);
                ($result) as u64
            }
        })*
    };
}

macro_rules! conditions {
    ($($name:ident: $type:ty, |$a:ident, $b:ident| $result:expr;)*) => {
        $(pub(super) struct $name;
        impl Holds for $name {
            #[inline(always)]
            fn holds(a: u64, b: u64) -> bool {
                let ($a, $b) = (a as $type, b as $type);
                $result
            }
        })*
    };
}

computations! {
    Add64: u64, |a, b| a.wrapping_add(b);
    Sub64: u64, |a, b| a.wrapping_sub(b);
    Mul64: u64, |a, b| a.wrapping_mul(b);
    Div64: u64, |a, b| a.checked_div(b).unwrap_or(0);
    SignedDiv64: i64, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
    Mod64: u64, |a, b| a.checked_rem(b).unwrap_or(a);
    SignedMod64: i64, |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
    Or64: u64, |a, b| a | b;
    And64: u64, |a, b| a & b;
    Xor64: u64, |a, b| a ^ b;
    ShiftLeft64: u64, |a, b| a.wrapping_shl(b as u32);
    ShiftRight64: u64, |a, b| a.wrapping_shr(b as u32);
    ShiftRightSigned64: i64, |a, b| a.wrapping_shr(b as u32);
    Mov64: u64, |_, b| b;
    Add32: u32, |a, b| a.wrapping_add(b);
    Sub32: u32, |a, b| a.wrapping_sub(b);
    Mul32: u32, |a, b| a.wrapping_mul(b);
    Div32: u32, |a, b| a.checked_div(b).unwrap_or(0);
    SignedDiv32: i32, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) as u32 };
    Mod32: u32, |a, b| a.checked_rem(b).unwrap_or(a);
    SignedMod32: i32, |a, b| (if b == 0 { a } else { a.wrapping_rem(b) }) as u32;
    Or32: u32, |a, b| a | b;
    And32: u32, |a, b| a & b;
    Xor32: u32, |a, b| a ^ b;
    ShiftLeft32: u32, |a, b| a.wrapping_shl(b);
    ShiftRight32: u32, |a, b| a.wrapping_shr(b);
    ShiftRightSigned32: i32, |a, b| a.wrapping_shr(b as u32) as u32;
    Mov32: u32, |_, b| b;
    // From so many bits, to so many.
    Extend8To64: i8, |_, b| b;
    Extend16To64: i16, |_, b| b;
    Extend32To64: i32, |_, b| b;
    Extend8To32: i8, |_, b| b as u32;
    Extend16To32: i16, |_, b| b as u32;
    Swap16: u16, |_, b| b.swap_bytes();
    Swap32: u32, |_, b| b.swap_bytes();
    Swap64: u64, |_, b| b.swap_bytes();
}

conditions! {
    Equal64: u64, |a, b| a == b;
    NotEqual64: u64, |a, b| a != b;
    AnyBit64: u64, |a, b| a & b != 0;
    Above64: u64, |a, b| a > b;
    AboveOrEqual64: u64, |a, b| a >= b;
    Below64: u64, |a, b| a < b;
    BelowOrEqual64: u64, |a, b| a <= b;
    SignedGreater64: i64, |a, b| a > b;
    SignedGreaterOrEqual64: i64, |a, b| a >= b;
    SignedLess64: i64, |a, b| a < b;
    SignedLessOrEqual64: i64, |a, b| a <= b;
    Equal32: u32, |a, b| a == b;
    NotEqual32: u32, |a, b| a != b;
    AnyBit32: u32, |a, b| a & b != 0;
    Above32: u32, |a, b| a > b;
    AboveOrEqual32: u32, |a, b| a >= b;
    Below32: u32, |a, b| a < b;
    BelowOrEqual32: u32, |a, b| a <= b;
    SignedGreater32: i32, |a, b| a > b;
    SignedGreaterOrEqual32: i32, |a, b| a >= b;
    SignedLess32: i32, |a, b| a < b;
    SignedLessOrEqual32: i32, |a, b| a <= b;
}
