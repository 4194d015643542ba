//! Safe programs, with the guards that they get.

use super::*;

#[track_caller]
fn plain(text: &str) {
    assert_eq!(guards(text, &handler()), [], "{text}");
}

#[track_caller]
fn guarded_by(text: &str, expected: &[(usize, Guard)]) {
    assert_eq!(guards(text, &confining()), expected, "{text}");
}

#[test]
fn packets_are_read_behind_a_comparison_with_their_end() {
    plain(
        "ldxw %r2, [%r1]
         ldxw %r3, [%r1+4]
         mov %r0, 1
         mov %r4, %r2
         add %r4, 14
         jgt %r4, %r3, out
         ldxh %r0, [%r2+12]
         out: exit",
    );
}

#[test]
fn what_a_helper_changes_is_a_number_then() {
    plain(
        "stdw [%r10-16], 1
         stdw [%r10-8], 2
         mov %r1, %r10
         add %r1, -16
         call 6
         ldxdw %r0, [%r10-8]
         exit",
    );
}

#[test]
fn where_a_pointer_stood_numbers_stand_as_well() {
    plain(
        "ldxw %r2, [%r1]
         stxdw [%r10-8], %r2
         stw [%r10-8], 7
         ldxw %r0, [%r10-8]
         stw [%r10-4], 8
         ldxw %r3, [%r10-8]
         add %r0, %r3
         exit",
    );
}

#[test]
fn the_length_of_a_packet_is_a_number() {
    plain(
        "ldxw %r2, [%r1]
         ldxw %r0, [%r1+4]
         add %r2, 14
         sub %r0, %r2
         and %r0, 1
         exit",
    );
}

#[test]
fn a_header_of_variable_length_is_proven_by_its_own_comparison() {
    plain(
        "ldxw %r6, [%r1]
         ldxw %r7, [%r1+4]
         mov %r0, 1
         mov %r2, %r6
         add %r2, 20
         jgt %r2, %r7, out
         ldxb %r3, [%r6]
         and %r3, 15
         lsh %r3, 2
         add %r6, %r3
         mov %r4, %r6
         add %r4, 8
         jgt %r4, %r7, out
         ldxdw %r0, [%r6]
         and %r0, 1
         out: exit",
    );
}

#[test]
fn a_loop_over_a_packet_needs_no_more_than_its_comparison() {
    guarded_by(
        "ldxw %r2, [%r1]
         ldxw %r3, [%r1+4]
         mov %r0, 0
         again: mov %r4, %r2
         add %r4, 1
         jgt %r4, %r3, out
         ldxb %r5, [%r2]
         add %r0, %r5
         mov %r2, %r4
         ja again
         out: exit",
        &[(9, Guard::Budget)],
    );
    // It is over soon for short packets.
    let mut contract = handler();
    contract.regions[usize::from(PACKET)].extent = Extent::ToEnd(1500);
    let text = "ldxw %r2, [%r1]
         ldxw %r3, [%r1+4]
         mov %r0, 0
         again: mov %r4, %r2
         add %r4, 1
         jgt %r4, %r3, out
         ldxb %r5, [%r2]
         add %r0, %r5
         mov %r2, %r4
         ja again
         out: exit";
    assert_eq!(guards(text, &contract), []);
}

#[test]
fn context_fields_that_stand_elsewhere_are_loaded_from_there() {
    use std::string::ToString;
    let text = "ldxw %r2, [%r1+4]\nadd %r1, 3\nldxw %r3, [%r1+9]\nmov %r0, 0\nexit";
    let verified = verify(program(text), &handler()).unwrap();
    let loads = [0, 2].map(|at| verified.program().at(at).unwrap().to_string());
    assert_eq!(loads, ["ldxdw %r2, [%r1+8]", "ldxw %r3, [%r1+17]"]);
}

