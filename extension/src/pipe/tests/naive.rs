//! A naive implementation of generated pipes, independent of the tested code: one pass each over all data, word by
//! word.

use std::vec::Vec;

use crate::pipe::{Binary, Comparison, Gauge};

/// A pipe.
#[derive(Clone, Debug)]
pub enum Kind {
    Ready(Ready),
    Written(Recipe),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    Copy,
    Checksum,
    Swap(Gauge),
    Xor(u64),
    Crc32c,
    Adler32,
    Histogram,
    Hex,
    FromHex,
}

/// A pipe with a body of its own.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub input: Gauge,
    pub output: Gauge,
    pub nodes: Vec<Node>,
    /// Width, initial value, whether it persists.
    pub registers: Vec<(Gauge, u64, bool)>,
    /// How many entries.
    pub table: Option<u32>,
    pub updates: Vec<(usize, Update)>,
    pub result: Option<usize>,
}

/// Operands are numbers of earlier nodes. What hasn't the width that it must have is widened or narrowed.
#[derive(Clone, Debug)]
pub enum Node {
    Input,
    Number(Gauge, u64),
    Register(usize),
    Binary(Binary, usize, usize),
    Not(usize),
    Swap(usize),
    Select(Comparison, [usize; 4]),
    Convert(usize, Gauge),
    Join(usize, usize),
    Crc32c(usize, usize),
    Adler32(usize, usize),
    Read(usize),
    Write(usize, usize),
}

#[derive(Clone, Debug)]
pub enum Update {
    /// Becomes a node.
    Node(usize),
    /// Becomes what an operation gives, of it and a node.
    Gather(Binary, usize),
    /// Becomes an Adler-32 of it and a node.
    Adler32(usize),
}

/// What outlives a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub registers: Vec<u64>,
    pub table: Vec<u64>,
}

fn cut(number: u128, width: Gauge) -> u64 {
    (number % (1u128 << width.bits())) as u64
}

fn signed(word: u64, width: Gauge) -> i128 {
    let word = i128::from(word);
    if word >= 1 << (width.bits() - 1) { word - (1 << width.bits()) } else { word }
}

fn binary(operation: Binary, width: Gauge, a: u64, b: u64) -> u64 {
    let (x, y, bits) = (u128::from(a), u128::from(b), width.bits());
    let count = (b % u64::from(bits)) as u32;
    match operation {
        Binary::Add => cut(x + y, width),
        Binary::Sub => cut(x + (1 << bits) - y, width),
        Binary::Mul => cut(x * y, width),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::EndAroundAdd if x + y >= 1 << bits => cut(x + y + 1, width),
        Binary::EndAroundAdd => cut(x + y, width),
        Binary::ShiftLeft => cut(x << count, width),
        Binary::ShiftRight => a >> count,
        Binary::ShiftRightSigned => cut((signed(a, width) >> count) as u128, width),
        Binary::RotateLeft => (0..count).fold(a, |a, _| cut(u128::from(a) << 1, width) | a >> (bits - 1)),
    }
}

fn compares(comparison: Comparison, width: Gauge, a: u64, b: u64) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Below => a < b,
        Comparison::BelowOrEqual => a <= b,
        Comparison::SignedLess => signed(a, width) < signed(b, width),
        Comparison::SignedLessOrEqual => signed(a, width) <= signed(b, width),
    }
}

pub fn crc32c(mut sum: u32, bytes: &[u8]) -> u32 {
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
        }
    }
    sum
}

pub fn adler32(sum: u32, bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (sum & 0xffff, sum >> 16);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65521;
        high = (high + low) % 65521;
    }
    high << 16 | low
}

fn bytes_of(word: u64, width: Gauge) -> Vec<u8> {
    word.to_le_bytes()[..width.bytes()].to_vec()
}

fn words(data: &[u8], gauge: Gauge) -> Vec<u64> {
    let word = |piece: &[u8]| piece.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    data.chunks(gauge.bytes()).map(word).collect()
}

impl Recipe {
    pub fn width(&self, node: usize) -> Gauge {
        match self.nodes[node] {
            Node::Input => self.input,
            Node::Number(width, _) | Node::Convert(_, width) => width,
            Node::Register(register) => self.registers[register].0,
            Node::Binary(_, a, _) | Node::Not(a) | Node::Swap(a) | Node::Select(_, [_, _, a, _]) => {
                self.width(a)
            }
            Node::Join(a, _) => wider(self.width(a)),
            Node::Crc32c(..) | Node::Adler32(..) => Gauge::Bits32,
            Node::Read(_) | Node::Write(..) => Gauge::Bits64,
        }
    }

