//! What the interpreter does step by step: instructions that were taken apart once, so that it needn't at each step.

use alloc::{string::String, vec::Vec};

use super::context::Platform;
use crate::bytecode::*;
use crate::{Guard, Verified};

/// One step. `a` and `b` are registers. Its operand is `b + constant`: of an immediate, `b` is [`ZERO`]. Of what loads, that is the
/// address, and of what stores, `a + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub code: Code,
    pub a: u8,
    pub b: u8,
    /// Added to an address; or the operation to go to; or the bytes of the access to come; or the slot after a call.
    pub offset: i32,
    pub constant: u64,
}

/// A register that is always 0.
pub(super) const ZERO: u8 = 11;
/// Where [`Code::Confine`] puts an address.
pub(super) const CONFINED: u8 = 12;
/// Register files are as large as a number that four bits can't exceed.
pub(super) const FILE: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Add64,
    Sub64,
    Mul64,
    Div64,
    SignedDiv64,
    Mod64,
    SignedMod64,
    Or64,
    And64,
    Xor64,
    ShiftLeft64,
    ShiftRight64,
    ShiftRightSigned64,
    Mov64,
    IfEqual64,
    IfNotEqual64,
    IfAnyBit64,
    IfAbove64,
    IfAboveOrEqual64,
    IfBelow64,
    IfBelowOrEqual64,
    IfSignedGreater64,
    IfSignedGreaterOrEqual64,
    IfSignedLess64,
    IfSignedLessOrEqual64,
    Add32,
    Sub32,
    Mul32,
    Div32,
    SignedDiv32,
    Mod32,
    SignedMod32,
    Or32,
    And32,
    Xor32,
    ShiftLeft32,
    ShiftRight32,
    ShiftRightSigned32,
    Mov32,
    IfEqual32,
    IfNotEqual32,
    IfAnyBit32,
    IfAbove32,
    IfAboveOrEqual32,
    IfBelow32,
    IfBelowOrEqual32,
    IfSignedGreater32,
    IfSignedGreaterOrEqual32,
    IfSignedLess32,
    IfSignedLessOrEqual32,
    /// From so many bits, to so many.
    Extend8To64,
    Extend16To64,
    Extend32To64,
    Extend8To32,
    Extend16To32,
    Swap16,
    Swap32,
    Swap64,
    Load8,
    Load16,
    Load32,
    Load64,
    LoadSigned8,
    LoadSigned16,
    LoadSigned32,
    Store8,
    Store16,
    Store32,
    Store64,
    Atomic64(Atomic),
    Atomic32(Atomic),
    Jump,
    CallHelper,
    CallLocal,
    CallRegister,
    Exit,
    /// Guards of the operation behind them.
    Budget,
    Confine,
    Check,
}

/// A program's operations; of each, the slot of its instruction; and of each slot, where its operations begin.
pub(super) struct Operations {
    pub operations: Vec<Operation>,
    pub slots: Vec<u32>,
    pub begins: Vec<u32>,
}

impl Operations {
    pub fn new<H>(verified: &Verified, platform: Platform<H>) -> Result<Operations, String> {
        let program = verified.program();
        let slots = program.slots();
        let mut all =
            Operations { operations: Vec::with_capacity(slots), slots: Vec::new(), begins: Vec::new() };
        for at in 0..slots {
            all.begins.push(all.operations.len() as u32);
            if let Some(instruction) = program.at(at) {
                all.add(at, instruction, verified.guards()[at], platform)?;
                all.slots.resize(all.operations.len(), at as u32);
            }
        }
        for (operation, at) in all.operations.iter_mut().zip(&all.slots) {
            if matches!(program.at(*at as usize), Some(Instruction::Jump { .. } | Instruction::JumpIf { .. }))
                && operation.code != Code::Budget
            {
                operation.offset = all.begins[operation.offset as usize] as i32;
            }
        }
        Ok(all)
    }

