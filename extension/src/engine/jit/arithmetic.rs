//! Compiles arithmetic, comparisons, loads and stores.

use super::compile::{Compiler, SCRATCH, sign_extension};
use super::x86::*;
use crate::bytecode::*;

impl<H> Compiler<'_, H> {
    pub fn alu(&mut self, width: Width, operation: Alu, to: Reg, source: Operand) {
        let shift = match operation {
            Alu::Add => return self.two(width, Op::Add, to, source),
            Alu::Sub => return self.two(width, Op::Sub, to, source),
            Alu::Or => return self.two(width, Op::Or, to, source),
            Alu::And => return self.two(width, Op::And, to, source),
            Alu::Xor => return self.two(width, Op::Xor, to, source),
            Alu::Mov => {
                return match source {
                    Operand::Register(from) => {
                        let from = self.reg(from);
                        self.code.mov(width, to, from);
                    }
                    Operand::Immediate(number) => self.number(to, immediate(width, number)),
                };
            }
            Alu::Mul => {
                if let Operand::Immediate(number) = source
                    && !self.hides(number.into())
                {
                    return self.multiply(width, to, number);
                }
                let from = self.in_register(width, source);
                return self.code.registers(width, &[0x0f, 0xaf], to, from);
            }
            Alu::Div | Alu::SignedDiv | Alu::Mod | Alu::SignedMod => {
                return self.divide(width, operation, to, source);
            }
            Alu::ShiftLeft => Shift::Shl,
            Alu::ShiftRight => Shift::Shr,
            Alu::ShiftRightSigned => Shift::Sar,
        };
        match source {
            Operand::Immediate(bits) => self.code.shift(width, shift, to, bits as u8),
            Operand::Register(from) => {
                let from = self.reg(from);
                self.shift(width, shift, to, from);
            }
        }
    }

    fn two(&mut self, width: Width, op: Op, to: Reg, source: Operand) {
        match source {
            Operand::Immediate(number) if !self.hides(number.into()) => {
                self.code.op_number(width, op, to, number);
            }
            _ => {
                let from = self.in_register(width, source);
                self.code.op(width, op, to, from);
            }
        }
    }

    /// Compiles faster sequences for some constant operands.
    fn multiply(&mut self, width: Width, to: Reg, number: i32) {
        let near = |power: i32| (power > 0 && power.count_ones() == 1).then(|| power.trailing_zeros() as u8);
        match number {
            3 | 5 | 9 => {
                let scale = (number as u32 - 1).trailing_zeros() as u8;
                self.code.lea(width, to, Place { base: to, index: Some((to, scale)), displacement: 0 });
            }
            _ if let Some(bits) = near(number) => self.code.shift(width, Shift::Shl, to, bits),
            _ if let Some((bits, op)) = near(number.saturating_sub(1))
                .map(|bits| (bits, Op::Add))
                .or(near(number.saturating_add(1)).map(|bits| (bits, Op::Sub))) =>
            {
                self.code.mov(width, SCRATCH, to);
                self.code.shift(width, Shift::Shl, to, bits);
                self.code.op(width, op, to, SCRATCH);
            }
            _ => {
                self.code.registers(width, &[0x69], to, to);
                self.code.put32(number);
            }
        }
    }

    /// Compiles shifts: the machine's are by RCX only.
    fn shift(&mut self, width: Width, shift: Shift, to: Reg, bits: Reg) {
        if bits == RCX {
            return self.code.shift_by_rcx(width, shift, to);
        }
        self.code.mov(Width::W64, SCRATCH, RCX);
        self.code.mov(Width::W64, RCX, bits);
        if to == RCX {
            self.code.shift_by_rcx(width, shift, SCRATCH);
        } else {
            self.code.shift_by_rcx(width, shift, to);
        }
        self.code.mov(Width::W64, RCX, SCRATCH);
    }

    /// Compiles divisions: the machine's are of RDX:RAX only, and trap where the RFC defines a result.
    fn divide(&mut self, width: Width, operation: Alu, to: Reg, source: Operand) {
        let is_signed = matches!(operation, Alu::SignedDiv | Alu::SignedMod);
        let gives_quotient = matches!(operation, Alu::Div | Alu::SignedDiv);
        match source {
            Operand::Register(from) => {
                let from = self.reg(from);
                self.code.mov(width, SCRATCH, from);
            }
            Operand::Immediate(number) => self.number(SCRATCH, immediate(width, number)),
        }
        self.code.test(width, SCRATCH, SCRATCH);
        let by_zero = self.code.jump_if(If::Equal);
        let by_minus_one = is_signed.then(|| {
            self.code.op_number(width, Op::Cmp, SCRATCH, -1);
            self.code.jump_if(If::Equal)
        });

        let others = [RAX, RDX].into_iter().filter(|register| *register != to);
        others.clone().for_each(|register| self.code.push(register));
        self.code.mov(width, RAX, to);
        if is_signed {
            // cdq, cqo
            self.code.put(if width == Width::W64 { &[0x48, 0x99] } else { &[0x99] });
            self.code.registers(width, &[0xf7], Reg(7), SCRATCH);
        } else {
            self.code.op(Width::W32, Op::Xor, RDX, RDX);
            self.code.registers(width, &[0xf7], Reg(6), SCRATCH);
        }
        self.code.mov(width, SCRATCH, if gives_quotient { RAX } else { RDX });
        others.rev().for_each(|register| self.code.pop(register));
        self.code.mov(width, to, SCRATCH);
        let done = self.code.jump();

        let also_done = by_minus_one.map(|jump| {
            self.code.land(jump);
            if gives_quotient {
                self.code.registers(width, &[0xf7], Reg(3), to);
            } else {
                self.code.op(Width::W32, Op::Xor, to, to);
            }
            self.code.jump()
        });
        self.code.land(by_zero);
        if gives_quotient {
            self.code.op(Width::W32, Op::Xor, to, to);
        } else {
            self.code.mov(width, to, to);
        }
        self.code.land(done);
        also_done.into_iter().for_each(|jump| self.code.land(jump));
    }

    pub fn swap(&mut self, order: Order, size: Size, register: Reg) {
        match (order, size) {
            (Order::Little, Size::Double) => {}
            (Order::Little, Size::Word) => self.code.mov(Width::W32, register, register),
            (Order::Little, _) => self.code.registers(Width::W32, &[0x0f, 0xb7], register, register),
            (_, Size::Double) => self.reverse(Width::W64, register),
            (_, Size::Word) => self.reverse(Width::W32, register),
            (_, _) => {
                self.reverse(Width::W32, register);
                self.code.shift(Width::W32, Shift::Shr, register, 16);
            }
        }
    }

    /// bswap
    fn reverse(&mut self, width: Width, register: Reg) {
        self.code.registers(width, &[0x0f], Reg(1), register);
    }

    /// Compiles a comparison. Returns the condition on the flags.
    pub fn compare(&mut self, width: Width, condition: Condition, left: Register, right: Operand) -> If {
        let left = self.reg(left);
        if condition == Condition::AnyBit {
            let right = self.in_register(width, right);
            self.code.test(width, left, right);
            return If::NotEqual;
        }
        match right {
            // The same flags, in fewer bytes.
            Operand::Immediate(0) => self.code.test(width, left, left),
            _ => self.two(width, Op::Cmp, left, right),
        }
        match condition {
            Condition::Equal => If::Equal,
            Condition::NotEqual | Condition::AnyBit => If::NotEqual,
            Condition::Above => If::Above,
            Condition::AboveOrEqual => If::AboveOrEqual,
            Condition::Below => If::Below,
            Condition::BelowOrEqual => If::BelowOrEqual,
            Condition::SignedGreater => If::Greater,
            Condition::SignedGreaterOrEqual => If::GreaterOrEqual,
            Condition::SignedLess => If::Less,
            Condition::SignedLessOrEqual => If::LessOrEqual,
        }
    }

    pub fn load(&mut self, sign: Sign, size: Size, to: Reg, place: Place) {
        match (sign, size) {
            (Sign::Extend, _) => self.code.memory(Width::W64, sign_extension(size), to, place),
            (Sign::Zero, Size::Byte) => self.code.memory(Width::W32, &[0x0f, 0xb6], to, place),
            (Sign::Zero, Size::Half) => self.code.memory(Width::W32, &[0x0f, 0xb7], to, place),
            (Sign::Zero, Size::Word) => self.code.memory(Width::W32, &[0x8b], to, place),
            (Sign::Zero, Size::Double) => self.code.load(to, place),
        }
    }

    pub fn store(&mut self, size: Size, place: Place, source: Operand) {
        match source {
            Operand::Register(from) => {
                let from = self.reg(from);
                self.store_register(size, place, from);
            }
            Operand::Immediate(number) if !self.hides(number.into()) => {
                self.store_number(size, place, number);
            }
            Operand::Immediate(number) => {
                // SCRATCH may be in the place.
                let from = self.temporary();
                self.number(from, immediate(Width::W64, number));
                self.store_register(size, place, from);
            }
        }
    }

    fn store_register(&mut self, size: Size, place: Place, from: Reg) {
        match size {
            Size::Byte => self.code.memory(Width::W32, &[0x88], from, place),
            Size::Half => {
                self.code.put(&[0x66]);
                self.code.memory(Width::W32, &[0x89], from, place);
            }
            Size::Word => self.code.memory(Width::W32, &[0x89], from, place),
            Size::Double => self.code.store(place, from),
        }
    }

    fn store_number(&mut self, size: Size, place: Place, number: i32) {
        match size {
            Size::Byte => {
                self.code.memory(Width::W32, &[0xc6], Reg(0), place);
                self.code.put(&[number as u8]);
            }
            Size::Half => {
                self.code.put(&[0x66]);
                self.code.memory(Width::W32, &[0xc7], Reg(0), place);
                self.code.put(&(number as i16).to_le_bytes());
            }
            Size::Word | Size::Double => {
                let width = if size == Size::Double { Width::W64 } else { Width::W32 };
                self.code.memory(width, &[0xc7], Reg(0), place);
                self.code.put32(number);
            }
        }
    }

    /// Compiles atomic operations without a lock prefix: nobody else accesses the memory while the program runs, and
    /// locked instructions would let it slow others down.
    pub fn atomic(&mut self, width: Width, operation: Atomic, place: Place, source: Reg) {
        let op = match operation {
            Atomic::Add => return self.code.memory(width, &[Op::Add as u8], source, place),
            Atomic::Or => return self.code.memory(width, &[Op::Or as u8], source, place),
            Atomic::And => return self.code.memory(width, &[Op::And as u8], source, place),
            Atomic::Xor => return self.code.memory(width, &[Op::Xor as u8], source, place),
            Atomic::CompareExchange => {
                // cmpxchg; where it exchanges it leaves the upper half of RAX.
                self.code.memory(width, &[0x0f, 0xb1], source, place);
                return self.code.mov(width, RAX, RAX);
            }
            Atomic::FetchAdd => Op::Add as u8,
            Atomic::FetchOr => Op::Or as u8,
            Atomic::FetchAnd => Op::And as u8,
            Atomic::FetchXor => Op::Xor as u8,
            Atomic::Exchange => 0x89,
        };
        let operand = self.temporary();
        self.code.memory(width, &[0x8b], operand, place);
        // xchg
        self.code.registers(Width::W64, &[0x87], operand, source);
        self.code.memory(width, &[op], operand, place);
    }

    fn in_register(&mut self, width: Width, operand: Operand) -> Reg {
        match operand {
            Operand::Register(register) => self.reg(register),
            Operand::Immediate(number) => {
                self.number(SCRATCH, immediate(width, number));
                SCRATCH
            }
        }
    }

    /// Puts a number that the program chose into a register. If asked to, so that it doesn't stand in the code, where
    /// somebody might make a processor jump to it.
    pub fn number(&mut self, to: Reg, number: u64) {
        if !self.hides(number as i64) {
            return self.code.mov_number(to, number);
        }
        let key = self.next_key();
        // Numbers that are extended with their sign when they are used: without one.
        let (low, high) = (key as u32 & 0x7fff_ffff, (key >> 32) as u32 & 0x7fff_ffff);
        self.code.mov_number(to, number ^ (u64::from(low) | u64::from(high) << 32));
        self.code.op_number(Width::W64, Op::Xor, to, low as i32);
        self.code.shift(Width::W64, Shift::Rol, to, 32);
        self.code.op_number(Width::W64, Op::Xor, to, high as i32);
        self.code.shift(Width::W64, Shift::Rol, to, 32);
    }

    /// Whether a number must not stand in the code. A byte of the program's choice may: it stands in other instructions
    /// too, and is too little for one and a way to the next.
    fn hides(&self, number: i64) -> bool {
        self.key.is_some() && i8::try_from(number).is_err()
    }

    /// Another one for each number.
    fn next_key(&mut self) -> u64 {
        let mut key = self.key.unwrap_or(0).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.key = Some(key);
        key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        key ^ key >> 31
    }
}

pub(super) fn immediate(width: Width, number: i32) -> u64 {
    match width {
        Width::W64 => i64::from(number) as u64,
        Width::W32 => number as u32 as u64,
    }
}
