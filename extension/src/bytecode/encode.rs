//! Encodes instructions to slots.

use alloc::vec::Vec;

use super::instruction::*;
use super::slot::{Slot, class, mode};

impl Instruction {
    /// Appends the instruction, as one slot or two.
    pub fn encode(self, slots: &mut Vec<Slot>) {
        let (slot, rest) = self.to_slots();
        slots.push(slot);
        slots.extend(rest);
    }

    fn to_slots(self) -> (Slot, Option<Slot>) {
        let slot = match self {
            Instruction::Alu { width, operation, destination, source } => {
                let (code, offset) = alu_code(operation);
                let slot = Slot { opcode: code << 4 | alu_class(width), offset, ..Slot::default() };
                with_operand(Slot { destination: destination.number(), ..slot }, source)
            }
            Instruction::Negate { width, destination } => {
                Slot { opcode: 0x80 | alu_class(width), destination: destination.number(), ..Slot::default() }
            }
            Instruction::Extend { width, from, destination, source } => Slot {
                opcode: 0xb8 | alu_class(width),
                destination: destination.number(),
                source: source.number(),
                offset: 8 * from.bytes() as i16,
                ..Slot::default()
            },
            Instruction::Swap { order, size, destination } => Slot {
                opcode: match order {
                    Order::Little => 0xd4,
                    Order::Big => 0xdc,
                    Order::Swapped => 0xd7,
                },
                destination: destination.number(),
                immediate: 8 * size.bytes() as i32,
                ..Slot::default()
            },
            Instruction::Constant { destination, constant } => return wide(destination, constant),
            Instruction::Load { sign, size, destination, base, offset } => Slot {
                opcode: if sign == Sign::Extend { mode::MEMSX } else { mode::MEM }
                    | size_code(size)
                    | class::LDX,
                destination: destination.number(),
                source: base.number(),
                offset,
                immediate: 0,
            },
            Instruction::Store { size, base, offset, source } => {
                let slot = Slot { destination: base.number(), offset, ..Slot::default() };
                let opcode = mode::MEM | size_code(size);
                match source {
                    Operand::Immediate(immediate) => Slot { opcode: opcode | class::ST, immediate, ..slot },
                    Operand::Register(source) => {
                        Slot { opcode: opcode | class::STX, source: source.number(), ..slot }
                    }
                }
            }
            Instruction::Atomic { width, operation, base, offset, source } => Slot {
                opcode: mode::ATOMIC | size_code(width.into()) | class::STX,
                destination: base.number(),
                source: source.number(),
                offset,
                immediate: atomic_code(operation),
            },
            Instruction::Jump { width: Width::W64, offset } => {
                Slot { opcode: 0x05, offset: offset as i16, ..Slot::default() }
            }
            Instruction::Jump { width: Width::W32, offset } => {
                Slot { opcode: 0x06, immediate: offset, ..Slot::default() }
            }
            Instruction::JumpIf { width, condition, left, right, offset } => {
                let class = if width == Width::W64 { class::JMP } else { class::JMP32 };
                let opcode = condition_code(condition) << 4 | class;
                with_operand(Slot { opcode, destination: left.number(), offset, ..Slot::default() }, right)
            }
            Instruction::CallHelper { number } => {
                Slot { opcode: 0x85, immediate: number as i32, ..Slot::default() }
            }
            Instruction::CallLocal { offset } => {
                Slot { opcode: 0x85, source: 1, immediate: offset, ..Slot::default() }
            }
            Instruction::CallRegister { target } => {
                Slot { opcode: 0x8d, destination: target.number(), ..Slot::default() }
            }
            Instruction::Exit => Slot { opcode: 0x95, ..Slot::default() },
        };
        (slot, None)
    }
}