#[test]
fn values_of_tables_are_used_when_they_are_there() {
    plain(
        "stw [%r10-4], 7
         lddw %r1, map_by_fd(0)
         mov %r2, %r10
         add %r2, -4
         call 1
         mov %r6, %r0
         jeq %r6, 0, out
         mov %r1, 1
         lock fetch_add [%r0+8], %r1
         out: mov %r0, 0
         exit",
    );
}

#[test]
fn spilled_pointers_keep_what_they_are() {
    plain(
        "stxdw [%r10-8], %r1
         stb [%r10-9], 1
         ldxdw %r2, [%r10-8]
         ldxw %r0, [%r2+12]
         exit",
    );
}

#[test]
fn copies_and_spills_learn_from_comparisons() {
    plain(
        "call 2
         mov %r6, %r0
         stxdw [%r10-8], %r0
         mov %r0, 0
         jgt %r6, 15, out
         ldxdw %r2, [%r10-8]
         lddw %r3, map_val(map_by_fd(0))+0
         add %r3, %r2
         ldxb %r0, [%r3]
         out: exit",
    );
}

#[test]
fn comparisons_of_half_a_register_bound_the_whole_if_the_rest_is_nothing() {
    plain(
        "call 2
         mov32 %r1, %r0
         mov %r0, 0
         jslt32 %r1, 0, out
         jsgt32 %r1, 15, out
         lddw %r3, map_val(map_by_fd(0))+0
         add %r3, %r1
         ldxb %r0, [%r3]
         out: exit",
    );
}

#[test]
fn loops_that_count_need_no_budget() {
    for (first, step, condition) in [
        ("0", "add %r6, 1", "jne %r6, 100, again"),
        ("0", "add %r6, 1", "jlt %r6, 100, again"),
        ("0", "add %r6, 3", "jslt %r6, 100, again"),
        ("100", "add %r6, -1", "jne %r6, 0, again"),
        ("100", "sub %r6, 2", "jsgt %r6, 0, again"),
        ("0", "add32 %r6, 1", "jne32 %r6, 100, again"),
        ("0", "add32 %r6, 1", "jlt32 %r6, 100, again"),
        ("-5", "add %r6, 1", "jne %r6, 5, again"),
        ("0", "mov %r2, %r6\nadd %r2, 1\nmov %r6, %r2", "jne %r6, 100, again"),
        ("0", "add %r6, 1\nmov %r7, 100", "jlt %r6, %r7, again"),
    ] {
        plain(&std::format!("mov %r6, {first}\nagain: call 2\n{step}\n{condition}\nmov %r0, 0\nexit"));
    }
}

#[test]
fn a_loop_whose_condition_stands_first_needs_no_budget() {
    plain(
        "mov %r6, 0
         ja condition
         again: call 2
         add %r6, 1
         condition: jlt %r6, 100, again
         mov %r0, 0
         exit",
    );
}

#[test]
fn loops_that_may_never_end_need_a_budget() {
    let ends = "\nmov %r0, 0\nexit";
    for (text, at) in [
        ("again: ja again", 0),
        ("again: call 2\njne %r0, 0, again", 1),
        ("mov %r6, 0\nagain: call 2\nadd %r6, 2\njne %r6, 101, again", 3),
        ("call 2\nmov %r6, %r0\nagain: add %r6, -1\njne %r6, 0, again", 3),
        ("mov %r6, 0\nagain: add %r6, 1\ncall 2\njne %r0, 0, over\nmov %r6, 0\nover: jlt %r6, 100, again", 5),
        ("mov %r6, 0\nagain: add32 %r6, 1\njge %r6, 0, again", 2),
        // Half a register comes round, at once or on some ways.
        ("mov %r6, 0\nagain: add32 %r6, 0x40000000\njge %r6, 0, again", 2),
        (
            "lddw %r7, 0xffffffff\nmov %r6, 0\nagain: jset %r2, 1, wide\nadd32 %r6, 0x40000000\nja over\n\
             wide: add %r6, 0x40000000\nover: jle %r6, %r7, again",
            7,
        ),
        (
            "lddw %r7, 0xffffffff\nmov %r6, 0\nagain: jset %r2, 1, narrow\nadd %r6, 0x40000000\nja over\n\
             narrow: add32 %r6, 0x40000000\nover: jle %r6, %r7, again",
            7,
        ),
        // Too long to wait for.
        ("mov %r6, 0\nagain: add %r6, 1\njne %r6, 1000000, again", 2),
    ] {
        let text = std::string::String::from(text) + ends;
        assert_eq!(guards(&text, &handler()), [(at, Guard::Budget)], "{text}");
    }
}

