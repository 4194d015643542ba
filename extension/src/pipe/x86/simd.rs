//! Encodes vector instructions (VEX), in addition to those of `engine::jit::x86`.

use crate::engine::jit::x86::{Code, Place, Reg};
use crate::pipe::Gauge;

/// A vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector(pub u8);

/// The last operand of an instruction: a register or memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rm {
    Vector(Vector),
    Place(Place),
}

impl From<Vector> for Rm {
    fn from(vector: Vector) -> Rm {
        Rm::Vector(vector)
    }
}

impl From<Place> for Rm {
    fn from(place: Place) -> Rm {
        Rm::Place(place)
    }
}

/// An instruction: its opcode, the opcode map (1: 0F, 2: 0F 38, 3: 0F 3A), and the prefix (0: none, 1: 66, 2: F3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    opcode: u8,
    table: u8,
    prefix: u8,
    /// The W bit: elements have 64 bits, not 32.
    is_64: bool,
}

const fn form(table: u8, opcode: u8) -> Form {
    Form { opcode, table, prefix: 1, is_64: false }
}

pub(super) const AND: Form = form(1, 0xdb);
pub(super) const OR: Form = form(1, 0xeb);
pub(super) const XOR: Form = form(1, 0xef);
pub(super) const SHUFFLE: Form = form(2, 0x00);
/// Sums of absolute differences of 8 bytes each.
pub(super) const SUMS: Form = form(1, 0xf6);
/// Sums of two products each, of an unsigned and a signed byte.
pub(super) const PRODUCTS_OF_BYTES: Form = form(2, 0x04);
/// Sums of two products each, of signed 16-bit numbers.
pub(super) const PRODUCTS: Form = form(1, 0xf5);
/// Products of the lower 32 bits of 64.
pub(super) const MUL_LOW: Form = form(1, 0xf4);
pub(super) const MUL16: Form = form(1, 0xd5);
pub(super) const MUL32: Form = form(2, 0x40);
const LOAD: Form = Form { opcode: 0x6f, table: 1, prefix: 2, is_64: false };
const STORE: Form = Form { opcode: 0x7f, table: 1, prefix: 2, is_64: false };
const FROM_64: Form = Form { opcode: 0x6e, table: 1, prefix: 1, is_64: true };
const BLEND: Form = form(3, 0x4c);
const INSERT: Form = form(3, 0x38);
const EXTRACT: Form = form(3, 0x39);
const HALVES: Form = form(3, 0x46);
const LOW_64: Form = form(1, 0x6c);

/// The instruction for a width of elements, if there is one.
const fn by_width(tables: [u8; 4], opcodes: [u8; 4], width: Gauge) -> Form {
    form(tables[width as usize], opcodes[width as usize])
}

pub(super) const fn add(width: Gauge) -> Form {
    by_width([1; 4], [0xfc, 0xfd, 0xfe, 0xd4], width)
}

pub(super) const fn sub(width: Gauge) -> Form {
    by_width([1; 4], [0xf8, 0xf9, 0xfa, 0xfb], width)
}

pub(super) const fn equal(width: Gauge) -> Form {
    by_width([1, 1, 1, 2], [0x74, 0x75, 0x76, 0x29], width)
}

/// Signed.
pub(super) const fn greater(width: Gauge) -> Form {
    by_width([1, 1, 1, 2], [0x64, 0x65, 0x66, 0x37], width)
}

/// Without signs. Not of 64 bits.
pub(super) const fn min(width: Gauge) -> Form {
    by_width([1, 2, 2, 2], [0xda, 0x3a, 0x3b, 0x3b], width)
}

/// Without signs. Not of 64 bits.
pub(super) const fn max(width: Gauge) -> Form {
    by_width([1, 2, 2, 2], [0xde, 0x3e, 0x3f, 0x3f], width)
}

/// Interleaves the lower halves, within each 128 bits. Not of 64 bits.
pub(super) const fn interleave_low(width: Gauge) -> Form {
    by_width([1; 4], [0x60, 0x61, 0x62, 0x6c], width)
}

/// Interleaves the upper halves, within each 128 bits. Not of 64 bits.
pub(super) const fn interleave_high(width: Gauge) -> Form {
    by_width([1; 4], [0x68, 0x69, 0x6a, 0x6d], width)
}

