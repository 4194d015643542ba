//! Instruction sequences for the steps of a word, on general registers.

use super::frame::width;
use super::scalar::Steps;
use crate::bytecode::Width;
use crate::engine::jit::x86::*;
use crate::pipe::Gauge;
use crate::pipe::body::*;

impl Steps<'_, '_, '_> {
    fn emit(&mut self) -> &mut Code {
        &mut self.compiler.code
    }

    /// Computes a step into a register, where the first operand already is.
    pub fn operation(&mut self, step: Step, to: Reg) {
        let gauge = step.width;
        match step.operation {
            Operation::Input => {
                let place = self.words.from;
                self.compiler.load_word(gauge, to, place);
            }
            Operation::Binary(operation, _, b) => self.binary(operation, gauge, to, b),
            Operation::Not(_) if gauge < Gauge::Bits32 => {
                self.emit().op_number(Width::W32, Op::Xor, to, gauge.most() as i32);
            }
            Operation::Not(_) => self.emit().registers(width(gauge), &[0xf7], Reg(2), to),
            Operation::Swap(_) => self.swap(gauge, to),
            Operation::Select(comparison, all) => self.select(comparison, all, to),
            Operation::Widen(_) => {}
            Operation::Narrow(_) => self.cut(gauge, to),
            Operation::Join(low, high) => {
                let bits = self.width(low).bits() as u8;
                self.bring(high, to);
                let low = self.fetch(low, RAX);
                let code = self.emit();
                code.shift(Width::W64, Shift::Shl, to, bits);
                code.op(Width::W64, Op::Or, to, low);
            }
            Operation::Crc32c(_, word) => self.crc32c(to, word),
            Operation::Adler32(sum, byte) => self.adler32(to, sum, byte),
            Operation::Read { table, index } => {
                let place = self.entry(table, index);
                self.emit().load(to, place);
            }
            Operation::Write { table, index, value } => {
                let place = self.entry(table, index);
                let from = self.fetch(value, RCX);
                self.emit().store(place, from);
                self.bring(value, to);
            }
            // These have no result register.
            Operation::Constant(_) | Operation::Register(_) => {}
        }
    }

    fn binary(&mut self, operation: Binary, gauge: Gauge, to: Reg, b: Value) {
        use Binary::*;
        let wide = width(gauge);
        match operation {
            Add => self.op(Op::Add, wide, to, b),
            Sub => self.op(Op::Sub, wide, to, b),
            And => self.op(Op::And, wide, to, b),
            Or => self.op(Op::Or, wide, to, b),
            Xor => self.op(Op::Xor, wide, to, b),
            Mul => {
                let b = self.fetch(b, RCX);
                self.emit().registers(wide, &[0x0f, 0xaf], to, b);
            }
            Min | Max => {
                let b = self.fetch(b, RCX);
                let above_or_below = if operation == Min { 0x47 } else { 0x42 };
                self.emit().op(wide, Op::Cmp, to, b);
                self.emit().registers(wide, &[0x0f, above_or_below], to, b);
            }
            EndAroundAdd => {
                self.op(Op::Add, wide, to, b);
                self.end_around(gauge, to);
            }
            ShiftLeft => self.shift(Shift::Shl, gauge, to, b),
            ShiftRight => self.shift(Shift::Shr, gauge, to, b),
            ShiftRightSigned => self.shift(Shift::Sar, gauge, to, b),
            RotateLeft => self.shift(Shift::Rol, gauge, to, b),
        }
        if matches!(operation, Add | Sub | Mul | EndAroundAdd) && gauge < Gauge::Bits32 {
            self.cut(gauge, to);
        }
    }

    /// An operation with an immediate operand if it fits; else with a register.
    fn op(&mut self, op: Op, wide: Width, to: Reg, b: Value) {
        let number = self.constant(b).map(|it| if wide == Width::W32 { it as i32 as i64 } else { it as i64 });
        if let Some(number) = number.and_then(|it| i32::try_from(it).ok()) {
            self.emit().op_number(wide, op, to, number);
        } else {
            let b = self.fetch(b, RCX);
            self.emit().op(wide, op, to, b);
        }
    }

    /// Adds the carry of the last addition.
    fn end_around(&mut self, gauge: Gauge, to: Reg) {
        let code = self.emit();
        if gauge < Gauge::Bits32 {
            code.mov(Width::W32, RCX, to);
            code.shift(Width::W32, Shift::Shr, RCX, gauge.bits() as u8);
            code.op(Width::W32, Op::Add, to, RCX);
        } else {
            code.registers(width(gauge), &[0x83], Reg(2), to);
            code.put(&[0]);
        }
    }

    /// Shifts within the width of values: the bits above stay 0.
    fn shift(&mut self, shift: Shift, gauge: Gauge, to: Reg, by: Value) {
        let count = self.constant(by).map(|it| (it % u64::from(gauge.bits())) as u8);
        if count.is_none() {
            self.bring(by, RCX);
            self.emit().op_number(Width::W32, Op::And, RCX, gauge.bits() as i32 - 1);
        }
        let code = self.emit();
        if gauge == Gauge::Bits16 {
            code.put(&[0x66]);
        }
        let opcode = match (gauge, count) {
            (Gauge::Bits8, Some(_)) => 0xc0,
            (Gauge::Bits8, None) => 0xd2,
            (_, Some(_)) => 0xc1,
            (_, None) => 0xd3,
        };
        code.registers(width(gauge), &[opcode], Reg(shift as u8), to);
        if let Some(count) = count {
            code.put(&[count]);
        }
    }

    fn swap(&mut self, gauge: Gauge, to: Reg) {
        let code = self.emit();
        if gauge == Gauge::Bits16 {
            code.put(&[0x66]);
            code.shift(Width::W32, Shift::Rol, to, 8);
        } else {
            let low = 0xc8 | to.0 & 7;
            code.registers(width(gauge), &[0x0f], Reg(1), to);
            // `0f c8+r`, whose last byte is as if there were a register and a number.
            debug_assert_eq!(code.bytes.last(), Some(&low));
        }
    }

    fn select(&mut self, comparison: Comparison, [a, b, then, or]: [Value; 4], to: Reg) {
        let gauge = self.width(a);
        let wide = width(gauge);
        if comparison.is_signed() && gauge < Gauge::Bits32 {
            for (value, register) in [(a, RAX), (b, RCX)] {
                self.bring(value, register);
                let opcode = if gauge == Gauge::Bits8 { 0xbe } else { 0xbf };
                self.emit().registers(Width::W32, &[0x0f, opcode], register, register);
            }
            self.emit().op(wide, Op::Cmp, RAX, RCX);
        } else {
            let a = self.fetch(a, RAX);
            self.op(Op::Cmp, wide, a, b);
        }
        self.bring(or, to);
        let then = self.fetch(then, RCX);
        let condition = match comparison {
            Comparison::Equal => If::Equal,
            Comparison::NotEqual => If::NotEqual,
            Comparison::Below => If::Below,
            Comparison::BelowOrEqual => If::BelowOrEqual,
            Comparison::SignedLess => If::Less,
            Comparison::SignedLessOrEqual => If::LessOrEqual,
        };
        self.emit().registers(Width::W64, &[0x0f, 0x40 | condition as u8], to, then);
    }

    /// Clears the bits above a width.
    fn cut(&mut self, gauge: Gauge, to: Reg) {
        let code = self.emit();
        match gauge {
            Gauge::Bits8 => code.registers(Width::W32, &[0x0f, 0xb6], to, to),
            Gauge::Bits16 => code.registers(Width::W32, &[0x0f, 0xb7], to, to),
            Gauge::Bits32 => code.mov(Width::W32, to, to),
            Gauge::Bits64 => {}
        }
    }

    fn crc32c(&mut self, to: Reg, word: Value) {
        let gauge = self.width(word);
        let word = self.fetch(word, RCX);
        let code = self.emit();
        if gauge == Gauge::Bits16 {
            code.put(&[0x66]);
        }
        code.put(&[0xf2]);
        let opcode = if gauge == Gauge::Bits8 { 0xf0 } else { 0xf1 };
        code.registers(width(gauge), &[0x0f, 0x38, opcode], to, word);
    }

    /// After the byte was added, the lower half is less than twice the modulus, and the upper one less than three
    /// times.
    fn adler32(&mut self, to: Reg, sum: Value, byte: Value) {
        self.bring(sum, to);
        let byte = self.fetch(byte, RCX);
        let code = self.emit();
        code.registers(Width::W32, &[0x0f, 0xb7], RAX, to);
        code.op(Width::W32, Op::Add, RAX, byte);
        reduce(code, RAX);
        code.shift(Width::W32, Shift::Shr, to, 16);
        code.op(Width::W32, Op::Add, to, RAX);
        reduce(code, to);
        reduce(code, to);
        code.shift(Width::W32, Shift::Shl, to, 16);
        code.op(Width::W32, Op::Or, to, RAX);
    }
}

/// Subtracts the modulus of Adler-32, unless the number is less.
fn reduce(code: &mut Code, register: Reg) {
    code.mov(Width::W32, RCX, register);
    code.op_number(Width::W32, Op::Sub, RCX, crate::pipe::evaluate::ADLER as i32);
    code.registers(Width::W32, &[0x0f, 0x43], register, RCX);
}
