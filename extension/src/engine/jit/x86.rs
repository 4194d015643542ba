//! Encodes instructions of x86-64, in the forms that the compilers here need. Each has a REX prefix, needed or not.

use alloc::vec::Vec;

use crate::bytecode::Width;

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg(pub u8);

pub(crate) const RAX: Reg = Reg(0);
pub(crate) const RCX: Reg = Reg(1);
pub(crate) const RDX: Reg = Reg(2);
pub(crate) const RBX: Reg = Reg(3);
pub(crate) const RSP: Reg = Reg(4);
pub(crate) const RBP: Reg = Reg(5);
pub(crate) const RSI: Reg = Reg(6);
pub(crate) const RDI: Reg = Reg(7);
pub(crate) const R8: Reg = Reg(8);
pub(crate) const R9: Reg = Reg(9);
pub(crate) const R10: Reg = Reg(10);
pub(crate) const R11: Reg = Reg(11);
pub(crate) const R12: Reg = Reg(12);
pub(crate) const R13: Reg = Reg(13);
pub(crate) const R14: Reg = Reg(14);
pub(crate) const R15: Reg = Reg(15);

/// `[base + index * scale + displacement]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub base: Reg,
    /// The index register, with the binary logarithm of its scale.
    pub index: Option<(Reg, u8)>,
    pub displacement: i32,
}

impl Place {
    pub fn new(base: Reg, displacement: i32) -> Place {
        Place { base, index: None, displacement }
    }

    pub fn plus(self, bytes: i32) -> Place {
        Place { displacement: self.displacement + bytes, ..self }
    }
}

/// Operations on two operands, by the opcode of the form `op r/m, r`, from which those of other forms follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add = 0x01,
    Or = 0x09,
    And = 0x21,
    Sub = 0x29,
    Xor = 0x31,
    Cmp = 0x39,
}

/// Shifts and rotations, by their opcode extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Rol = 0,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// Conditions of jumps, by their numbers in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum If {
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

/// Code under construction.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub bytes: Vec<u8>,
}

impl Code {
    pub fn here(&self) -> usize {
        self.bytes.len()
    }

    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn put32(&mut self, number: i32) {
        self.put(&number.to_le_bytes());
    }

    /// `opcode` with a register (or an opcode extension) and a register.
    pub fn registers(&mut self, width: Width, opcode: &[u8], reg: Reg, rm: Reg) {
        self.rex(width, reg.0, 0, rm.0);
        self.put(opcode);
        self.bytes.push(0xc0 | (reg.0 & 7) << 3 | rm.0 & 7);
    }

    /// `opcode` with a register (or an opcode extension) and a place in memory.
    pub fn memory(&mut self, width: Width, opcode: &[u8], reg: Reg, place: Place) {
        let index = place.index.map_or(0, |(index, _)| index.0);
        self.rex(width, reg.0, index, place.base.0);
        self.put(opcode);
        self.place(reg.0, place);
    }

    /// ModRM, SIB and displacement, for a register (or an opcode extension) and a place in memory.
    pub fn place(&mut self, reg: u8, place: Place) {
        let Place { base, index, displacement } = place;
        let mode = match displacement {
            0 if base.0 & 7 != 5 => 0x00,
            -128..=127 => 0x40,
            _ => 0x80,
        };
        let reg = (reg & 7) << 3;
        match index {
            Some((index, scale)) => self.put(&[mode | reg | 4, scale << 6 | (index.0 & 7) << 3 | base.0 & 7]),
            None if base.0 & 7 == 4 => self.put(&[mode | reg | 4, 0x24]),
            None => self.bytes.push(mode | reg | base.0 & 7),
        }
        match mode {
            0x00 => {}
            0x40 => self.bytes.push(displacement as u8),
            _ => self.put32(displacement),
        }
    }

    fn rex(&mut self, width: Width, reg: u8, index: u8, base: u8) {
        let wide = if width == Width::W64 { 8 } else { 0 };
        self.bytes.push(0x40 | wide | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3);
    }

    pub fn op(&mut self, width: Width, op: Op, to: Reg, from: Reg) {
        self.registers(width, &[op as u8], from, to);
    }

