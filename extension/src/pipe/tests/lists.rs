//! For all lists, data and alignments: compiled passes, evaluated passes and separate passes agree.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::vec::Vec;

use super::generate::{list, pipe};
use super::naive::{Held, Kind};
use crate::pipe::{Fault, Features, Handle, Mode, Pass, Pipes, Registers, Stride, Vectors};

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![8 => vec(any::<u8>(), 0..300), 1 => vec(any::<u8>(), 300..9000)]
}

fn stride() -> impl Strategy<Value = Option<Stride>> {
    let run = prop_oneof![Just(16), Just(32), select(&[1, 8, 64, 128, 100, 300][..])];
    prop::option::weighted(0.25, (run, 0..40usize).prop_map(|(run, gap)| Stride { run, gap }))
}

fn features() -> impl Strategy<Value = Features> {
    let vectors = select(&[Vectors::None, Vectors::Bits128, Vectors::Bits256][..]);
    (vectors, prop::bool::weighted(0.9)).prop_map(|(vectors, crc32c)| Features { vectors, crc32c })
}

/// Where data lies: how many bytes before it, where its gaps are.
type Lies = (usize, Option<Stride>);

fn lies() -> impl Strategy<Value = Lies> {
    (0..70usize, stride())
}

/// What is in gaps and around data.
const NO_DATA: u8 = 0xee;

fn laid(data: &[u8], (before, stride): Lies) -> Vec<u8> {
    let mut bytes = std::vec![NO_DATA; before];
    let stride = stride.unwrap_or(Stride { run: data.len().max(1), gap: 0 });
    for (at, run) in data.chunks(stride.run).enumerate() {
        if at > 0 {
            bytes.extend(std::vec![NO_DATA; stride.gap]);
        }
        bytes.extend(run);
    }
    bytes
}

fn passes(kinds: &[Kind], mode: Mode, features: Features, from: Lies, to: Lies) -> [Pass; 2] {
    let mut list = Pipes::new();
    for kind in kinds {
        list.add(pipe(kind));
    }
    from.1.into_iter().for_each(|stride| list.source(stride));
    to.1.into_iter().for_each(|stride| list.destination(stride));
    [list.evaluated(mode).unwrap(), list.compile_for(mode, features).unwrap()]
}

/// What all registers and tables hold.
fn held(kinds: &[Kind], registers: &Registers) -> Vec<Held> {
    let mut first = 0;
    let of = |(pipe, kind): (usize, &Kind)| {
        let Held { registers: all, table } = kind.held();
        let handle = Handle { pipe, number: 0, first, count: all.len() };
        first += all.len();
        let each = (0..all.len()).map(|number| registers.export(handle.number(number)).unwrap());
        let table = if table.is_empty() { Vec::new() } else { registers.table(handle).unwrap().to_vec() };
        Held { registers: each.collect(), table }
    };
    kinds.iter().enumerate().map(of).collect()
}

/// All pipes, one after the other.
fn separately(kinds: &[Kind], data: &[u8], held: &mut [Held]) -> Vec<u8> {
    kinds.iter().zip(held).fold(data.to_vec(), |data, (kind, held)| kind.pass(data, held))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases()))]

    #[test]
    fn a_pass_does_what_its_pipes_do(
        kinds in list(), first in data(), second in data(), features in features(), from in lies(), to in lies(),
        is_read in prop::bool::weighted(0.2),
    ) {
        let mode = if is_read { Mode::Read } else { Mode::Write };
        let both = passes(&kinds, mode, features, from, to);
        let mut all: Vec<Held> = kinds.iter().map(Kind::held).collect();
        let mut registers = both.each_ref().map(Pass::registers);
        for data in [&first, &second] {
            let out = separately(&kinds, data, &mut all);
            let source = laid(data, from);
            let expected = laid(&out, to);
            for (pass, registers) in both.iter().zip(&mut registers) {
                let source = &source[from.0..];
                if mode == Mode::Read {
                    prop_assert_eq!(pass.read(source, registers), Ok(()));
                } else {
                    prop_assert_eq!(pass.length(data.len()), out.len());
                    let mut destination = std::vec![NO_DATA; expected.len() + 100];
                    prop_assert_eq!(pass.run(source, &mut destination[to.0..], registers), Ok(out.len()));
                    prop_assert_eq!(&destination[..expected.len()], &expected[..]);
                    prop_assert!(destination[expected.len()..].iter().all(|it| *it == NO_DATA));
                }
                prop_assert_eq!(held(&kinds, registers), all.clone());
            }
        }
    }

    #[test]
    fn source_and_destination_may_overlap(
        kinds in list(), data in data(), features in features(), before in 0..70usize, apart in 0..70usize,
        is_behind in any::<bool>(),
    ) {
        let none = (0, None);
        let mut all: Vec<Held> = kinds.iter().map(Kind::held).collect();
        let out = separately(&kinds, &data, &mut all);
        let (from, to) = if is_behind { (before, before + apart) } else { (before + apart, before) };
        for pass in passes(&kinds, Mode::Write, features, none, none) {
            let mut registers = pass.registers();
            let mut memory = std::vec![NO_DATA; before + apart + data.len().max(out.len()) + 50];
            memory[from..from + data.len()].copy_from_slice(&data);
            let mut expected = memory.clone();
            let result = pass.run_within(&mut memory, from..from + data.len(), to, &mut registers);
            let changes = kinds.iter().any(|it| pipe(it).changes_length());
            let commutes = kinds.iter().all(|it| pipe(it).is_commutative());
            let is_apart = to >= from + data.len() || to + out.len() <= from;
            if is_apart || !changes && (to <= from || commutes) {
                prop_assert_eq!(result, Ok(()));
                expected[to..to + out.len()].copy_from_slice(&out);
                prop_assert_eq!(held(&kinds, &registers), all.clone());
            } else {
                prop_assert_eq!(result, Err(if changes { Fault::Overlap } else { Fault::Backwards }));
            }
            prop_assert_eq!(&memory, &expected);
        }
    }
}
