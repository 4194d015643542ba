//! Decodes a program for the interpreter: makes an operation of each slot.

use alloc::{string::String, vec::Vec};

use super::computation::*;
use super::context::Platform;
use super::steps::{
    Back, Checked, Confined, Constant, Forward, Guarded, Immediate, Operation, PaidBack, Proven, Run, atomic,
    call_helper, call_local, call_register, compute, constant, exit, jump, jump_if, load, pause, store,
};
use super::steps::{Cell, Register as FromRegister};
use crate::bytecode::*;
use crate::{Guard, Verified};

/// The most operations that call each other without returning.
pub(super) const STRAIGHT: usize = 256;

/// A prepared program: its operations.
pub(super) fn prepare<H>(verified: &Verified, platform: Platform<H>) -> Result<Vec<Operation<H>>, String> {
    let program = verified.program();
    // The second slot of a constant, which is never executed.
    let nothing = Instruction::Jump { width: Width::W64, offset: 0 };
    let all = (0..program.slots()).map(|at| {
        let it = program.at(at).unwrap_or(nothing);
        let mut operation = operation(at, it, verified.guards()[at], platform)?;
        // The first one in each stretch, of which the first slot may be a constant's second.
        if at % STRAIGHT < 2 {
            operation.run = pause;
        }
        Ok(operation)
    });
    all.collect()
}

/// Selects a function by the kind of operand.
macro_rules! by_source {
    ($source:expr, $step:ident<$($first:ty),+ $(; $last:ty)?>) => {
        match $source {
            Operand::Register(_) => $step::<H, $($first,)+ FromRegister $(, $last)?>,
            Operand::Immediate(_) => $step::<H, $($first,)+ Immediate $(, $last)?>,
        }
    };
}

/// Selects a function by the width.
macro_rules! by_width {
    ($width:expr, $it:expr, $kind:ident: $($name:ident $wide:ident $narrow:ident,)* => $make:ident) => {
        match ($width, $it) {
            $((Width::W64, $kind::$name) => $make!($wide),
            (Width::W32, $kind::$name) => $make!($narrow),)*
        }
    };
}

fn operation<H>(
    at: usize,
    it: Instruction,
    guard: Guard,
    platform: Platform<H>,
) -> Result<Operation<H>, String> {
    let target = it.target(at).unwrap_or_default();
    let distance = (target - at as i64) as i32;
    let is_near = target > at as i64 && target as usize / STRAIGHT == at / STRAIGHT;
    let is_paid = guard == Guard::Budget;
    Ok(match it {
        Instruction::Alu { width, operation, destination, source } => {
            with(computed(width, operation, source), destination, source)
        }
        Instruction::Negate { width, destination } => {
            let source = Operand::Immediate(-1);
            with(computed(width, Alu::Mul, source), destination, source)
        }
        Instruction::Extend { width, from, destination, source } => {
            with(extended(width, from), destination, Operand::Register(source))
        }
        Instruction::Swap { order, size, destination } => swapped(order, size, destination),
        Instruction::Constant { destination, constant: it } => {
            let number = platform.constant(at, it)?;
            Operation { a: destination.number(), constant: Constant { number }, ..plain(constant) }
        }
        Instruction::Load { sign, size, destination, base, offset } => {
            let run = guarded(guard, Access::Load(sign, size));
            Operation { offset: offset.into(), ..with(run, destination, Operand::Register(base)) }
        }
        Instruction::Store { size, base, offset, source } => {
            let run = guarded(guard, Access::Store(size, source));
            Operation { offset: offset.into(), ..with(run, base, source) }
        }
        Instruction::Atomic { width, operation, base, offset, source } => {
            let run = guarded(guard, Access::Atomic(width));
            let with = with(run, base, Operand::Register(source));
            Operation { offset: offset.into(), constant: Constant { atomic: operation }, ..with }
        }
        Instruction::Jump { .. } => Operation {
            offset: distance,
            ..plain(match (is_paid, is_near) {
                (true, _) => jump::<H, PaidBack>,
                (false, true) => jump::<H, Forward>,
                (false, false) => jump::<H, Back>,
            })
        },
        Instruction::JumpIf { width, condition, left, right, .. } => {
            let run = match (is_paid, is_near) {
                (true, _) => compared::<H, PaidBack>(width, condition, right),
                (false, true) => compared::<H, Forward>(width, condition, right),
                (false, false) => compared::<H, Back>(width, condition, right),
            };
            Operation { offset: distance, ..with(run, left, right) }
        }
        Instruction::CallHelper { number } => {
            let helper = platform.helper(at, number)?.function;
            Operation { constant: Constant { helper }, ..plain(call_helper) }
        }
        Instruction::CallLocal { .. } => {
            let run = if is_paid { call_local::<H, PaidBack> } else { call_local::<H, Back> };
            Operation { offset: distance, ..plain(run) }
        }
        Instruction::CallRegister { target } => {
            let run = if is_paid { call_register::<H, PaidBack> } else { call_register::<H, Back> };
            Operation { b: target.number(), ..plain(run) }
        }
        Instruction::Exit => plain(exit),
    })
}

fn plain<H>(run: Run<H>) -> Operation<H> {
    Operation { run, enter: run, constant: Constant { number: 0 }, offset: 0, a: 0, b: 0 }
}

