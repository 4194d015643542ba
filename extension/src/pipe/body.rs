//! The intermediate form of pipes: what a pipe does with each word. All front ends produce it; it is evaluated, or
//! compiled.

use alloc::vec::Vec;

use super::Gauge;

/// A value that a step computes, by the step's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(super) u16);

/// One step: an operation, and the width of its value. The bits of values above their width are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub operation: Operation,
    pub width: Gauge,
}

/// An operation on values of earlier steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// The input word.
    Input,
    Constant(u64),
    /// The value of a register before this word.
    Register(u8),
    /// Arithmetic on two values as wide as the result.
    Binary(Binary, Value, Value),
    /// The complement.
    Not(Value),
    /// The bytes in reverse order.
    Swap(Value),
    /// The third value if the comparison of the first two holds, else the fourth.
    Select(Comparison, [Value; 4]),
    /// A value, extended with zeros.
    Widen(Value),
    /// The low bits of a value.
    Narrow(Value),
    /// The concatenation of two values, the first one in the low bits.
    Join(Value, Value),
    /// A CRC32C (not complemented), updated by a word of any width.
    Crc32c(Value, Value),
    /// An Adler-32, updated by a byte.
    Adler32(Value, Value),
    /// An entry of a table.
    Read {
        table: u8,
        index: Value,
    },
    /// Sets an entry of a table to a value, and is that value.
    Write {
        table: u8,
        index: Value,
        value: Value,
    },
}

/// Arithmetic. It wraps around; shifts take their second operand modulo the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The smaller one, unsigned.
    Min,
    /// The larger one, unsigned.
    Max,
    /// The sum plus its carry: the step of the Internet checksum.
    EndAroundAdd,
    /// Shift left.
    ShiftLeft,
    /// Logical shift right.
    ShiftRight,
    /// Arithmetic shift right.
    ShiftRightSigned,
    /// Rotation left.
    RotateLeft,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Unequal.
    NotEqual,
    /// The first one is less, unsigned.
    Below,
    /// The first one is less or equal, unsigned.
    BelowOrEqual,
    /// The first one is less, signed.
    SignedLess,
    /// The first one is less or equal, signed.
    SignedLessOrEqual,
}

/// A register, whose value is kept from one word to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// How wide it is.
    pub width: Gauge,
    /// Its initial value.
    pub initial: u64,
    /// Whether it keeps its value from one run to the next. If not, each run begins with the initial value.
    pub persists: bool,
}

/// A table of 64-bit numbers that are kept from one word to the next; initially 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The number of entries, a power of two. Indices are taken modulo it.
    pub entries: u32,
}

/// What a pipe does: steps in order, none of them dead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    pub steps: Vec<Step>,
    /// The output word; `None`: the input word.
    pub output: Option<Value>,
    /// The new values of registers, assigned at once after all steps.
    pub updates: Vec<(u8, Value)>,
    pub registers: Vec<Register>,
    pub tables: Vec<Table>,
}

impl Body {
    pub fn step(&self, value: Value) -> Step {
        self.steps[usize::from(value.0)]
    }

    pub fn width(&self, value: Value) -> Gauge {
        self.step(value).width
    }

    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.step(value).operation {
            Operation::Constant(number) => Some(number),
            _ => None,
        }
    }

    /// How often the value of each step is used.
    pub fn uses(&self) -> Vec<u16> {
        let mut uses = alloc::vec![0; self.steps.len()];
        for step in &self.steps {
            step.operation.operands(|value| uses[usize::from(value.0)] += 1);
        }
        for value in self.updates.iter().map(|(_, value)| *value).chain(self.output) {
            uses[usize::from(value.0)] += 1;
        }
        uses
    }
}

impl Operation {
    /// Calls `each` for each operand.
    pub fn operands(self, mut each: impl FnMut(Value)) {
        use Operation::*;
        match self {
            Input | Constant(_) | Register(_) => {}
            Not(a) | Swap(a) | Widen(a) | Narrow(a) | Read { index: a, .. } => each(a),
            Binary(_, a, b)
            | Join(a, b)
            | Crc32c(a, b)
            | Adler32(a, b)
            | Write { index: a, value: b, .. } => {
                each(a);
                each(b);
            }
            Select(_, all) => all.into_iter().for_each(each),
        }
    }

    /// Its operands, the first ones of four.
    pub fn all_operands(self) -> ([Value; 4], usize) {
        let (mut all, mut count) = ([Value(0); 4], 0);
        self.operands(|value| {
            all[count] = value;
            count += 1;
        });
        (all, count)
    }

    /// The same operation with other operands.
    pub fn renamed(self, name: impl Fn(Value) -> Value) -> Operation {
        use Operation::*;
        match self {
            Input | Constant(_) | Register(_) => self,
            Not(a) => Not(name(a)),
            Swap(a) => Swap(name(a)),
            Widen(a) => Widen(name(a)),
            Narrow(a) => Narrow(name(a)),
            Binary(operation, a, b) => Binary(operation, name(a), name(b)),
            Join(a, b) => Join(name(a), name(b)),
            Crc32c(a, b) => Crc32c(name(a), name(b)),
            Adler32(a, b) => Adler32(name(a), name(b)),
            Select(comparison, all) => Select(comparison, all.map(name)),
            Read { table, index } => Read { table, index: name(index) },
            Write { table, index, value } => Write { table, index: name(index), value: name(value) },
        }
    }
}

impl Binary {
    /// The result for two words.
    pub(super) fn of(self, width: Gauge, a: u64, b: u64) -> u64 {
        let (bits, most) = (width.bits(), width.most());
        let count = (b % u64::from(bits)) as u32;
        let all = match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::EndAroundAdd => {
                let sum = u128::from(a) + u128::from(b);
                ((sum & u128::from(most)) + (sum >> bits)) as u64
            }
            Binary::ShiftLeft => a << count,
            Binary::ShiftRight => a >> count,
            Binary::ShiftRightSigned => (width.signed(a) >> count) as u64,
            Binary::RotateLeft if count == 0 => a,
            Binary::RotateLeft => a << count | a >> (bits - count),
        };
        all & most
    }

    /// Whether it is commutative and associative.
    pub(super) fn gathers(self) -> bool {
        use Binary::*;
        matches!(self, Add | And | Or | Xor | Min | Max | EndAroundAdd)
    }
}

impl Comparison {
    /// Of two words.
    pub(super) fn holds(self, width: Gauge, a: u64, b: u64) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Below => a < b,
            Comparison::BelowOrEqual => a <= b,
            Comparison::SignedLess => width.signed(a) < width.signed(b),
            Comparison::SignedLessOrEqual => width.signed(a) <= width.signed(b),
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Comparison::SignedLess | Comparison::SignedLessOrEqual)
    }
}