    /// An operation with an immediate operand, which is sign-extended.
    pub fn op_number(&mut self, width: Width, op: Op, to: Reg, number: i32) {
        let digit = Reg(op as u8 >> 3);
        if let Ok(short) = i8::try_from(number) {
            self.registers(width, &[0x83], digit, to);
            self.bytes.push(short as u8);
        } else {
            self.registers(width, &[0x81], digit, to);
            self.put32(number);
        }
    }

    pub fn mov(&mut self, width: Width, to: Reg, from: Reg) {
        self.registers(width, &[0x89], from, to);
    }

    /// Loads a number into a register, by the shortest instruction.
    pub fn mov_number(&mut self, to: Reg, number: u64) {
        if let Ok(narrow) = u32::try_from(number) {
            self.rex(Width::W32, 0, 0, to.0);
            self.bytes.push(0xb8 | to.0 & 7);
            self.put32(narrow as i32);
        } else if let Ok(signed) = i32::try_from(number as i64) {
            self.registers(Width::W64, &[0xc7], Reg(0), to);
            self.put32(signed);
        } else {
            self.rex(Width::W64, 0, 0, to.0);
            self.bytes.push(0xb8 | to.0 & 7);
            self.put(&number.to_le_bytes());
        }
    }

    pub fn load(&mut self, to: Reg, place: Place) {
        self.memory(Width::W64, &[0x8b], to, place);
    }

    pub fn store(&mut self, place: Place, from: Reg) {
        self.memory(Width::W64, &[0x89], from, place);
    }

    pub fn lea(&mut self, width: Width, to: Reg, place: Place) {
        self.memory(width, &[0x8d], to, place);
    }

    pub fn shift(&mut self, width: Width, shift: Shift, register: Reg, bits: u8) {
        self.registers(width, &[0xc1], Reg(shift as u8), register);
        self.bytes.push(bits);
    }

    /// Shifts by RCX.
    pub fn shift_by_rcx(&mut self, width: Width, shift: Shift, register: Reg) {
        self.registers(width, &[0xd3], Reg(shift as u8), register);
    }

    pub fn test(&mut self, width: Width, a: Reg, b: Reg) {
        self.registers(width, &[0x85], b, a);
    }

    pub fn push(&mut self, register: Reg) {
        self.rex(Width::W32, 0, 0, register.0);
        self.bytes.push(0x50 | register.0 & 7);
    }

    pub fn pop(&mut self, register: Reg) {
        self.rex(Width::W32, 0, 0, register.0);
        self.bytes.push(0x58 | register.0 & 7);
    }

    /// A jump whose distance is patched later. Returns where the distance is.
    pub fn jump(&mut self) -> usize {
        self.put(&[0xe9, 0, 0, 0, 0]);
        self.here() - 4
    }

    pub fn jump_if(&mut self, condition: If) -> usize {
        self.put(&[0x0f, 0x80 | condition as u8, 0, 0, 0, 0]);
        self.here() - 4
    }

    pub fn call(&mut self) -> usize {
        self.put(&[0xe8, 0, 0, 0, 0]);
        self.here() - 4
    }

    pub fn call_register(&mut self, register: Reg) {
        self.registers(Width::W32, &[0xff], Reg(2), register);
    }

    pub fn jump_register(&mut self, register: Reg) {
        self.registers(Width::W32, &[0xff], Reg(4), register);
    }

    /// Pads with NOPs to a multiple of 16 bytes from the beginning, where loops are fetched faster.
    pub fn align(&mut self) {
        const NOTHING: [&[u8]; 10] = [
            &[],
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let bytes = self.here().wrapping_neg() % 16;
        self.put(NOTHING[bytes.min(9)]);
        self.put(NOTHING[bytes - bytes.min(9)]);
    }

    pub fn ret(&mut self) {
        self.bytes.push(0xc3);
    }

    /// Patches a jump to lead to a place.
    pub fn patch(&mut self, jump: usize, target: usize) {
        let distance = (target as i64 - (jump as i64 + 4)) as i32;
        self.bytes[jump..jump + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Patches jumps to lead here.
    pub fn land(&mut self, jump: usize) {
        self.patch(jump, self.here());
    }
}