/// Shifts each element by the number in another one: of 32 and 64 bits; arithmetically of 32 bits only.
pub(super) const fn shift_each(left: bool, signed: bool, width: Gauge) -> Form {
    let opcode = match (left, signed) {
        (true, _) => 0x47,
        (false, false) => 0x45,
        (false, true) => 0x46,
    };
    Form { is_64: matches!(width, Gauge::Bits64), ..form(2, opcode) }
}

/// Shifts by a constant, by the opcode extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShiftAll {
    Right = 2,
    RightSigned = 4,
    Left = 6,
}

/// Writes instructions on vectors of one length.
pub(super) struct Simd {
    /// Vectors have 256 bits, not 128.
    pub is_wide: bool,
}

impl Simd {
    fn instruction(&self, code: &mut Code, form: Form, reg: u8, second: u8, rm: Rm) {
        let (base, index) = match rm {
            Rm::Vector(vector) => (vector.0, 0),
            Rm::Place(place) => (place.base.0, place.index.map_or(0, |(index, _)| index.0)),
        };
        let not = |register: u8| (register >> 3 & 1) ^ 1;
        let last = (!second & 15) << 3 | u8::from(self.is_wide) << 2 | form.prefix;
        if form.table == 1 && !form.is_64 && base < 8 && index < 8 {
            code.put(&[0xc5, not(reg) << 7 | last, form.opcode]);
        } else {
            let first = not(reg) << 7 | not(index) << 6 | not(base) << 5 | form.table;
            code.put(&[0xc4, first, u8::from(form.is_64) << 7 | last, form.opcode]);
        }
        match rm {
            Rm::Vector(vector) => code.put(&[0xc0 | (reg & 7) << 3 | vector.0 & 7]),
            Rm::Place(place) => code.place(reg, place),
        }
    }

    /// An instruction with two sources: a register, and a register or memory.
    pub fn op(&self, code: &mut Code, form: Form, to: Vector, a: Vector, b: impl Into<Rm>) {
        self.instruction(code, form, to.0, a.0, b.into());
    }

    pub fn load(&self, code: &mut Code, to: Vector, from: impl Into<Rm>) {
        self.instruction(code, LOAD, to.0, 0, from.into());
    }

    pub fn store(&self, code: &mut Code, to: Place, from: Vector) {
        self.instruction(code, STORE, from.0, 0, to.into());
    }

    /// Shifts elements of at least 16 bits by a constant.
    pub fn shift(&self, code: &mut Code, kind: ShiftAll, width: Gauge, to: Vector, from: Vector, bits: u8) {
        let opcode = [0x71, 0x71, 0x72, 0x73][width as usize];
        self.instruction(code, form(1, opcode), kind as u8, to.0, from.into());
        code.put(&[bits]);
    }

    /// Blends bytes: takes the second's where the mask's highest bit is set, else the first's.
    pub fn blend(&self, code: &mut Code, to: Vector, first: Vector, second: Vector, mask: Vector) {
        self.instruction(code, BLEND, to.0, first.0, second.into());
        code.put(&[mask.0 << 4]);
    }

    /// Copies a general register into each 64 bits.
    pub fn fill(&self, code: &mut Code, to: Vector, from: Reg) {
        let low = Simd { is_wide: false };
        low.instruction(code, FROM_64, to.0, 0, Rm::Vector(Vector(from.0)));
        low.op(code, LOW_64, to, to, to);
        if self.is_wide {
            self.insert(code, to, to, to);
        }
    }

    /// Joins the lower 128 bits of the first, and the second above them.
    pub fn insert(&self, code: &mut Code, to: Vector, low: Vector, high: impl Into<Rm>) {
        self.instruction(code, INSERT, to.0, low.0, high.into());
        code.put(&[1]);
    }

    /// Stores the upper 128 bits.
    pub fn store_upper(&self, code: &mut Code, to: Place, from: Vector) {
        self.instruction(code, EXTRACT, from.0, 0, to.into());
        code.put(&[1]);
    }

    /// Joins the lower halves of both, or the upper ones.
    pub fn halves(&self, code: &mut Code, is_upper: bool, to: Vector, a: Vector, b: Vector) {
        self.instruction(code, HALVES, to.0, a.0, b.into());
        code.put(&[if is_upper { 0x31 } else { 0x20 }]);
    }

    /// VZEROUPPER, needed before other code runs: older vector instructions are slow else.
    pub fn leave(code: &mut Code) {
        code.put(&[0xc5, 0xf8, 0x77]);
    }
}