    fn word(&self, input: u64, held: &mut Held) -> u64 {
        let mut values: Vec<u64> = Vec::new();
        let old = held.registers.clone();
        for (at, node) in self.nodes.iter().enumerate() {
            let width = self.width(at);
            let at_width = |values: &[u64], node: usize, width: Gauge| values[node] & width.most();
            let value = match *node {
                Node::Input => input,
                Node::Number(width, number) => number & width.most(),
                Node::Register(register) => old[register],
                Node::Binary(operation, a, b) => {
                    binary(operation, width, values[a], at_width(&values, b, width))
                }
                Node::Not(a) => values[a] ^ width.most(),
                Node::Swap(a) => {
                    bytes_of(values[a], width).iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
                }
                Node::Select(comparison, [a, b, then, or]) => {
                    let compared = self.width(a);
                    let holds = compares(comparison, compared, values[a], at_width(&values, b, compared));
                    if holds { values[then] } else { at_width(&values, or, width) }
                }
                Node::Convert(a, width) => at_width(&values, a, width),
                Node::Join(a, b) => {
                    let half = self.width(a);
                    values[a] + (at_width(&values, b, half) << half.bits())
                }
                Node::Crc32c(sum, word) => {
                    crc32c(values[sum] as u32, &bytes_of(values[word], self.width(word))).into()
                }
                Node::Adler32(sum, byte) => adler32(values[sum] as u32, &[values[byte] as u8]).into(),
                Node::Read(index) => held.table[values[index] as usize % held.table.len()],
                Node::Write(index, value) => {
                    let index = values[index] as usize % held.table.len();
                    held.table[index] = values[value];
                    values[value]
                }
            };
            values.push(value);
        }
        for (register, update) in &self.updates {
            let (width, before) = (self.registers[*register].0, old[*register]);
            held.registers[*register] = match *update {
                Update::Node(node) => values[node] & width.most(),
                Update::Gather(operation, node) => {
                    binary(operation, width, before, values[node] & width.most())
                }
                Update::Adler32(node) => adler32(before as u32, &[values[node] as u8]).into(),
            };
        }
        self.result.map_or(input, |node| values[node] & self.output.most())
    }

    fn pass(&self, data: &[u8], held: &mut Held) -> Vec<u8> {
        let mut out = Vec::new();
        for input in words(data, self.input) {
            out.extend(bytes_of(self.word(input, held), self.output));
        }
        if self.input == self.output {
            out.truncate(data.len());
        }
        out
    }
}

pub fn wider(width: Gauge) -> Gauge {
    Gauge::ALL[width as usize + 1]
}

impl Kind {
    pub fn held(&self) -> Held {
        let registers = match self {
            Kind::Ready(Ready::Checksum | Ready::FromHex) => std::vec![0],
            Kind::Ready(Ready::Xor(key)) => std::vec![*key],
            Kind::Ready(Ready::Crc32c) => std::vec![0xffff_ffff],
            Kind::Ready(Ready::Adler32) => std::vec![1],
            Kind::Ready(_) => std::vec![],
            Kind::Written(recipe) => recipe.registers.iter().map(|(_, initial, _)| *initial).collect(),
        };
        let entries = match self {
            Kind::Ready(Ready::Histogram) => 256,
            Kind::Written(Recipe { table: Some(entries), .. }) => *entries,
            _ => 0,
        };
        Held { registers, table: std::vec![0; entries as usize] }
    }

    /// All of the data through it.
    pub fn pass(&self, data: Vec<u8>, held: &mut Held) -> Vec<u8> {
        let kind = match self {
            Kind::Written(recipe) => {
                for (register, (_, initial, persists)) in held.registers.iter_mut().zip(&recipe.registers) {
                    if !persists {
                        *register = *initial;
                    }
                }
                return recipe.pass(&data, held);
            }
            Kind::Ready(kind) => kind,
        };
        match kind {
            Ready::Copy => data,
            Ready::Checksum => {
                for word in words(&data, Gauge::Bits32) {
                    let sum = held.registers[0] + word;
                    held.registers[0] = sum % (1 << 32) + (sum >> 32);
                }
                data
            }
            Ready::Swap(gauge) => {
                let mut all: Vec<u8> = words(&data, *gauge)
                    .into_iter()
                    .flat_map(|word| bytes_of(word, *gauge).into_iter().rev())
                    .collect();
                all.truncate(data.len());
                all
            }
            Ready::Xor(_) => {
                let key = held.registers[0].to_le_bytes();
                data.iter().zip(key.into_iter().cycle()).map(|(byte, key)| byte ^ key).collect()
            }
            Ready::Crc32c => {
                held.registers[0] = crc32c(held.registers[0] as u32, &data).into();
                data
            }
            Ready::Adler32 => {
                held.registers[0] = adler32(held.registers[0] as u32, &data).into();
                data
            }
            Ready::Histogram => {
                data.iter().for_each(|byte| held.table[usize::from(*byte)] += 1);
                data
            }
            Ready::Hex => data.iter().flat_map(|byte| std::format!("{byte:02x}").into_bytes()).collect(),
            Ready::FromHex => {
                let mut out = Vec::new();
                for pair in data.chunks(2) {
                    let digits = [pair[0], *pair.get(1).unwrap_or(&0)];
                    let number = |digit: u8| (digit as char).to_digit(16);
                    if let [Some(high), Some(low)] = digits.map(number) {
                        out.push((high << 4 | low) as u8);
                    } else {
                        held.registers[0] = 1;
                        // What comes out doesn't mean anything.
                        let any = |digit: u8| {
                            number(digit)
                                .unwrap_or(u32::from(digit | 0x20).wrapping_sub(0x61).wrapping_add(10) & 15)
                        };
                        out.push((any(digits[0]) << 4 | any(digits[1])) as u8);
                    }
                }
                out
            }
        }
    }
}