    fn add<H>(
        &mut self,
        at: usize,
        it: Instruction,
        guard: Guard,
        platform: Platform<H>,
    ) -> Result<(), String> {
        let mut operation = operation(at, it, platform)?;
        let base = match it {
            Instruction::Load { base, offset, size, .. } | Instruction::Store { base, offset, size, .. } => {
                Some((base, offset, size))
            }
            Instruction::Atomic { base, offset, width, .. } => Some((base, offset, width.into())),
            _ => None,
        };
        match (guard, base) {
            (Guard::None, _) => {}
            (Guard::Budget, _) => self.operations.push(Operation::new(Code::Budget, 0, ZERO)),
            (_, None) => {}
            (Guard::Check, Some((base, offset, size))) => {
                let check = Operation::new(Code::Check, 0, base.number()).plus(offset.into());
                self.operations.push(Operation { offset: size.bytes() as i32, ..check });
            }
            (Guard::Confine, Some((base, offset, _))) => {
                self.operations
                    .push(Operation::new(Code::Confine, CONFINED, base.number()).plus(offset.into()));
                operation = match it {
                    Instruction::Load { .. } => Operation { b: CONFINED, constant: 0, ..operation },
                    _ => Operation { a: CONFINED, offset: 0, ..operation },
                };
            }
        }
        self.operations.push(operation);
        Ok(())
    }
}

impl Operation {
    fn new(code: Code, a: u8, b: u8) -> Operation {
        Operation { code, a, b, offset: 0, constant: 0 }
    }

    fn plus(self, constant: i64) -> Operation {
        Operation { constant: constant as u64, ..self }
    }

    fn with(code: Code, a: Register, operand: Operand) -> Operation {
        match operand {
            Operand::Register(b) => Operation::new(code, a.number(), b.number()),
            Operand::Immediate(number) => Operation::new(code, a.number(), ZERO).plus(number.into()),
        }
    }
}

/// Its operation without guards; where it jumps to is still a slot.
fn operation<H>(at: usize, it: Instruction, platform: Platform<H>) -> Result<Operation, String> {
    let target = it.target(at).unwrap_or_default() as i32;
    Ok(match it {
        Instruction::Alu { width, operation, destination, source } => {
            Operation::with(alu(width, operation), destination, source)
        }
        Instruction::Negate { width, destination } => {
            Operation::with(alu(width, Alu::Mul), destination, Operand::Immediate(-1))
        }
        Instruction::Extend { width, from, destination, source } => {
            Operation::new(extension(width, from), destination.number(), source.number())
        }
        Instruction::Swap { order, size, destination } => swap(order, size, destination),
        Instruction::Constant { destination, constant } => {
            let constant = platform.constant(at, constant)?;
            Operation { constant, ..Operation::new(Code::Mov64, destination.number(), ZERO) }
        }
        Instruction::Load { sign, size, destination, base, offset } => {
            Operation::new(load(sign, size), destination.number(), base.number()).plus(offset.into())
        }
        Instruction::Store { size, base, offset, source } => {
            Operation { offset: offset.into(), ..Operation::with(store(size), base, source) }
        }
        Instruction::Atomic { width, operation, base, offset, source } => {
            let code =
                if width == Width::W64 { Code::Atomic64(operation) } else { Code::Atomic32(operation) };
            Operation { offset: offset.into(), ..Operation::new(code, base.number(), source.number()) }
        }
        Instruction::Jump { .. } => Operation { offset: target, ..Operation::new(Code::Jump, 0, ZERO) },
        Instruction::JumpIf { width, condition, left, right, .. } => {
            Operation { offset: target, ..Operation::with(jump_if(width, condition), left, right) }
        }
        Instruction::CallHelper { number } => {
            platform.helper(at, number)?;
            Operation::new(Code::CallHelper, 0, ZERO).plus(number.into())
        }
        Instruction::CallLocal { .. } => {
            Operation { offset: target, ..Operation::new(Code::CallLocal, 0, ZERO).plus(at as i64 + 1) }
        }
        Instruction::CallRegister { target } => {
            Operation { offset: at as i32 + 1, ..Operation::new(Code::CallRegister, 0, target.number()) }
        }
        Instruction::Exit => Operation::new(Code::Exit, 0, ZERO),
    })
}