fn with<H>(run: Run<H>, a: Register, operand: Operand) -> Operation<H> {
    let (b, number) = match operand {
        Operand::Register(b) => (b.number(), 0),
        Operand::Immediate(number) => (0, i64::from(number) as u64),
    };
    Operation { a: a.number(), b, constant: Constant { number }, ..plain(run) }
}

fn computed<H>(width: Width, operation: Alu, source: Operand) -> Run<H> {
    macro_rules! compute {
        ($name:ident) => {
            by_source!(source, compute<$name>)
        };
    }
    by_width!(width, operation, Alu:
        Add Add64 Add32,
        Sub Sub64 Sub32,
        Mul Mul64 Mul32,
        Div Div64 Div32,
        SignedDiv SignedDiv64 SignedDiv32,
        Mod Mod64 Mod32,
        SignedMod SignedMod64 SignedMod32,
        Or Or64 Or32,
        And And64 And32,
        Xor Xor64 Xor32,
        ShiftLeft ShiftLeft64 ShiftLeft32,
        ShiftRight ShiftRight64 ShiftRight32,
        ShiftRightSigned ShiftRightSigned64 ShiftRightSigned32,
        Mov Mov64 Mov32,
        => compute)
}

fn compared<H, T: super::steps::Turn>(width: Width, condition: Condition, right: Operand) -> Run<H> {
    macro_rules! compare {
        ($name:ident) => {
            by_source!(right, jump_if<$name; T>)
        };
    }
    by_width!(width, condition, Condition:
        Equal Equal64 Equal32,
        NotEqual NotEqual64 NotEqual32,
        AnyBit AnyBit64 AnyBit32,
        Above Above64 Above32,
        AboveOrEqual AboveOrEqual64 AboveOrEqual32,
        Below Below64 Below32,
        BelowOrEqual BelowOrEqual64 BelowOrEqual32,
        SignedGreater SignedGreater64 SignedGreater32,
        SignedGreaterOrEqual SignedGreaterOrEqual64 SignedGreaterOrEqual32,
        SignedLess SignedLess64 SignedLess32,
        SignedLessOrEqual SignedLessOrEqual64 SignedLessOrEqual32,
        => compare)
}

fn extended<H>(width: Width, from: Size) -> Run<H> {
    match (width, from) {
        (Width::W64, Size::Byte) => compute::<H, Extend8To64, FromRegister>,
        (Width::W64, Size::Half) => compute::<H, Extend16To64, FromRegister>,
        (Width::W32, Size::Byte) => compute::<H, Extend8To32, FromRegister>,
        (Width::W32, Size::Half) => compute::<H, Extend16To32, FromRegister>,
        (_, _) => compute::<H, Extend32To64, FromRegister>,
    }
}

/// The abstract machine is little-endian.
fn swapped<H>(order: Order, size: Size, register: Register) -> Operation<H> {
    let run: Run<H> = match (order, size) {
        (Order::Little, Size::Double) => compute::<H, Mov64, FromRegister>,
        (Order::Little, Size::Word) => compute::<H, Mov32, FromRegister>,
        (Order::Little, _) => {
            return with(compute::<H, And64, Immediate>, register, Operand::Immediate(0xffff));
        }
        (_, Size::Double) => compute::<H, Swap64, FromRegister>,
        (_, Size::Word) => compute::<H, Swap32, FromRegister>,
        (_, _) => compute::<H, Swap16, FromRegister>,
    };
    with(run, register, Operand::Register(register))
}

/// Operations that access memory.
enum Access {
    Load(Sign, Size),
    Store(Size, Operand),
    Atomic(Width),
}

fn guarded<H>(guard: Guard, access: Access) -> Run<H> {
    match guard {
        Guard::Confine => accessed::<H, Confined>(access),
        Guard::Check => accessed::<H, Checked>(access),
        Guard::None | Guard::Budget => accessed::<H, Proven>(access),
    }
}

fn accessed<H, G: Guarded>(access: Access) -> Run<H> {
    fn stored<H, T: Cell, G: Guarded>(source: Operand) -> Run<H> {
        by_source!(source, store<T; G>)
    }
    match access {
        Access::Load(Sign::Extend, Size::Byte) => load::<H, i8, G>,
        Access::Load(Sign::Extend, Size::Half) => load::<H, i16, G>,
        Access::Load(Sign::Extend, Size::Word) => load::<H, i32, G>,
        Access::Load(Sign::Zero, Size::Byte) => load::<H, u8, G>,
        Access::Load(Sign::Zero, Size::Half) => load::<H, u16, G>,
        Access::Load(Sign::Zero, Size::Word) => load::<H, u32, G>,
        Access::Load(_, Size::Double) => load::<H, u64, G>,
        Access::Store(Size::Byte, source) => stored::<H, u8, G>(source),
        Access::Store(Size::Half, source) => stored::<H, u16, G>(source),
        Access::Store(Size::Word, source) => stored::<H, u32, G>(source),
        Access::Store(Size::Double, source) => stored::<H, u64, G>(source),
        Access::Atomic(Width::W64) => atomic::<H, u64, G>,
        Access::Atomic(Width::W32) => atomic::<H, u32, G>,
    }
}
