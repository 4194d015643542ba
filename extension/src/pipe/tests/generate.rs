//! Generates lists of pipes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::vec::Vec;

use super::naive::{Kind, Node, Ready, Recipe, Update, wider};
use crate::pipe::{Attributes, Binary, Comparison, Gauge, Pipe, Register, Word, Writer, ready};

const BINARY: [Binary; 13] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Min,
    Binary::Max,
    Binary::EndAroundAdd,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::ShiftRightSigned,
    Binary::RotateLeft,
];
const GATHERS: [Binary; 7] =
    [Binary::Add, Binary::And, Binary::Or, Binary::Xor, Binary::Min, Binary::Max, Binary::EndAroundAdd];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Below,
    Comparison::BelowOrEqual,
    Comparison::SignedLess,
    Comparison::SignedLessOrEqual,
];

pub fn gauge() -> impl Strategy<Value = Gauge> {
    select(&Gauge::ALL[..])
}

/// Pipes, of which one at most changes the length.
pub fn list() -> impl Strategy<Value = Vec<Kind>> {
    (vec(kind(), 0..5), prop::option::weighted(0.2, (changing(), any::<Index>()))).prop_map(
        |(mut all, changing)| {
            if let Some((changing, at)) = changing {
                all.insert(at.index(all.len() + 1), changing);
            }
            all
        },
    )
}

fn kind() -> impl Strategy<Value = Kind> {
    let ready = prop_oneof![
        Just(Ready::Copy),
        Just(Ready::Checksum),
        select(&Gauge::ALL[1..]).prop_map(Ready::Swap),
        any::<u64>().prop_map(Ready::Xor),
        Just(Ready::Crc32c),
        Just(Ready::Adler32),
        Just(Ready::Histogram),
    ];
    let written = gauge().prop_flat_map(|gauge| recipe(gauge, gauge));
    prop_oneof![3 => ready.prop_map(Kind::Ready), 3 => written.prop_map(Kind::Written)]
}

fn changing() -> impl Strategy<Value = Kind> {
    let written =
        (gauge(), gauge()).prop_filter("they differ", |(a, b)| a != b).prop_flat_map(|(a, b)| recipe(a, b));
    prop_oneof![
        Just(Kind::Ready(Ready::Hex)),
        Just(Kind::Ready(Ready::FromHex)),
        written.prop_map(Kind::Written)
    ]
}

/// Numbers that lead to something.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..70u64, any::<u64>().prop_map(|it| !0 << (it % 64))]
}

/// What a node is made of, whatever nodes there are.
type Seed = (u8, [Index; 4], u64, Gauge);

fn recipe(input: Gauge, output: Gauge) -> impl Strategy<Value = Recipe> {
    let seed = || (any::<u8>(), any::<[Index; 4]>(), number(), gauge());
    let register = (prop_oneof![3 => Just(input), 1 => gauge()], number(), any::<bool>());
    let update = (any::<u8>(), any::<Index>(), select(&GATHERS[..]));
    let all = (
        prop_oneof![4 => vec(seed(), 0..12), 1 => vec(seed(), 12..40)],
        vec((register, update), 0..4),
        any::<Index>(),
        any::<[bool; 3]>(),
    );
    all.prop_map(move |(seeds, held, result, [is_simple, modifies, has_table])| {
        let mut recipe = Recipe {
            input,
            output,
            nodes: std::vec![Node::Input],
            registers: held.iter().map(|((width, n, keeps), _)| (*width, n & width.most(), *keeps)).collect(),
            table: (has_table && !is_simple).then_some(16),
            updates: Vec::new(),
            result: None,
        };
        let gathers: Vec<bool> = held.iter().map(|(_, (kind, ..))| kind % 4 != 0).collect();
        for seed in seeds {
            add(&mut recipe, seed, is_simple, &gathers);
        }
        for (register, (_, (kind, node, operation))) in held.into_iter().enumerate() {
            let node = node.index(recipe.nodes.len());
            let update = match kind % 8 {
                0 => Update::Node(node),
                4 => continue,
                1 if recipe.registers[register].0 == Gauge::Bits32 && recipe.width(node) == Gauge::Bits8 => {
                    Update::Adler32(node)
                }
                _ => Update::Gather(operation, node),
            };
            recipe.updates.push((register, update));
        }
        if modifies || input != output {
            recipe.result = Some(result.index(recipe.nodes.len()));
        }
        if is_simple && input < Gauge::Bits64 && output == wider(input) {
            let low = result.index(recipe.nodes.len());
            let low = if recipe.width(low) == input { low } else { 0 };
            recipe.nodes.push(Node::Join(low, 0));
            recipe.result = Some(recipe.nodes.len() - 1);
        }
        recipe
    })
}