#[test]
fn loops_in_loops_are_watched_if_together_they_take_long() {
    let nested = |inner: u32, outer: u32| {
        std::format!(
            "mov %r6, 0
             again: mov %r7, 0
             inner: add %r7, 1
             jne %r7, {inner}, inner
             add %r6, 1
             jne %r6, {outer}, again
             mov %r0, 0
             exit"
        )
    };
    plain(&nested(10, 10));
    assert_eq!(guards(&nested(1000, 1000), &handler()), [(5, Guard::Budget)]);
    assert_eq!(guards(&nested(100_000, 10), &handler()), [(3, Guard::Budget)]);
}

#[test]
fn what_may_be_meant_for_own_memory_is_confined() {
    // Through a number, beside own memory, and through what may be null or a number.
    guarded_by(
        "mov %r6, %r3
         stxdw [%r6+248], %r6
         ldxdw %r2, [%r6+248]
         ldxdw %r0, [%r2]
         call 2
         add %r6, %r0
         stb [%r6+3], 7
         mov %r0, 0
         exit",
        &[(3, Guard::Confine), (6, Guard::Confine)],
    );
}

#[test]
fn functions_are_called_with_pointers_to_their_callers_stacks() {
    plain(
        "mov %r1, %r10
         add %r1, -16
         mov %r2, 5
         call local set
         mov %r1, %r10
         add %r1, -8
         mov %r2, 7
         call local set
         ldxdw %r0, [%r10-16]
         ldxdw %r1, [%r10-8]
         add %r0, %r1
         exit
         set: stxdw [%r1], %r2
         mov %r0, 0
         exit",
    );
}

#[test]
fn callers_keep_their_registers_and_what_callees_leave_alone() {
    plain(
        "mov %r6, %r1
         stxdw [%r10-8], %r1
         stdw [%r10-16], 3
         mov %r1, %r10
         add %r1, -16
         call local clear
         ldxdw %r2, [%r10-8]
         ldxw %r0, [%r2+12]
         ldxw %r0, [%r6+12]
         exit
         clear: stdw [%r1], 0
         mov %r6, 0
         mov %r0, 0
         exit",
    );
}

#[test]
fn recursion_takes_from_the_budget() {
    assert_eq!(
        guards(
            "call local again\nexit\nagain: mov %r0, 0\njeq %r1, 0, out\ncall local again\nout: exit",
            &handler()
        ),
        [(4, Guard::Budget)]
    );
    assert_eq!(
        guards("lddw %r6, code_addr(f)\ncallx %r6\nexit\nf: mov %r0, 1\nexit", &handler()),
        [(2, Guard::Budget)]
    );
    assert_eq!(guards("mov %r6, 2\ncallx %r6\nexit", &handler()), []);
}

#[test]
fn choices_of_functions_are_all_gone_through() {
    let text = "lddw %r6, code_addr(f)
         jeq %r2, 0, go
         lddw %r6, code_addr(g)
         go: callx %r6
         exit
         f: mov %r0, 1
         exit
         g: ldxw %r0, [%r1+12]
         exit";
    assert_eq!(guards(text, &handler()), [(5, Guard::Budget)]);
}

#[test]
fn calls_that_multiply_take_from_the_budget() {
    let mut text = std::string::String::new();
    for depth in 0..7 {
        for _ in 0..10 {
            text += &std::format!("call local f{depth}\n");
        }
        text += &std::format!("mov %r0, 0\nexit\nf{depth}: mov %r0, 0\n");
    }
    text += "exit";
    assert!(!guards(&text, &handler()).is_empty());
}