/// The code of an operation in its two widths.
macro_rules! by_width {
    ($function:ident($kind:ident): $($it:ident => $wide:ident, $narrow:ident;)*) => {
        fn $function(width: Width, it: $kind) -> Code {
            match (width, it) {
                $((Width::W64, $kind::$it) => Code::$wide, (Width::W32, $kind::$it) => Code::$narrow,)*
            }
        }
    };
}

by_width! { alu(Alu):
    Add => Add64, Add32;
    Sub => Sub64, Sub32;
    Mul => Mul64, Mul32;
    Div => Div64, Div32;
    SignedDiv => SignedDiv64, SignedDiv32;
    Mod => Mod64, Mod32;
    SignedMod => SignedMod64, SignedMod32;
    Or => Or64, Or32;
    And => And64, And32;
    Xor => Xor64, Xor32;
    ShiftLeft => ShiftLeft64, ShiftLeft32;
    ShiftRight => ShiftRight64, ShiftRight32;
    ShiftRightSigned => ShiftRightSigned64, ShiftRightSigned32;
    Mov => Mov64, Mov32;
}

by_width! { jump_if(Condition):
    Equal => IfEqual64, IfEqual32;
    NotEqual => IfNotEqual64, IfNotEqual32;
    AnyBit => IfAnyBit64, IfAnyBit32;
    Above => IfAbove64, IfAbove32;
    AboveOrEqual => IfAboveOrEqual64, IfAboveOrEqual32;
    Below => IfBelow64, IfBelow32;
    BelowOrEqual => IfBelowOrEqual64, IfBelowOrEqual32;
    SignedGreater => IfSignedGreater64, IfSignedGreater32;
    SignedGreaterOrEqual => IfSignedGreaterOrEqual64, IfSignedGreaterOrEqual32;
    SignedLess => IfSignedLess64, IfSignedLess32;
    SignedLessOrEqual => IfSignedLessOrEqual64, IfSignedLessOrEqual32;
}

fn extension(width: Width, from: Size) -> Code {
    match (width, from) {
        (Width::W64, Size::Byte) => Code::Extend8To64,
        (Width::W64, Size::Half) => Code::Extend16To64,
        (Width::W32, Size::Byte) => Code::Extend8To32,
        (Width::W32, Size::Half) => Code::Extend16To32,
        (_, _) => Code::Extend32To64,
    }
}

/// The machine that is computed with is little-endian.
fn swap(order: Order, size: Size, register: Register) -> Operation {
    let with = |code| Operation::with(code, register, Operand::Register(register));
    match (order, size) {
        (Order::Little, Size::Double) => with(Code::Mov64),
        (Order::Little, Size::Word) => with(Code::Mov32),
        (Order::Little, _) => Operation::with(Code::And64, register, Operand::Immediate(0xffff)),
        (_, Size::Double) => with(Code::Swap64),
        (_, Size::Word) => with(Code::Swap32),
        (_, _) => with(Code::Swap16),
    }
}

fn load(sign: Sign, size: Size) -> Code {
    match (sign, size) {
        (Sign::Extend, Size::Byte) => Code::LoadSigned8,
        (Sign::Extend, Size::Half) => Code::LoadSigned16,
        (Sign::Extend, Size::Word) => Code::LoadSigned32,
        (Sign::Zero, Size::Byte) => Code::Load8,
        (Sign::Zero, Size::Half) => Code::Load16,
        (Sign::Zero, Size::Word) => Code::Load32,
        (_, Size::Double) => Code::Load64,
    }
}

fn store(size: Size) -> Code {
    match size {
        Size::Byte => Code::Store8,
        Size::Half => Code::Store16,
        Size::Word => Code::Store32,
        Size::Double => Code::Store64,
    }
}
