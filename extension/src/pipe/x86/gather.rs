//! Reductions on vectors: their initial values, the step for each vector, and how lanes are combined in the end.

use super::forms::Gathers;
use super::frame::{Compiler, cell_at, width};
use super::simd::*;
use super::vector::{At, Gathering, Lanes, SCRATCH, Stream, splat};
use crate::bytecode::Width;
use crate::engine::jit::x86::*;
use crate::pipe::Gauge;
use crate::pipe::body::{Binary, Value};
use crate::pipe::code::Adler;

impl Stream<'_> {
    /// Starts with the neutral element.
    pub fn clear(&self, compiler: &mut Compiler, kind: Gathers, homes: [At; 3]) {
        for (index, home) in homes.into_iter().enumerate() {
            let to = if let At::Register(it) = home { it } else { SCRATCH[0] };
            let form = match kind {
                Gathers::Beside(Binary::And | Binary::Min) => equal(Gauge::Bits32),
                _ => XOR,
            };
            if kind == Gathers::Carries && index == 0 {
                let place = compiler.constant_in_memory(BIAS);
                self.simd.load(&mut compiler.code, to, place);
            } else {
                self.simd.op(&mut compiler.code, form, to, to, to);
            }
            self.keep(compiler, home, to);
            let is_one = !matches!(kind, Gathers::Adler32 | Gathers::Carries);
            if is_one && matches!(homes[1], At::Place(_)) {
                break;
            }
        }
    }

    /// Accumulates the value of one vector.
    pub fn gather(&self, compiler: &mut Compiler, lanes: &Lanes, into: Gathering, value: Value) {
        let Gathering { kind, homes, is_third, .. } = into;
        // Two accumulators by turns, so that one doesn't wait for the other.
        let home = homes[self.turn % 2];
        match kind {
            Gathers::Beside(operation) => {
                let width = lanes.body.width(value);
                self.combine(compiler, operation, width, home, lanes.home(value));
            }
            Gathers::Sums(width, _) => {
                let value = lanes.fetch(&mut compiler.code, value, SCRATCH[0]);
                self.sums(compiler, width, value);
                self.add(compiler, add(Gauge::Bits64), home, At::Register(SCRATCH[0]));
            }
            Gathers::Carries => {
                let (from, to) = if is_third { (homes[2], homes[0]) } else { (homes[0], homes[2]) };
                self.carries(compiler, from, to, homes[1], lanes.home(value));
            }
            Gathers::Adler32 => self.adler(compiler, lanes, homes, value),
        }
    }

    /// Adds, and counts carries: lanes whose sum became less. Sums are kept with the highest bit inverted, so that
    /// signed comparisons detect that. They are in the first and the third home by turns, so that the old sum needn't
    /// be copied.
    fn carries(&self, compiler: &mut Compiler, from: At, to: At, count: At, value: At) {
        let [first, second, third] = SCRATCH;
        let simd = self.simd;
        let width = Gauge::Bits32;
        let old = self.old(compiler, from, first);
        let new = if let At::Register(it) = to { it } else { second };
        let code = &mut compiler.code;
        simd.op(code, add(width), new, old, value);
        simd.op(code, greater(width), third, old, new);
        self.keep(compiler, to, new);
        self.count(compiler, count, third);
    }

    /// `home = home - mask`: the mask is -1 in lanes that are counted.
    fn count(&self, compiler: &mut Compiler, home: At, mask: Vector) {
        let old = self.old(compiler, home, SCRATCH[0]);
        self.simd.op(&mut compiler.code, sub(Gauge::Bits32), old, old, mask);
        self.keep(compiler, home, old);
    }

    /// After the vectors of a round, brings sums back to their first home.
    pub fn settle(&mut self, compiler: &mut Compiler) {
        for index in 0..self.gathers.len() {
            let Gathering { kind, homes, is_third, .. } = self.gathers[index];
            if kind == Gathers::Carries && is_third {
                let from = self.old(compiler, homes[2], SCRATCH[0]);
                if let At::Register(to) = homes[0] {
                    self.simd.load(&mut compiler.code, to, from);
                }
                self.keep(compiler, homes[0], from);
            }
            self.gathers[index].is_third = false;
        }
    }

    /// `home = home OPERATION value`
    fn combine(&self, compiler: &mut Compiler, operation: Binary, width: Gauge, home: At, value: At) {
        let [first, second, _] = SCRATCH;
        let form = match operation {
            Binary::EndAroundAdd | Binary::Min | Binary::Max
                if width == Gauge::Bits64 || operation == Binary::EndAroundAdd =>
            {
                let old = self.old(compiler, home, first);
                let new = self.old(compiler, value, second);
                match operation {
                    Binary::EndAroundAdd => self.simd.end_around_add(compiler, width, old, old, new),
                    _ => self.simd.extreme64(compiler, old, old, new, operation == Binary::Max),
                }
                return self.keep(compiler, home, old);
            }
            Binary::And => AND,
            Binary::Or => OR,
            Binary::Xor => XOR,
            Binary::Min => min(width),
            Binary::Max => max(width),
            _ => add(width),
        };
        self.add(compiler, form, home, value);
    }

    fn old(&self, compiler: &mut Compiler, home: At, or: Vector) -> Vector {
        match home {
            At::Register(it) => it,
            At::Place(place) => {
                self.simd.load(&mut compiler.code, or, place);
                or
            }
        }
    }

    /// `home = home FORM value`
    fn add(&self, compiler: &mut Compiler, form: Form, home: At, value: At) {
        let old = self.old(compiler, home, SCRATCH[1]);
        self.simd.op(&mut compiler.code, form, old, old, value);
        self.keep(compiler, home, old);
    }

    /// Adds neighbours to sums of 64 bits, in the first scratch register.
    fn sums(&self, compiler: &mut Compiler, width: Gauge, value: Vector) {
        let [first, second, _] = SCRATCH;
        let simd = self.simd;
        match width {
            Gauge::Bits8 => {
                let code = &mut compiler.code;
                simd.op(code, XOR, second, second, second);
                simd.op(code, SUMS, first, value, second);
            }
            Gauge::Bits64 => simd.load(&mut compiler.code, first, value),
            Gauge::Bits16 => {
                self.pairs(compiler, Gauge::Bits32, value);
                self.pairs(compiler, Gauge::Bits64, first);
            }
            Gauge::Bits32 => self.pairs(compiler, Gauge::Bits64, value),
        }
    }

    /// Adds the two halves of each lane.
    fn pairs(&self, compiler: &mut Compiler, width: Gauge, value: Vector) {
        let [first, second, _] = SCRATCH;
        let half = width.bits() as u8 / 2;
        let mask = compiler.constant(splat(width, width.most() >> half));
        let (simd, code) = (self.simd, &mut compiler.code);
        simd.shift(code, ShiftAll::Right, width, second, value, half);
        simd.op(code, AND, first, value, mask);
        simd.op(code, add(width), first, first, second);
    }

    /// Accumulates three sums for Adler-32: of the bytes, of the former sums, and of the bytes weighted by their
    /// distance from the vector's end.
    fn adler(&self, compiler: &mut Compiler, lanes: &Lanes, homes: [At; 3], value: Value) {
        let first = SCRATCH[0];
        let bytes = compiler.plan.vector as u8;
        let mut weights = [0; 32];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = bytes.saturating_sub(at as u8);
        }
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(weights.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let weights = compiler.constant(words);
        let ones = compiler.constant(splat(Gauge::Bits16, 1));
        let simd = self.simd;
        let old = self.old(compiler, homes[0], first);
        self.add(compiler, add(Gauge::Bits64), homes[1], At::Register(old));
        let value = lanes.fetch(&mut compiler.code, value, SCRATCH[2]);
        let code = &mut compiler.code;
        simd.op(code, XOR, first, first, first);
        simd.op(code, SUMS, first, value, first);
        self.add(compiler, add(Gauge::Bits64), homes[0], At::Register(first));
        let code = &mut compiler.code;
        simd.op(code, PRODUCTS_OF_BYTES, first, value, weights);
        simd.op(code, PRODUCTS, first, first, ones);
        self.add(compiler, add(Gauge::Bits32), homes[2], At::Register(first));
    }

    /// Writes the code after the loop, which combines lanes into the pipes' registers.
    pub fn end(&mut self, compiler: &mut Compiler) {
        let words = compiler.plan.vector / 8;
        for index in 0..self.gathers.len() {
            let Gathering { pipe, register, kind, homes, .. } = self.gathers[index];
            let it = compiler.pipes[pipe].body.registers[usize::from(register)];
            let cell = compiler.homes[pipe].registers + usize::from(register);
            if kind == Gathers::Adler32 {
                let sums = compiler.taken;
                for (at, home) in homes.into_iter().enumerate() {
                    let old = self.old(compiler, home, SCRATCH[0]);
                    let place = compiler.take(words);
                    debug_assert_eq!(place.displacement as usize, 8 * (sums + at * words));
                    self.simd.store(&mut compiler.code, place, old);
                }
                let bytes = compiler.plan.bytes_at(pipe);
                compiler.adlers.push(Adler { cell, sums, words, bytes });
                continue;
            }
            let taken = compiler.taken;
            if kind == Gathers::Carries {
                self.end_carries(compiler, homes, it.width, cell);
                compiler.taken = taken;
                continue;
            }
            if let (At::Register(first), At::Register(second)) = (homes[0], homes[1])
                && first != second
            {
                let (operation, width) = match kind {
                    Gathers::Beside(operation) => (operation, it.width),
                    _ => (Binary::Add, Gauge::Bits64),
                };
                self.combine(compiler, operation, width, homes[0], homes[1]);
            }
            let place = match homes[0] {
                At::Register(vector) => {
                    let place = compiler.take(4);
                    self.simd.store(&mut compiler.code, place, vector);
                    place
                }
                At::Place(place) => place,
            };
            compiler.collect(kind, it.width, place, cell);
            compiler.taken = taken;
        }
    }
}

