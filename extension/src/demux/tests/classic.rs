//! Compares programs of classic BPF, and the filters that are made of them, with a second interpreter, which follows
//! libpcap's `bpf_filter` line by line.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::super::*;
use super::packets::packet;

/// What libpcap's interpreter returns, for a program that was checked.
pub(super) fn interpreted(program: &[Instruction], packet: &[u8]) -> u32 {
    let load = |offset: u64, bytes: u64| -> Option<u32> {
        let mut value = 0;
        for at in offset..offset + bytes {
            value = value << 8 | u32::from(*packet.get(usize::try_from(at).ok()?)?);
        }
        Some(value)
    };
    let (mut a, mut x, mut memory, mut pc) = (0u32, 0u32, [0u32; 16], 0);
    loop {
        let Instruction { code, jt, jf, k } = program[pc];
        pc += 1;
        let operand = if code & 8 != 0 { x } else { k };
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        let loaded = match code {
            0x20 => load(k.into(), 4),
            0x28 => load(k.into(), 2),
            0x30 => load(k.into(), 1),
            0x40 => load(u64::from(x) + u64::from(k), 4),
            0x48 => load(u64::from(x) + u64::from(k), 2),
            0x50 => load(u64::from(x) + u64::from(k), 1),
            0xb1 => load(k.into(), 1),
            _ => Some(0),
        };
        let Some(loaded) = loaded else { return 0 };
        match code {
            0x00 => a = k,
            0x20 | 0x28 | 0x30 | 0x40 | 0x48 | 0x50 => a = loaded,
            0x60 => a = memory[k as usize],
            0x80 => a = packet.len() as u32,
            0x01 => x = k,
            0x61 => x = memory[k as usize],
            0x81 => x = packet.len() as u32,
            0xb1 => x = (loaded & 0xf) << 2,
            0x02 => memory[k as usize] = a,
            0x03 => memory[k as usize] = x,
            0x04 | 0x0c => a = a.wrapping_add(operand),
            0x14 | 0x1c => a = a.wrapping_sub(operand),
            0x24 | 0x2c => a = a.wrapping_mul(operand),
            0x34 | 0x3c | 0x94 | 0x9c if operand == 0 => return 0,
            0x34 | 0x3c => a /= operand,
            0x94 | 0x9c => a %= operand,
            0x44 | 0x4c => a |= operand,
            0x54 | 0x5c => a &= operand,
            0xa4 | 0xac => a ^= operand,
            0x64 | 0x6c => a = if operand < 32 { a << operand } else { 0 },
            0x74 | 0x7c => a = if operand < 32 { a >> operand } else { 0 },
            0x84 => a = 0u32.wrapping_sub(a),
            0x05 => pc += k as usize,
            0x15 | 0x1d => pc += jump(a == operand),
            0x25 | 0x2d => pc += jump(a > operand),
            0x35 | 0x3d => pc += jump(a >= operand),
            0x45 | 0x4d => pc += jump(a & operand != 0),
            0x06 => return k,
            0x16 => return a,
            0x07 => x = a,
            0x87 => a = x,
            _ => panic!("{code:#x} was let pass"),
        }
    }
}

/// Loads as compilers of filters write them, comparisons, and some of all the rest.
fn instruction() -> impl Strategy<Value = Instruction> {
    let at = |code: u16, k: u32| Instruction { code, jt: 0, jf: 0, k };
    let known = &[0x800u32, 0x86dd, 0x806, 6, 17, 53, 80, 1024, 0x1fff][..];
    let number = || prop_oneof![3 => 0..40u32, 2 => prop::sample::select(known), 1 => any::<u32>()];
    let load = (
        prop::sample::select(&[0x20u16, 0x28, 0x30][..]),
        prop_oneof![0..50u32, Just(12u32), Just(23), Just(20)],
    );
    let compare = prop::sample::select(&[0x15u16, 0x15, 0x25, 0x35, 0x45][..]);
    let jump = |code: BoxedStrategy<u16>| {
        (code, number(), 0..6u8, 0..6u8).prop_map(|(code, k, jt, jf)| Instruction { code, jt, jf, k })
    };
    let rest: &[u16] = &[
        0x00, 0x60, 0x80, 0x01, 0x61, 0x81, 0x02, 0x03, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3c, 0x44,
        0x4c, 0x54, 0x5c, 0x64, 0x6c, 0x74, 0x7c, 0x84, 0x94, 0x9c, 0xa4, 0xac, 0x05, 0x1d, 0x3d, 0x07, 0x87,
        0x06, 0x16,
    ];
    prop_oneof![
        6 => load.prop_map(move |(code, k)| at(code, k)),
        8 => jump(compare.boxed()),
        1 => Just(at(0xb1, 14)),
        2 => (prop::sample::select(&[0x40u16, 0x48, 0x50][..]), 10..30u32).prop_map(move |(code, k)| at(code, k)),
        1 => number().prop_map(move |k| at(0x54, k)),
        1 => (1..9u32).prop_map(move |k| at(0x74, k)),
        2 => (prop::sample::select(rest), prop_oneof![4 => 0..16u32, 1 => number()], 0..6u8, 0..6u8)
            .prop_map(|(code, k, jt, jf)| Instruction { code, jt, jf, k }),
    ]
}

