//! Every instruction of RFC 9669 in every engine, with edge cases.

#[path = "../engines/mod.rs"]
mod engines;
mod tables;

use std::collections::BTreeSet;

use drystone_extension::bytecode::{Slot, assemble, decode};
use engines::run_everywhere;

/// Every text that is run, with its memory and what it gives.
fn cases() -> Vec<(String, Vec<u8>, u64)> {
    let mut cases = Vec::new();
    let mut case = |text: String, memory: &[u8], result: u64| cases.push((text, memory.to_vec(), result));
    for &(name, left, right, wide, narrow) in tables::ALU {
        for (name, result) in [(name.to_string(), wide), (format!("{name}32"), narrow)] {
            for (a, b) in [(1, 2), (0, 1), (2, 3), (3, 2), (6, 3), (2, 6), (4, 0), (3, 4), (9, 7)] {
                let text = format!(
                    "lddw %r{a}, {left}\nlddw %r{b}, {right}\n{name} %r{a}, %r{b}\nmov %r0, %r{a}\nexit"
                );
                case(text, &[], result);
                let text = format!(
                    "lddw %r{a}, {left}\nlddw %r{b}, {right}\n{name} %r{a}, %r{b}\nmov %r0, %r{b}\nexit"
                );
                case(text, &[], right);
            }
            if right == right as i32 as u64 {
                for a in 0..10 {
                    let text =
                        format!("lddw %r{a}, {left}\n{name} %r{a}, {}\nmov %r0, %r{a}\nexit", right as i32);
                    case(text, &[], result);
                }
            }
            if left == right {
                case(format!("lddw %r4, {left}\n{name} %r4, %r4\nmov %r0, %r4\nexit"), &[], result);
            }
        }
    }
    for &(name, operand, result) in tables::ONE_OPERAND {
        for a in 0..10 {
            case(format!("lddw %r{a}, {operand}\n{name} %r{a}\nmov %r0, %r{a}\nexit"), &[], result);
        }
    }
    for &(name, source, result) in tables::EXTENSIONS {
        for (a, b) in [(0, 1), (1, 6), (7, 2), (5, 5), (4, 9)] {
            case(format!("lddw %r{b}, {source}\n{name} %r{a}, %r{b}\nmov %r0, %r{a}\nexit"), &[], result);
        }
    }
    for &(name, left, right, wide, narrow) in tables::JUMPS {
        for (name, jumps) in [(name.to_string(), wide), (format!("{name}32"), narrow)] {
            let end = "mov %r0, 0\nexit\nyes: mov %r0, 1\nexit";
            for (a, b) in [(1, 2), (0, 9), (6, 7)] {
                let text =
                    format!("lddw %r{a}, {left}\nlddw %r{b}, {right}\n{name} %r{a}, %r{b}, yes\n{end}");
                case(text, &[], jumps.into());
            }
            if right == right as i32 as u64 {
                case(
                    format!("lddw %r3, {left}\n{name} %r3, {}, yes\n{end}", right as i32),
                    &[],
                    jumps.into(),
                );
            }
        }
    }
    for &(name, before, after) in tables::ATOMICS64.iter().chain(tables::ATOMICS32) {
        let ([memory, source, r0], [memory_after, source_after, r0_after]) = (before, after);
        for base in ["%r1", "%r9"] {
            for read in [format!("ldxdw %r0, [{base}+8]"), "mov %r0, %r3".into(), String::new()] {
                let text = format!(
                    "mov %r9, %r1\nlddw %r3, {source}\nlddw %r0, {r0}\nlddw %r2, {memory}\nstxdw [{base}+8], %r2
                     lock {name} [{base}+8], %r3\n{read}\nexit"
                );
                let result = match read.chars().next() {
                    None => r0_after,
                    Some('m') => source_after,
                    _ => memory_after,
                };
                case(text, &[0; 16], result);
            }
        }
    }
    let bytes: Vec<u8> = (0x80..0x90).collect();
    for &(name, offset, result) in tables::LOADS {
        for (a, b) in [(0, 1), (1, 1), (2, 8), (9, 6)] {
            case(
                format!("mov %r{b}, %r1\n{name} %r{a}, [%r{b}+{offset}]\nmov %r0, %r{a}\nexit"),
                &bytes,
                result,
            );
            let text = format!(
                "mov %r{b}, %r1\nadd %r{b}, 16\n{name} %r{a}, [%r{b}{}]\nmov %r0, %r{a}\nexit",
                offset - 16
            );
            case(text, &bytes, result);
        }
    }
    for &(name, operand, result) in tables::STORES {
        for base in [0, 1, 6] {
            let text = format!(
                "lddw %r2, 0x1122334455667788\nmov %r{base}, %r1\n{name} [%r{base}+0], {operand}\n\
                 ldxdw %r0, [%r{base}]\nexit"
            );
            case(text, &bytes, result);
        }
    }
    for &(text, result) in tables::PROGRAMS {
        case(text.into(), &bytes, result);
    }
    cases
}

#[test]
fn every_instruction_gives_what_the_rfc_says() {
    for (text, memory, result) in cases() {
        let end = run_everywhere(&text, &memory, 100);
        assert_eq!(end.result, Ok(result), "{end:x?} of\n{text}");
    }
}

/// So that no case is forgotten.
#[test]
fn every_opcode_is_among_the_cases() {
    let told_apart = |slot: Slot| {
        // By offset: signed division and extension; by immediate: atomics and swaps; by source: kinds of calls and
        // constants.
        let offset = if matches!(slot.opcode & 7, 4 | 7) { slot.offset } else { 0 };
        let immediate =
            if slot.opcode & 0xe7 == 0xc3 || slot.opcode & 0xf7 == 0xd4 { slot.immediate } else { 0 };
        let source = if matches!(slot.opcode, 0x18 | 0x85) { slot.source } else { 0 };
        (slot.opcode, offset, immediate, source)
    };
    let mut run = BTreeSet::new();
    for (text, ..) in cases() {
        let slots = assemble(&text).unwrap();
        let mut at = 0;
        while at < slots.len() {
            run.insert(told_apart(slots[at]));
            at += decode(&slots, at).unwrap().slots();
        }
    }
    for opcode in 0..=255 {
        for offset in [0, 1, 8, 16, 32] {
            for immediate in [0, 16, 32, 64, 0x40, 0x50, 0xa0, 1, 0x41, 0x51, 0xa1, 0xe1, 0xf1] {
                for source in 0..8 {
                    let slot = Slot { opcode, destination: 0, source, offset, immediate };
                    // Variables of the platform: there are none.
                    let known = decode(&[slot, Slot::default()], 0).is_ok() && (opcode, source) != (0x18, 3);
                    assert!(!known || run.contains(&told_apart(slot)), "no case has {slot:?}");
                }
            }
        }
    }
}