impl Stream<'_> {
    /// Adds all lanes of sums and of their carries as numbers of 64 bits, with end-around carry: 2^64 - 1 is a multiple
    /// of 2^32 - 1.
    fn end_carries(&self, compiler: &mut Compiler, homes: [At; 3], of_register: Gauge, cell: usize) {
        let sums = self.old(compiler, homes[0], SCRATCH[0]);
        let bias = compiler.constant_in_memory(BIAS);
        self.simd.op(&mut compiler.code, XOR, sums, sums, bias);
        let carried = self.old(compiler, homes[1], SCRATCH[1]);
        let places = [sums, carried].map(|vector| {
            let place = compiler.take(4);
            self.simd.store(&mut compiler.code, place, vector);
            place
        });
        let words = compiler.plan.vector / 8;
        let code = &mut compiler.code;
        for (at, place) in places.into_iter().enumerate() {
            for word in 0..words {
                // mov, add, and adc from then on.
                let opcode = [0x8b, 0x03, 0x13][(at * words + word).min(2)];
                code.memory(Width::W64, &[opcode], RAX, place.plus(8 * word as i32));
            }
        }
        compiler.carry(Width::W64);
        compiler.fold(of_register, cell);
    }
}

/// Inverts the highest bit of 32, so that signed comparisons become unsigned.
const BIAS: [u64; 4] = splat(Gauge::Bits32, Gauge::Bits32.sign());