/// Anything, well-formed or not.
fn anything() -> impl Strategy<Value = Vec<Instruction>> {
    let hostile = (any::<u16>(), any::<u8>(), any::<u8>(), any::<u32>())
        .prop_map(|(code, jt, jf, k)| Instruction { code: code & 0x1ff, jt, jf, k });
    prop::collection::vec(prop_oneof![8 => instruction(), 1 => hostile], 0..12)
}

/// A program: what leads beyond the end is shortened, and what is refused for something else left out.
pub(crate) fn instructions() -> impl Strategy<Value = Vec<Instruction>> {
    prop::collection::vec(instruction(), 1..24).prop_map(|mut all| {
        all.push(Instruction { code: 6, jt: 0, jf: 0, k: 0 });
        all.push(Instruction { code: 6, jt: 0, jf: 0, k: 1 });
        let last = all.len() - 1;
        for (at, it) in all.iter_mut().enumerate() {
            let most = last.saturating_sub(at + 1);
            if it.code & 7 == 5 {
                (it.jt, it.jf) = (it.jt.min(most as u8), it.jf.min(most as u8));
                it.k = if it.code == 5 { it.k.min(most as u32) } else { it.k };
            }
        }
        while let Err(refusal) = Program::new(&all) {
            all[refusal.at] = Instruction { code: 0, jt: 0, jf: 0, k: 7 };
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * super::cases()))]

    #[test]
    fn programs_do_what_libpcap_does(program in instructions(), packets in prop::collection::vec(packet(), 1..20)) {
        let ours = Program::new(&program).unwrap();
        let filter = Filter::from_classic(&program).unwrap();
        for packet in packets {
            let theirs = interpreted(&program, &packet);
            prop_assert_eq!(ours.run(&packet), theirs, "{:?}", packet);
            prop_assert_eq!(filter.wants(&packet), theirs != 0, "{:?} {:?}", filter, packet);
        }
    }

    #[test]
    fn what_is_no_program_is_refused(program in anything(), packet in packet()) {
        if let Ok(ours) = Program::new(&program) {
            prop_assert_eq!(ours.run(&packet), interpreted(&program, &packet));
        }
    }
}

#[test]
fn a_hostile_program_is_understood_soon_or_not_at_all() {
    let at = |code, jt, jf, k| Instruction { code, jt, jf, k };
    let end = [at(6, 0, 0, 1), at(6, 0, 0, 0)];
    let fork = |k: u32| [at(0x30, 0, 0, k % 200), at(0x15, 0, 1, k % 7), at(0x00, 0, 0, 1)];
    let load_and_fork = (0..1300).flat_map(fork).chain(end).collect::<Vec<_>>();
    let chain = (0..4000).map(|k| at(0x15, 0, 0, k)).map(|it| Instruction { jf: 1, ..it }).chain(end);
    let chain: Vec<Instruction> = [at(0x28, 0, 0, 12)].into_iter().chain(chain).collect();
    let ports = (0..200u32).map(|k| at(0x15, (200 - k) as u8, 0, k)).chain([end[1], end[0]]);
    let ports: Vec<Instruction> = [at(0x28, 0, 0, 12)].into_iter().chain(ports).collect();
    for (program, programs) in [(load_and_fork, 1), (chain, 1), (ports, 0)] {
        let begin = std::time::Instant::now();
        let filter = Filter::from_classic(&program).unwrap();
        assert_eq!(filter.programs(), programs);
        assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    }
}

#[test]
fn what_may_divide_by_zero_is_interpreted() {
    let at = |code, k| Instruction { code, jt: 0, jf: 0, k };
    for divide in [0x3c, 0x9c] {
        let program = [at(0x30, 0), at(0x07, 0), at(0x00, 7), at(divide, 0), at(0x06, 1)];
        let filter = Filter::from_classic(&program).unwrap();
        assert_eq!(filter.programs(), 1);
        assert!(filter.wants(&[1]) && !filter.wants(&[0]) && !filter.wants(&[]));
    }
}
