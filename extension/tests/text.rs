//! Programs as text.

mod programs;

use drystone_extension::bytecode::{Program, Slot, assemble, disassemble};
use proptest::prelude::*;

fn fault(text: &str) -> String {
    assemble(text).unwrap_err().to_string()
}

#[test]
fn what_the_assembler_refuses_it_says_with_the_line() {
    assert_eq!(fault("exit\n\nhop %r1"), "line 3: there is no instruction `hop`");
    assert_eq!(fault("mov %r11, 1"), "line 1: `%r11` is no register: they are %r0 to %r10");
    assert_eq!(fault("mov %r1, 0x100000000"), "line 1: `0x100000000` has more than 32 bits; lddw takes 64");
    assert_eq!(fault("mov %r1"), "line 1: it has 1 operands instead of 2");
    assert_eq!(fault("ja home"), "line 1: there is no label `home`");
    assert_eq!(fault("ldxw %r1, %r2"), "line 1: `%r2` is no address: they are like [%r1+8]");
    assert_eq!(fault("a: exit\na: exit"), "line 2: the label `a` stands twice");
}

#[test]
fn labels_and_numbers_of_slots_mean_the_same() {
    let labels = "mov %r0, 5\nagain: sub %r0, 1 # one less\nlddw %r1, -1\njne %r0, 0, again\nexit";
    let slots = "mov %r0, 5\nsub %r0, 1\nlddw %r1, 0xffffffffffffffff\njne %r0, 0, -4\nexit";
    assert_eq!(assemble(labels), assemble(slots));
}

#[test]
fn bytes_are_those_that_others_give() {
    let text = "mov32 %r0, 1\nldxdw %r2, [%r1+8]\nlock fetch_add [%r10-8], %r3\nbswap16 %r4\nja32 +1\ncallx %r5\nexit";
    let bytes: Vec<String> = assemble(text).unwrap().iter().map(|slot| hex(*slot)).collect();
    let expected = [
        "b400000001000000",
        "7912080000000000",
        "db3af8ff01000000",
        "d704000010000000",
        "0600000001000000",
        "8d05000000000000",
        "9500000000000000",
    ];
    assert_eq!(bytes, expected);
}

fn hex(slot: Slot) -> String {
    slot.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

proptest! {
    #[test]
    fn what_is_disassembled_is_assembled_as_it_was(instructions in programs::of_any_instructions()) {
        let mut slots = Vec::new();
        let mut lines = String::new();
        for instruction in instructions {
            instruction.encode(&mut slots);
            lines += &format!("{instruction}\n");
        }
        prop_assert_eq!(&assemble(&lines), &Ok(slots.clone()), "{}", lines);
        if let Ok(program) = Program::decode(&slots) {
            let text = disassemble(&program);
            prop_assert_eq!(&assemble(&text), &Ok(slots), "{}", text);
        }
    }
}
