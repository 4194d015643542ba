//! Decodes slots to instructions. What the RFC reserves is refused, so that every program has only one encoding.

use alloc::{format, string::String};

use super::instruction::*;
use super::slot::{Slot, class, mode};

/// Decodes the instruction that begins at a slot.
pub fn decode(slots: &[Slot], at: usize) -> Result<Instruction, Error> {
    let slot = slots.get(at).copied().ok_or_else(|| Error::in_slot(at, "the program ends before it"))?;
    read(slot, slots.get(at + 1).copied()).map_err(|what| Error::in_slot(at, what))
}

fn read(slot: Slot, next: Option<Slot>) -> Result<Instruction, String> {
    match slot.opcode & 7 {
        class::LD => wide(slot, next),
        class::LDX => load(slot),
        class::ST | class::STX => store(slot),
        class::ALU | class::ALU64 => alu(slot),
        _ => jump(slot),
    }
}

fn alu(slot: Slot) -> Result<Instruction, String> {
    let width = if slot.opcode & 7 == class::ALU { Width::W32 } else { Width::W64 };
    let destination = register(slot.destination)?;
    let operation = match (slot.opcode >> 4, slot.offset) {
        (0x8, _) => {
            unused(
                slot,
                slot.opcode & 8 == 0 && slot.source == 0 && slot.offset == 0 && slot.immediate == 0,
            )?;
            return Ok(Instruction::Negate { width, destination });
        }
        (0xd, _) => return swap(slot, width, destination),
        (0xb, from @ (8 | 16 | 32)) if slot.opcode & 8 != 0 => {
            unused(slot, slot.immediate == 0 && (from != 32 || width == Width::W64))?;
            let from = if from == 8 {
                Size::Byte
            } else if from == 16 {
                Size::Half
            } else {
                Size::Word
            };
            return Ok(Instruction::Extend { width, from, destination, source: register(slot.source)? });
        }
        (0x0, 0) => Alu::Add,
        (0x1, 0) => Alu::Sub,
        (0x2, 0) => Alu::Mul,
        (0x3, 0) => Alu::Div,
        (0x3, 1) => Alu::SignedDiv,
        (0x4, 0) => Alu::Or,
        (0x5, 0) => Alu::And,
        (0x6, 0) => Alu::ShiftLeft,
        (0x7, 0) => Alu::ShiftRight,
        (0x9, 0) => Alu::Mod,
        (0x9, 1) => Alu::SignedMod,
        (0xa, 0) => Alu::Xor,
        (0xb, 0) => Alu::Mov,
        (0xc, 0) => Alu::ShiftRightSigned,
        (code, offset) => return Err(format!("RFC 9669 has no arithmetic {code:#x} with offset {offset}")),
    };
    Ok(Instruction::Alu { width, operation, destination, source: operand(slot)? })
}

fn swap(slot: Slot, width: Width, destination: Register) -> Result<Instruction, String> {
    let order = match (width, slot.opcode & 8) {
        (Width::W32, 0) => Order::Little,
        (Width::W32, _) => Order::Big,
        (Width::W64, 0) => Order::Swapped,
        (Width::W64, _) => return Err("the byte swap with opcode 0xdf is reserved".into()),
    };
    let size = match slot.immediate {
        16 => Size::Half,
        32 => Size::Word,
        64 => Size::Double,
        bits => return Err(format!("a byte swap of {bits} bits: only 16, 32 and 64 can be swapped")),
    };
    unused(slot, slot.source == 0 && slot.offset == 0)?;
    Ok(Instruction::Swap { order, size, destination })
}

fn jump(slot: Slot) -> Result<Instruction, String> {
    let width = if slot.opcode & 7 == class::JMP { Width::W64 } else { Width::W32 };
    let condition = match slot.opcode {
        0x05 => {
            unused(slot, slot.destination == 0 && slot.source == 0 && slot.immediate == 0)?;
            return Ok(Instruction::Jump { width, offset: slot.offset.into() });
        }
        0x06 => {
            unused(slot, slot.destination == 0 && slot.source == 0 && slot.offset == 0)?;
            return Ok(Instruction::Jump { width, offset: slot.immediate });
        }
        0x85 => {
            unused(slot, slot.destination == 0 && slot.offset == 0)?;
            return match slot.source {
                0 => Ok(Instruction::CallHelper { number: slot.immediate as u32 }),
                1 => Ok(Instruction::CallLocal { offset: slot.immediate }),
                2 => {
                    Err("a call of a function of Linux by its BTF number: here helpers are called by number"
                        .into())
                }
                kind => Err(format!("RFC 9669 has no call of kind {kind}")),
            };
        }
        0x8d => {
            unused(slot, slot.source == 0 && slot.offset == 0 && slot.immediate == 0)?;
            return Ok(Instruction::CallRegister { target: register(slot.destination)? });
        }
        0x95 => {
            unused(slot, (slot.destination, slot.source, slot.offset, slot.immediate) == (0, 0, 0, 0))?;
            return Ok(Instruction::Exit);
        }
        _ => match slot.opcode >> 4 {
            0x1 => Condition::Equal,
            0x2 => Condition::Above,
            0x3 => Condition::AboveOrEqual,
            0x4 => Condition::AnyBit,
            0x5 => Condition::NotEqual,
            0x6 => Condition::SignedGreater,
            0x7 => Condition::SignedGreaterOrEqual,
            0xa => Condition::Below,
            0xb => Condition::BelowOrEqual,
            0xc => Condition::SignedLess,
            0xd => Condition::SignedLessOrEqual,
            _ => return Err(unknown(slot)),
        },
    };
    let left = register(slot.destination)?;
    Ok(Instruction::JumpIf { width, condition, left, right: operand(slot)?, offset: slot.offset })
}

