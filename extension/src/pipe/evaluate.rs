//! Evaluates pipes step by step: on machines without a compiler, and to test compiled code against.

use super::body::{Body, Operation, Value};
use super::{Gauge, Pipe};

/// Room for the values of a body.
pub(super) type Values = [u64; super::compose::MOST_STEPS];

/// The cells of a pipe's registers and tables, among those of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Homes {
    /// The first register; the others follow.
    pub registers: usize,
    /// The first table's first entry; the others follow.
    pub tables: usize,
}

impl Homes {
    /// The first entry of a table.
    pub fn table(self, body: &Body, table: u8) -> usize {
        let before = &body.tables[..usize::from(table)];
        self.tables + before.iter().map(|it| it.entries as usize).sum::<usize>()
    }
}

/// The output word for an input word.
fn word(body: &Body, homes: Homes, input: u64, cells: &mut [u64], values: &mut Values) -> u64 {
    for (at, step) in body.steps.iter().enumerate() {
        let of = |value: Value| values[usize::from(value.0)];
        let entry = |table, index| {
            let entries = body.tables[usize::from(table)].entries as usize;
            homes.table(body, table) + (of(index) as usize & (entries - 1))
        };
        values[at] = match step.operation {
            Operation::Input => input,
            Operation::Constant(number) => number,
            Operation::Register(register) => {
                cells[homes.registers + usize::from(register)] & step.width.most()
            }
            Operation::Binary(operation, a, b) => operation.of(step.width, of(a), of(b)),
            Operation::Not(a) => !of(a) & step.width.most(),
            Operation::Swap(a) => of(a).swap_bytes() >> (64 - step.width.bits()),
            Operation::Select(comparison, [a, b, then, or]) => {
                if comparison.holds(body.width(a), of(a), of(b)) { of(then) } else { of(or) }
            }
            Operation::Widen(a) => of(a),
            Operation::Narrow(a) => of(a) & step.width.most(),
            Operation::Join(low, high) => of(low) | of(high) << body.width(low).bits(),
            Operation::Crc32c(sum, word) => crc32c(of(sum), of(word), body.width(word)),
            Operation::Adler32(sum, byte) => adler32(of(sum), of(byte)),
            Operation::Read { table, index } => cells[entry(table, index)],
            Operation::Write { table, index, value } => {
                cells[entry(table, index)] = of(value);
                of(value)
            }
        };
    }
    for &(register, value) in &body.updates {
        cells[homes.registers + usize::from(register)] = values[usize::from(value.0)];
    }
    body.output.map_or(input, |output| values[usize::from(output.0)])
}

/// Runs a pipe over the first bytes of a buffer. Zeros behind them fill up the last word, before and afterwards. The
/// output overwrites the input if it is as long, and else goes to another buffer.
pub(super) fn over(
    pipe: &Pipe,
    homes: Homes,
    buffer: &mut [u8],
    other: &mut [u8],
    bytes: usize,
    cells: &mut [u64],
) {
    let mut values = [0; super::compose::MOST_STEPS];
    let (from, to) = (pipe.input.bytes(), pipe.output.bytes());
    for at in 0..bytes.div_ceil(from) {
        let input = pipe.input.read(&buffer[at * from..]);
        let output = word(&pipe.body, homes, input, cells, &mut values);
        if pipe.changes_length() {
            pipe.output.write(&mut other[at * to..], output);
        } else if pipe.modifies() {
            pipe.output.write(&mut buffer[at * to..], output);
        }
    }
    if pipe.modifies() && !pipe.changes_length() {
        let end = bytes.next_multiple_of(from);
        buffer[bytes..end].fill(0);
    }
}

/// Updates a CRC32C by a word's bytes, the lowest first.
fn crc32c(sum: u64, word: u64, width: Gauge) -> u64 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut bit = 0;
            let mut sum = at as u32;
            while bit < 8 {
                sum = sum >> 1 ^ if sum & 1 != 0 { POLYNOMIAL } else { 0 };
                bit += 1;
            }
            table[at] = sum;
            at += 1;
        }
        table
    };
    let bytes = &word.to_le_bytes()[..width.bytes()];
    let after = |sum: u32, byte: &u8| sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)];
    bytes.iter().fold(sum as u32, after).into()
}

/// The modulus of Adler-32.
pub(super) const ADLER: u64 = 65521;

fn adler32(sum: u64, byte: u64) -> u64 {
    let low = ((sum & 0xffff) + byte) % ADLER;
    let high = ((sum >> 16) + low) % ADLER;
    high << 16 | low
}