impl Compiler<'_> {
    /// Combines the lanes of a vector in memory with a cell.
    fn collect(&mut self, kind: Gathers, of_register: Gauge, place: Place, cell: usize) {
        let words = self.plan.vector / 8;
        match kind {
            Gathers::Sums(_, operation) => {
                self.code.load(RAX, place);
                // No sum overflows, because a call takes only so many units.
                for word in 1..words {
                    self.code.memory(Width::W64, &[0x03], RAX, place.plus(8 * word as i32));
                }
                if operation == Binary::Add {
                    self.code.memory(Width::W64, &[0x03], RAX, cell_at(cell));
                    self.store_cell(of_register, cell);
                    return;
                }
                self.fold(of_register, cell);
            }
            Gathers::Beside(operation) => {
                self.load_word(of_register, RAX, cell_at(cell));
                for at in 0..self.plan.vector / of_register.bytes() {
                    self.load_word(of_register, RCX, place.plus((at * of_register.bytes()) as i32));
                    self.combine(operation, of_register);
                }
                self.store_cell(of_register, cell);
            }
            Gathers::Carries | Gathers::Adler32 => {}
        }
    }

    /// Folds RAX to the width of a cell, and adds it to that, both with end-around carry.
    fn fold(&mut self, of_register: Gauge, cell: usize) {
        let bits = of_register.bits() as i32;
        let mut half = 32;
        while half >= bits {
            let code = &mut self.code;
            code.mov(Width::W64, RCX, RAX);
            code.shift(Width::W64, Shift::Shr, RCX, half as u8);
            if half == 32 {
                code.op(Width::W32, Op::Add, RAX, RCX);
                self.carry(Width::W32);
            } else {
                code.op_number(Width::W32, Op::And, RAX, (1 << half) - 1);
                code.op(Width::W32, Op::Add, RAX, RCX);
                self.end_around_rax(half as u8);
            }
            half /= 2;
        }
        if of_register == Gauge::Bits32 {
            self.code.memory(Width::W32, &[0x03], RAX, cell_at(cell));
            self.carry(Width::W32);
            self.code.store(cell_at(cell), RAX);
            return;
        }
        self.load_word(of_register, RCX, cell_at(cell));
        self.combine(Binary::EndAroundAdd, of_register);
        self.store_cell(of_register, cell);
    }

    fn carry(&mut self, width: Width) {
        self.code.registers(width, &[0x83], Reg(2), RAX);
        self.code.put(&[0]);
    }

    /// Adds the bits of RAX above a width to those below, and clears them.
    fn end_around_rax(&mut self, bits: u8) {
        let code = &mut self.code;
        code.mov(Width::W32, RCX, RAX);
        code.shift(Width::W32, Shift::Shr, RCX, bits);
        code.op(Width::W32, Op::Add, RAX, RCX);
        code.op_number(Width::W32, Op::And, RAX, (1 << bits) - 1);
    }

    /// `RAX = RAX OPERATION RCX`
    fn combine(&mut self, operation: Binary, gauge: Gauge) {
        let wide = width(gauge);
        let code = &mut self.code;
        match operation {
            Binary::And => code.op(wide, Op::And, RAX, RCX),
            Binary::Or => code.op(wide, Op::Or, RAX, RCX),
            Binary::Xor => code.op(wide, Op::Xor, RAX, RCX),
            Binary::Min | Binary::Max => {
                code.op(wide, Op::Cmp, RAX, RCX);
                let above_or_below = if operation == Binary::Min { 0x47 } else { 0x42 };
                code.registers(wide, &[0x0f, above_or_below], RAX, RCX);
            }
            Binary::EndAroundAdd if gauge < Gauge::Bits32 => {
                code.op(wide, Op::Add, RAX, RCX);
                self.end_around_rax(gauge.bits() as u8);
            }
            Binary::EndAroundAdd => {
                code.op(wide, Op::Add, RAX, RCX);
                self.carry(wide);
            }
            _ => code.op(wide, Op::Add, RAX, RCX),
        }
    }

    /// Clears the bits of RAX above a cell's width.
    fn store_cell(&mut self, of_register: Gauge, cell: usize) {
        let code = &mut self.code;
        match of_register {
            Gauge::Bits8 => code.registers(Width::W32, &[0x0f, 0xb6], RAX, RAX),
            Gauge::Bits16 => code.registers(Width::W32, &[0x0f, 0xb7], RAX, RAX),
            Gauge::Bits32 => code.mov(Width::W32, RAX, RAX),
            Gauge::Bits64 => {}
        }
        code.store(cell_at(cell), RAX);
    }

    /// Repeats a word in all of RAX.
    pub fn spread(&mut self, width: Gauge) {
        if width < Gauge::Bits64 {
            self.code.mov_number(RCX, u64::MAX / width.most());
            self.code.registers(Width::W64, &[0x0f, 0xaf], RAX, RCX);
        }
    }
}
