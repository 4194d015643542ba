//! Instruction sequences for the steps of a pipe, on vectors. Operands may be in memory. Only the last instruction of a
//! step writes its result.

use super::frame::{Compiler, constant_at};
use super::simd::*;
use super::vector::{At, Lanes, SCRATCH, splat};
use crate::engine::jit::x86::{Code, Place};
use crate::pipe::Gauge;
use crate::pipe::body::*;

impl Lanes<'_> {
    /// Where a value is.
    pub fn home(&self, value: Value) -> At {
        self.homes[usize::from(value.0)].expect("values are computed before they are needed")
    }

    /// A register with the value: its own, or else this one, into which it is loaded.
    pub fn fetch(&self, code: &mut Code, value: Value, or: Vector) -> Vector {
        match self.home(value) {
            At::Register(vector) => vector,
            At::Place(place) => {
                self.simd.load(code, or, place);
                or
            }
        }
    }

    /// Computes a step.
    pub fn operation(&self, compiler: &mut Compiler, step: Step, to: Vector) {
        let width = step.width;
        match step.operation {
            Operation::Binary(operation, a, b) => self.binary(compiler, operation, width, to, a, b),
            Operation::Not(a) => {
                let simd = self.simd;
                let code = &mut compiler.code;
                let ones = SCRATCH[0];
                simd.op(code, equal(Gauge::Bits32), ones, ones, ones);
                simd.op(code, XOR, to, ones, self.home(a));
            }
            Operation::Swap(a) => {
                let mask = compiler.constant(reversal(width));
                let a = self.fetch(&mut compiler.code, a, SCRATCH[0]);
                self.simd.op(&mut compiler.code, SHUFFLE, to, a, mask);
            }
            Operation::Select(comparison, all) => self.select(compiler, comparison, width, to, all),
            // Others can't be vectorised, or need no instruction.
            _ => {}
        }
    }

    fn binary(
        &self,
        compiler: &mut Compiler,
        operation: Binary,
        width: Gauge,
        to: Vector,
        a: Value,
        b: Value,
    ) {
        use Binary::*;
        let simple = match operation {
            Add => Some(add(width)),
            Sub => Some(sub(width)),
            And => Some(AND),
            Or => Some(OR),
            Xor => Some(XOR),
            Min if width < Gauge::Bits64 => Some(min(width)),
            Max if width < Gauge::Bits64 => Some(max(width)),
            Mul if width == Gauge::Bits16 => Some(MUL16),
            Mul if width == Gauge::Bits32 => Some(MUL32),
            _ => None,
        };
        if let Some(form) = simple {
            let a = self.fetch(&mut compiler.code, a, SCRATCH[0]);
            return self.simd.op(&mut compiler.code, form, to, a, self.home(b));
        }
        if let ShiftLeft | ShiftRight | ShiftRightSigned | RotateLeft = operation {
            let bits = u64::from(width.bits());
            match self.body.constant(b).map(|it| (it % bits) as u8) {
                Some(count) => self.shift(compiler, operation, width, to, a, count),
                None => self.shift_each(compiler, operation, width, to, a, b),
            }
            return;
        }
        let [first, second, _] = SCRATCH;
        let a = self.fetch(&mut compiler.code, a, first);
        let b = self.fetch(&mut compiler.code, b, second);
        match operation {
            Mul if width == Gauge::Bits8 => self.mul8(compiler, to, a, b),
            Mul => self.mul64(compiler, to, a, b),
            EndAroundAdd => self.simd.end_around_add(compiler, width, to, a, b),
            Min => self.simd.extreme64(compiler, to, a, b, false),
            _ => self.simd.extreme64(compiler, to, a, b, true),
        }
    }

    fn mul8(&self, compiler: &mut Compiler, to: Vector, a: Vector, b: Vector) {
        let (simd, code) = (self.simd, &mut compiler.code);
        let [first, second, third] = SCRATCH;
        let width = Gauge::Bits16;
        simd.op(code, MUL16, third, a, b);
        simd.shift(code, ShiftAll::Left, width, third, third, 8);
        simd.shift(code, ShiftAll::Right, width, third, third, 8);
        simd.shift(code, ShiftAll::Right, width, first, a, 8);
        simd.shift(code, ShiftAll::Right, width, second, b, 8);
        simd.op(code, MUL16, first, first, second);
        simd.shift(code, ShiftAll::Left, width, first, first, 8);
        simd.op(code, OR, to, first, third);
    }

    fn mul64(&self, compiler: &mut Compiler, to: Vector, a: Vector, b: Vector) {
        let (simd, code) = (self.simd, &mut compiler.code);
        let [first, second, third] = SCRATCH;
        let width = Gauge::Bits64;
        simd.shift(code, ShiftAll::Right, width, third, a, 32);
        simd.op(code, MUL_LOW, third, third, b);
        if a == first || b == first {
            // There are as many scratch registers as values, so one is kept in the frame.
            let kept = compiler.take(4);
            simd.store(&mut compiler.code, kept, third);
            self.cross(&mut compiler.code, third, a, b);
            simd.op(&mut compiler.code, add(width), third, third, kept);
        } else {
            self.cross(code, first, a, b);
            simd.op(code, add(width), third, third, first);
        }
        let code = &mut compiler.code;
        simd.shift(code, ShiftAll::Left, width, third, third, 32);
        simd.op(code, MUL_LOW, second, a, b);
        simd.op(code, add(width), to, second, third);
    }

    /// Multiplies the first one's lower 32 bits by the second one's upper.
    fn cross(&self, code: &mut Code, to: Vector, a: Vector, b: Vector) {
        self.simd.shift(code, ShiftAll::Right, Gauge::Bits64, to, b, 32);
        self.simd.op(code, MUL_LOW, to, to, a);
    }

    fn shift(&self, compiler: &mut Compiler, kind: Binary, width: Gauge, to: Vector, a: Value, count: u8) {
        let [first, second, _] = SCRATCH;
        let a = self.fetch(&mut compiler.code, a, first);
        match kind {
            Binary::ShiftLeft => self.shift_all(compiler, ShiftAll::Left, width, to, a, count),
            Binary::ShiftRight => self.shift_all(compiler, ShiftAll::Right, width, to, a, count),
            Binary::RotateLeft if count == 0 => self.simd.load(&mut compiler.code, to, a),
            Binary::RotateLeft => {
                let bits = width.bits() as u8;
                self.shift_all(compiler, ShiftAll::Left, width, second, a, count);
                self.shift_all(compiler, ShiftAll::Right, width, first, a, bits - count);
                self.simd.op(&mut compiler.code, OR, to, first, second);
            }
            _ if matches!(width, Gauge::Bits16 | Gauge::Bits32) => {
                self.simd.shift(&mut compiler.code, ShiftAll::RightSigned, width, to, a, count);
            }
            _ => {
                // Extends the sign: inverts its bit, where it is after the shift, and subtracts that bit.
                self.shift_all(compiler, ShiftAll::Right, width, first, a, count);
                let sign = compiler.constant(splat(width, width.sign() >> count));
                self.simd.op(&mut compiler.code, XOR, first, first, sign);
                self.simd.op(&mut compiler.code, sub(width), to, first, sign);
            }
        }
    }

    /// Shifts bytes as halves of 16 bits, and masks out the bits of the neighbour.
    fn shift_all(
        &self,
        compiler: &mut Compiler,
        kind: ShiftAll,
        width: Gauge,
        to: Vector,
        from: Vector,
        count: u8,
    ) {
        let simd = self.simd;
        if width != Gauge::Bits8 {
            return simd.shift(&mut compiler.code, kind, width, to, from, count);
        }
        let left = if kind == ShiftAll::Left { 0xff << count & 0xff } else { 0xff >> count };
        let mask = compiler.constant(splat(width, left));
        let scratch = SCRATCH[2];
        simd.shift(&mut compiler.code, kind, Gauge::Bits16, scratch, from, count);
        simd.op(&mut compiler.code, AND, to, scratch, mask);
    }

    /// Shifts each element by the number in another one.
    fn shift_each(
        &self,
        compiler: &mut Compiler,
        kind: Binary,
        width: Gauge,
        to: Vector,
        a: Value,
        by: Value,
    ) {
        let [first, second, third] = SCRATCH;
        let bits = u64::from(width.bits());
        let mask = compiler.constant(splat(width, bits - 1));
        let all = compiler.constant(splat(width, bits));
        let (simd, code) = (self.simd, &mut compiler.code);
        let a = self.fetch(code, a, first);
        let by = self.fetch(code, by, second);
        simd.op(code, AND, second, by, mask);
        match kind {
            Binary::ShiftLeft => simd.op(code, shift_each(true, false, width), to, a, second),
            Binary::ShiftRight => simd.op(code, shift_each(false, false, width), to, a, second),
            Binary::ShiftRightSigned => simd.op(code, shift_each(false, true, width), to, a, second),
            _ => {
                // A shift by all bits gives 0.
                simd.load(code, third, all);
                simd.op(code, sub(width), third, third, second);
                simd.op(code, shift_each(false, false, width), third, a, third);
                simd.op(code, shift_each(true, false, width), first, a, second);
                simd.op(code, OR, to, first, third);
            }
        }
    }

    fn select(
        &self,
        compiler: &mut Compiler,
        comparison: Comparison,
        width: Gauge,
        to: Vector,
        all: [Value; 4],
    ) {
        use Comparison::*;
        let [a, b, then, or] = all;
        let [first, second, mask] = SCRATCH;
        let x = self.fetch(&mut compiler.code, a, first);
        let y = self.fetch(&mut compiler.code, b, second);
        let simd = self.simd;
        let taken = compiler.taken;
        // Whether the mask is the negation.
        let is_negated = match comparison {
            Equal | NotEqual => {
                simd.op(&mut compiler.code, equal(width), mask, x, y);
                comparison == NotEqual
            }
            SignedLess => {
                simd.op(&mut compiler.code, greater(width), mask, y, x);
                false
            }
            SignedLessOrEqual => {
                simd.op(&mut compiler.code, greater(width), mask, x, y);
                true
            }
            Below if width == Gauge::Bits64 => {
                simd.above64(compiler, mask, y, x);
                false
            }
            BelowOrEqual if width == Gauge::Bits64 => {
                simd.above64(compiler, mask, x, y);
                true
            }
            Below | BelowOrEqual => {
                let extreme = if comparison == Below { max(width) } else { min(width) };
                simd.op(&mut compiler.code, extreme, mask, x, y);
                simd.op(&mut compiler.code, equal(width), mask, mask, x);
                comparison == Below
            }
        };
        compiler.taken = taken;
        let code = &mut compiler.code;
        let (yes, no) = if is_negated { (or, then) } else { (then, or) };
        let yes = self.fetch(code, yes, first);
        let no = self.fetch(code, no, second);
        simd.blend(code, to, no, yes, mask);
    }

    /// Interleaves the elements of two values, to a first and a second half.
    pub fn join(&self, compiler: &mut Compiler, low: Value, high: Value, first: Vector, second: Vector) {
        let [x, y, z] = SCRATCH;
        let (simd, code) = (self.simd, &mut compiler.code);
        let width = self.body.width(low);
        let low = self.fetch(code, low, x);
        let high = self.fetch(code, high, y);
        if simd.is_wide {
            simd.op(code, interleave_low(width), z, low, high);
            simd.op(code, interleave_high(width), x, low, high);
            simd.halves(code, false, first, z, x);
            simd.halves(code, true, second, z, x);
        } else {
            simd.op(code, interleave_low(width), z, low, high);
            simd.op(code, interleave_high(width), second, low, high);
            simd.load(code, first, z);
        }
    }
}