fn load(slot: Slot) -> Result<Instruction, String> {
    let sign = match slot.opcode & 0xe0 {
        mode::MEM => Sign::Zero,
        mode::MEMSX if size(slot) != Size::Double => Sign::Extend,
        _ => return Err(unknown(slot)),
    };
    unused(slot, slot.immediate == 0)?;
    let (destination, base) = (register(slot.destination)?, register(slot.source)?);
    Ok(Instruction::Load { sign, size: size(slot), destination, base, offset: slot.offset })
}

fn store(slot: Slot) -> Result<Instruction, String> {
    let base = register(slot.destination)?;
    let source = match (slot.opcode & 0xe0, slot.opcode & 7) {
        (mode::MEM, class::ST) => {
            unused(slot, slot.source == 0)?;
            Operand::Immediate(slot.immediate)
        }
        (mode::MEM, _) => {
            unused(slot, slot.immediate == 0)?;
            Operand::Register(register(slot.source)?)
        }
        (mode::ATOMIC, class::STX) => return atomic(slot, base),
        _ => return Err(unknown(slot)),
    };
    Ok(Instruction::Store { size: size(slot), base, offset: slot.offset, source })
}

fn atomic(slot: Slot, base: Register) -> Result<Instruction, String> {
    let width = match size(slot) {
        Size::Word => Width::W32,
        Size::Double => Width::W64,
        _ => return Err("an atomic operation on less than 32 bits: take 32 or 64".into()),
    };
    let operation = match slot.immediate {
        0x00 => Atomic::Add,
        0x40 => Atomic::Or,
        0x50 => Atomic::And,
        0xa0 => Atomic::Xor,
        0x01 => Atomic::FetchAdd,
        0x41 => Atomic::FetchOr,
        0x51 => Atomic::FetchAnd,
        0xa1 => Atomic::FetchXor,
        0xe1 => Atomic::Exchange,
        0xf1 => Atomic::CompareExchange,
        code => return Err(format!("RFC 9669 has no atomic operation {code:#x}")),
    };
    Ok(Instruction::Atomic { width, operation, base, offset: slot.offset, source: register(slot.source)? })
}

fn wide(slot: Slot, next: Option<Slot>) -> Result<Instruction, String> {
    match slot.opcode {
        0x18 => {}
        0x20 | 0x28 | 0x30 | 0x40 | 0x48 | 0x50 => {
            return Err(
                "old packet access (LD ABS, LD IND): load through a pointer to the packet instead".into()
            );
        }
        _ => return Err(unknown(slot)),
    }
    let rest = next.ok_or("the program ends within its 64-bit constant")?;
    if (rest.opcode, rest.destination, rest.source, rest.offset) != (0, 0, 0, 0) {
        return Err(
            "its 64-bit constant isn't followed by the upper half, a slot with only an immediate".into()
        );
    }
    unused(slot, slot.offset == 0 && (matches!(slot.source, 0 | 2 | 6) || rest.immediate == 0))?;
    let constant = match slot.source {
        0 => Constant::Number(u64::from(slot.immediate as u32) | u64::from(rest.immediate as u32) << 32),
        1 => Constant::MapByFd(slot.immediate),
        2 => Constant::ValueByFd { map: slot.immediate, offset: rest.immediate },
        3 => Constant::Variable(slot.immediate),
        4 => Constant::Code(slot.immediate),
        5 => Constant::MapByIndex(slot.immediate),
        6 => Constant::ValueByIndex { map: slot.immediate, offset: rest.immediate },
        kind => return Err(format!("RFC 9669 has no 64-bit constant of kind {kind}")),
    };
    Ok(Instruction::Constant { destination: register(slot.destination)?, constant })
}

fn operand(slot: Slot) -> Result<Operand, String> {
    if slot.opcode & 8 == 0 {
        unused(slot, slot.source == 0)?;
        Ok(Operand::Immediate(slot.immediate))
    } else {
        unused(slot, slot.immediate == 0)?;
        Ok(Operand::Register(register(slot.source)?))
    }
}

fn size(slot: Slot) -> Size {
    match slot.opcode >> 3 & 3 {
        0 => Size::Word,
        1 => Size::Half,
        2 => Size::Byte,
        _ => Size::Double,
    }
}

fn register(number: u8) -> Result<Register, String> {
    Register::new(number).ok_or_else(|| format!("r{number}: registers are r0 to r10"))
}

fn unused(slot: Slot, is: bool) -> Result<(), String> {
    let fault =
        || format!("opcode {:#04x} with a value in a field that it doesn't use; that must be 0", slot.opcode);
    if is { Ok(()) } else { Err(fault()) }
}

fn unknown(slot: Slot) -> String {
    format!("RFC 9669 has no opcode {:#04x}", slot.opcode)
}
