//! What a pipe does with each word: the form in which all front ends write it, and from which it is evaluated and
//! compiled.

use alloc::vec::Vec;

use super::Gauge;

/// A value that a step computes, by the step's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(super) u16);

/// One step: what is computed, and how wide it is. Values hold zeros above that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub operation: Operation,
    pub width: Gauge,
}

/// What a step computes from values of earlier steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// The word that comes in.
    Input,
    Constant(u64),
    /// What a persistent register held before this word.
    Register(u8),
    /// Of two values as wide as the result.
    Binary(Binary, Value, Value),
    /// All bits the other way round.
    Not(Value),
    /// The bytes in the other order.
    Swap(Value),
    /// The third value if the comparison of the first two holds, else the fourth.
    Select(Comparison, [Value; 4]),
    /// With zeros above.
    Widen(Value),
    /// The low bits.
    Narrow(Value),
    /// Two values beside each other, the first one in the low bits.
    Join(Value, Value),
    /// A CRC32C, not inverted, and the word of any width that it takes in.
    Crc32c(Value, Value),
    /// An Adler-32, and the byte that it takes in.
    Adler32(Value, Value),
    /// An entry of a table.
    Read {
        table: u8,
        index: Value,
    },
    /// Is the value that an entry becomes.
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
    /// Bits that both have.
    And,
    /// Bits that one has, or both.
    Or,
    /// Bits that one has.
    Xor,
    /// The smaller one, without signs.
    Min,
    /// The larger one, without signs.
    Max,
    /// The sum, to which the bit is added that it carries: the step of the Internet checksum.
    EndAroundAdd,
    /// To higher bits.
    ShiftLeft,
    /// To lower bits, with zeros above.
    ShiftRight,
    /// To lower bits, with copies of the sign above.
    ShiftRightSigned,
    /// To higher bits, and from the highest to the lowest.
    RotateLeft,
}

/// What is asked of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Whether they are the same.
    Equal,
    /// Whether they are not.
    NotEqual,
    /// Whether the first one is smaller, without signs.
    Below,
    /// Whether the first one isn't larger, without signs.
    BelowOrEqual,
    /// Whether the first one is smaller, with signs.
    SignedLess,
    /// Whether the first one isn't larger, with signs.
    SignedLessOrEqual,
}

/// A register that outlives a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// How wide it is.
    pub width: Gauge,
    /// What it holds in the beginning.
    pub initial: u64,
    /// Whether it keeps its value from one run to the next. If not, each begins with the initial one.
    pub persists: bool,
}

/// A table that outlives a word: numbers of 64 bits, all 0 in the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// How many there are: a power of two. Indices are taken modulo this.
    pub entries: u32,
}

/// What a pipe does: steps in order, each of which something needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    pub steps: Vec<Step>,
    /// The word that goes out; nothing if it is the one that came in.
    pub output: Option<Value>,
    /// The registers that change, at once and in the end, and what they become.
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

    /// Of each step, by how many others it is used, and as output or update.
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
    /// Calls for each value that it needs.
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

    /// The values that it needs: the first ones of four.
    pub fn all_operands(self) -> ([Value; 4], usize) {
        let (mut all, mut count) = ([Value(0); 4], 0);
        self.operands(|value| {
            all[count] = value;
            count += 1;
        });
        (all, count)
    }

    /// The same of other values.
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
    /// Of two words.
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

    /// Whether operands can be exchanged, and any two of many taken first.
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