impl Simd {
    /// The smaller or the larger one of unsigned 64-bit numbers.
    pub fn extreme64(&self, compiler: &mut Compiler, to: Vector, a: Vector, b: Vector, is_max: bool) {
        let above = SCRATCH[2];
        let frame = self.above64(compiler, above, a, b);
        let code = &mut compiler.code;
        if is_max {
            self.blend(code, to, b, a, above);
        } else {
            self.blend(code, to, a, b, above);
        }
        compiler.taken = frame;
    }

    /// Whether a is above b, unsigned: by a signed comparison of the numbers with their highest bits inverted. Returns
    /// how much of the frame was in use before.
    pub fn above64(&self, compiler: &mut Compiler, to: Vector, a: Vector, b: Vector) -> usize {
        let taken = compiler.taken;
        let bias = compiler.constant(splat(Gauge::Bits64, Gauge::Bits64.sign()));
        let other = compiler.take(4);
        let code = &mut compiler.code;
        self.load(code, to, bias);
        self.op(code, XOR, to, to, b);
        self.store(code, other, to);
        self.load(code, to, bias);
        self.op(code, XOR, to, to, a);
        self.op(code, greater(Gauge::Bits64), to, to, other);
        taken
    }

    /// Adds 1 to the sums that have carried. The operands may be the first two scratch registers.
    pub fn end_around_add(&self, compiler: &mut Compiler, width: Gauge, to: Vector, a: Vector, b: Vector) {
        let [_, second, sum] = SCRATCH;
        if width == Gauge::Bits64 {
            let bias = compiler.constant(splat(width, width.sign()));
            let taken = compiler.taken;
            let kept = compiler.take(4);
            let code = &mut compiler.code;
            // It has carried if it is below an operand.
            self.op(code, add(width), sum, a, b);
            self.store(code, kept, sum);
            self.load(code, sum, bias);
            self.op(code, XOR, second, sum, b);
            self.op(code, XOR, sum, sum, kept);
            self.op(code, greater(width), second, second, sum);
            self.load(code, sum, kept);
            self.op(code, sub(width), to, sum, second);
            compiler.taken = taken;
            return;
        }
        let code = &mut compiler.code;
        self.op(code, add(width), sum, a, b);
        self.op(code, max(width), second, sum, b);
        // All ones, which is -1, where it has not.
        self.op(code, equal(width), second, second, sum);
        self.op(code, add(width), sum, sum, second);
        self.op(code, equal(width), second, second, second);
        self.op(code, sub(width), to, sum, second);
    }
}