fn wide(destination: Register, constant: Constant) -> (Slot, Option<Slot>) {
    let (source, immediate, upper) = match constant {
        Constant::Number(number) => (0, number as i32, (number >> 32) as i32),
        Constant::MapByFd(map) => (1, map, 0),
        Constant::ValueByFd { map, offset } => (2, map, offset),
        Constant::Variable(number) => (3, number, 0),
        Constant::Code(offset) => (4, offset, 0),
        Constant::MapByIndex(map) => (5, map, 0),
        Constant::ValueByIndex { map, offset } => (6, map, offset),
    };
    let slot = Slot { opcode: 0x18, destination: destination.number(), source, offset: 0, immediate };
    (slot, Some(Slot { immediate: upper, ..Slot::default() }))
}

fn with_operand(slot: Slot, operand: Operand) -> Slot {
    match operand {
        Operand::Immediate(immediate) => Slot { immediate, ..slot },
        Operand::Register(source) => Slot { opcode: slot.opcode | 8, source: source.number(), ..slot },
    }
}

fn alu_class(width: Width) -> u8 {
    match width {
        Width::W32 => class::ALU,
        Width::W64 => class::ALU64,
    }
}

/// The code of an operation, and the offset that distinguishes signed division.
fn alu_code(operation: Alu) -> (u8, i16) {
    match operation {
        Alu::Add => (0x0, 0),
        Alu::Sub => (0x1, 0),
        Alu::Mul => (0x2, 0),
        Alu::Div => (0x3, 0),
        Alu::SignedDiv => (0x3, 1),
        Alu::Or => (0x4, 0),
        Alu::And => (0x5, 0),
        Alu::ShiftLeft => (0x6, 0),
        Alu::ShiftRight => (0x7, 0),
        Alu::Mod => (0x9, 0),
        Alu::SignedMod => (0x9, 1),
        Alu::Xor => (0xa, 0),
        Alu::Mov => (0xb, 0),
        Alu::ShiftRightSigned => (0xc, 0),
    }
}

fn condition_code(condition: Condition) -> u8 {
    match condition {
        Condition::Equal => 0x1,
        Condition::Above => 0x2,
        Condition::AboveOrEqual => 0x3,
        Condition::AnyBit => 0x4,
        Condition::NotEqual => 0x5,
        Condition::SignedGreater => 0x6,
        Condition::SignedGreaterOrEqual => 0x7,
        Condition::Below => 0xa,
        Condition::BelowOrEqual => 0xb,
        Condition::SignedLess => 0xc,
        Condition::SignedLessOrEqual => 0xd,
    }
}

fn atomic_code(operation: Atomic) -> i32 {
    match operation {
        Atomic::Add => 0x00,
        Atomic::Or => 0x40,
        Atomic::And => 0x50,
        Atomic::Xor => 0xa0,
        Atomic::FetchAdd => 0x01,
        Atomic::FetchOr => 0x41,
        Atomic::FetchAnd => 0x51,
        Atomic::FetchXor => 0xa1,
        Atomic::Exchange => 0xe1,
        Atomic::CompareExchange => 0xf1,
    }
}

fn size_code(size: Size) -> u8 {
    match size {
        Size::Word => 0x00,
        Size::Half => 0x08,
        Size::Byte => 0x10,
        Size::Double => 0x18,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;

    /// Every opcode, with possible values of the other fields.
    #[test]
    fn what_can_be_decoded_is_encoded_as_it_was() {
        let immediates = [0, 1, 16, 32, 64, 0x40, 0x50, 0xa0, 0x41, 0x51, 0xa1, 0xe1, 0xf1, -1];
        let mut decoded = 0;
        for opcode in 0..=255 {
            for (destination, source) in (0..12).flat_map(|d| (0..12).map(move |s| (d, s))) {
                for offset in [0, 1, 8, 16, 32, -7] {
                    for immediate in immediates {
                        let slots = [
                            Slot { opcode, destination, source, offset, immediate },
                            Slot { immediate: 5, ..Slot::default() },
                        ];
                        let Ok(instruction) = decode(&slots, 0) else { continue };
                        let mut again = Vec::new();
                        instruction.encode(&mut again);
                        assert_eq!(again, slots[..instruction.slots()], "{instruction:?}");
                        decoded += 1;
                    }
                }
            }
        }
        assert!(decoded > 50_000, "only {decoded}");
    }
}