/// Simple: all values are as wide as what comes in.
fn add(recipe: &mut Recipe, (kind, at, number, gauge): Seed, is_simple: bool, gathers: &[bool]) {
    let [a, b, c, d] = at.map(|at| at.index(recipe.nodes.len()));
    let width = if is_simple { recipe.input } else { gauge };
    let operation = BINARY[usize::from(kind / 16) % BINARY.len()];
    let comparison = COMPARISONS[usize::from(kind / 16) % COMPARISONS.len()];
    let registers: Vec<usize> = (0..gathers.len()).filter(|register| !gathers[*register]).collect();
    let convert = |recipe: &mut Recipe, node, width| {
        recipe.nodes.push(Node::Convert(node, width));
        recipe.nodes.len() - 1
    };
    let node = match kind % 16 {
        0 => Node::Number(width, number),
        1 if !registers.is_empty() => Node::Register(registers[number as usize % registers.len()]),
        2 => Node::Not(a),
        3 => Node::Swap(a),
        4 | 5 => Node::Select(comparison, [a, b, c, d]),
        6 | 7 => {
            // Most shifts are by a number.
            recipe.nodes.push(Node::Number(width, number));
            let shifts =
                [Binary::ShiftLeft, Binary::ShiftRight, Binary::ShiftRightSigned, Binary::RotateLeft];
            Node::Binary(shifts[usize::from(kind / 16) % 4], a, recipe.nodes.len() - 1)
        }
        8 if !is_simple => Node::Convert(a, gauge),
        9 if !is_simple && recipe.width(a) < Gauge::Bits64 => Node::Join(a, b),
        10 if !is_simple => {
            let sum = convert(recipe, a, Gauge::Bits32);
            Node::Crc32c(sum, b)
        }
        11 if !is_simple => {
            let sum = convert(recipe, a, Gauge::Bits32);
            let byte = convert(recipe, b, Gauge::Bits8);
            Node::Adler32(sum, byte)
        }
        12 if recipe.table.is_some() => Node::Read(a),
        13 if recipe.table.is_some() => {
            let value = convert(recipe, b, Gauge::Bits64);
            Node::Write(a, value)
        }
        _ => Node::Binary(operation, a, b),
    };
    recipe.nodes.push(node);
}

/// The pipe.
pub fn pipe(kind: &Kind) -> Pipe {
    match kind {
        Kind::Ready(kind) => match *kind {
            Ready::Copy => ready::copy(),
            Ready::Checksum => ready::internet_checksum(),
            Ready::Swap(Gauge::Bits16) => ready::swap16(),
            Ready::Swap(Gauge::Bits32) => ready::swap32(),
            Ready::Swap(_) => ready::swap64(),
            Ready::Xor(key) => ready::xor(key),
            Ready::Crc32c => ready::crc32c(),
            Ready::Adler32 => ready::adler32(),
            Ready::Histogram => ready::histogram(),
            Ready::Hex => ready::hex(),
            Ready::FromHex => ready::from_hex(),
        },
        Kind::Written(recipe) => {
            let none = Attributes::default();
            Pipe::new("generated", recipe.input, recipe.output, none, |it| write(recipe, it)).unwrap()
        }
    }
}

fn converted<'w>(word: Word<'w>, from: Gauge, to: Gauge) -> Word<'w> {
    if from < to { word.widened(to) } else { word.narrowed(to) }
}

fn write(recipe: &Recipe, it: &Writer) {
    let registers: Vec<_> = recipe
        .registers
        .iter()
        .map(|&(width, initial, persists)| it.register(Register { width, initial, persists }))
        .collect();
    let table = recipe.table.map(|entries| it.table(entries));
    let mut words: Vec<Word> = Vec::new();
    for (at, node) in recipe.nodes.iter().enumerate() {
        let width = recipe.width(at);
        let as_wide = |node: usize, to: Gauge| converted(words[node], recipe.width(node), to);
        let word = match *node {
            Node::Input => it.input(),
            Node::Number(width, number) => it.number(width, number & width.most()),
            Node::Register(register) => registers[register].value(),
            Node::Binary(operation, a, b) => words[a].binary(operation, as_wide(b, width)),
            Node::Not(a) => !words[a],
            Node::Swap(a) => words[a].swapped(),
            Node::Select(comparison, [a, b, then, or]) => {
                let compared = recipe.width(a);
                words[a].select(comparison, as_wide(b, compared), words[then], as_wide(or, width))
            }
            Node::Convert(a, width) => as_wide(a, width),
            Node::Join(a, b) => words[a].joined(as_wide(b, recipe.width(a))),
            Node::Crc32c(sum, word) => words[sum].crc32c(words[word]),
            Node::Adler32(sum, byte) => words[sum].adler32(words[byte]),
            Node::Read(index) => table.unwrap().at(words[index]),
            Node::Write(index, value) => {
                table.unwrap().set(words[index], words[value]);
                words[value]
            }
        };
        words.push(word);
    }
    for (register, update) in &recipe.updates {
        let (held, width) = (registers[*register], recipe.registers[*register].0);
        let as_wide = |node: usize| converted(words[node], recipe.width(node), width);
        held.becomes(match *update {
            Update::Node(node) => as_wide(node),
            Update::Gather(operation, node) => held.value().binary(operation, as_wide(node)),
            Update::Adler32(node) => held.value().adler32(words[node]),
        });
    }
    if let Some(result) = recipe.result {
        it.output(converted(words[result], recipe.width(result), recipe.output));
    }
}