/// The shuffle mask that reverses the bytes of each word.
fn reversal(width: Gauge) -> [u64; 4] {
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = (at ^ (width.bytes() - 1)) as u8;
    }
    let number = u128::from_le_bytes(bytes);
    let halves = [number as u64, (number >> 64) as u64];
    [halves[0], halves[1], halves[0], halves[1]]
}

impl Compiler<'_> {
    /// A constant vector: in a register while there are any for it, else among the constants.
    pub fn constant(&mut self, words: [u64; 4]) -> At {
        let at = self.number_of(words);
        if let Some((_, register)) = self.hoisted.iter().find(|(it, _)| *it == at) {
            return At::Register(*register);
        }
        match self.spare.pop() {
            Some(register) => {
                self.hoisted.push((at, register));
                At::Register(register)
            }
            None => At::Place(constant_at(at)),
        }
    }

    /// A constant vector in memory, for those that are used once.
    pub fn constant_in_memory(&mut self, words: [u64; 4]) -> Place {
        constant_at(self.number_of(words))
    }

    fn number_of(&mut self, words: [u64; 4]) -> usize {
        let found = self.constants.chunks_exact(4).position(|it| it == words);
        found.unwrap_or_else(|| {
            self.constants.extend(words);
            self.constants.len() / 4 - 1
        })
    }
}
