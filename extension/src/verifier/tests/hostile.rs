//! Programs that try to keep the verifier busy: it looks at each instruction a bounded number of times.

use std::{format, string::String};

use super::sound::verify_watched;
use super::*;

/// How often instructions were looked at, on average.
#[track_caller]
fn looks(text: &str) -> usize {
    let program = program(text);
    let (_, seen) = verify_watched(&program, &confining()).unwrap_or_else(|rejection| panic!("{rejection}"));
    seen.values().map(Vec::len).sum::<usize>() / program.slots()
}

#[test]
fn ways_that_fork_and_meet_again_and_again() {
    let text = "jset %r2, 1, +1\nadd %r2, 3\n".repeat(2000) + "mov %r0, 0\nexit";
    assert!(looks(&text) <= 1);
}

#[test]
fn every_way_changes_another_cell_of_the_stack() {
    let mut text = String::new();
    for cell in 1..=64 {
        text += &format!("stxdw [%r10-{}], %r2\n", cell * 8);
    }
    for index in 0..2000 {
        text +=
            &format!("jset %r2, {}, +1\nstdw [%r10-{}], {index}\n", 1 << (index % 30), index % 64 * 8 + 8);
    }
    assert!(looks(&(text + "mov %r0, 0\nexit")) <= 1);
}

#[test]
fn loops_deep_in_each_other() {
    let (mut text, mut ends) = (String::new(), String::new());
    for depth in 0..300 {
        text += &format!("l{depth}: add %r{}, 1\n", 4 + depth % 5);
        ends = format!("jne %r{}, {}, l{depth}\n", 4 + depth % 5, depth + 10) + &ends;
    }
    let text =
        format!("mov %r4, 0\nmov %r5, 0\nmov %r6, 0\nmov %r7, 0\nmov %r8, 0\n{text}{ends}mov %r0, 0\nexit");
    assert!(looks(&text) <= 300);
}

#[test]
fn everything_jumps_back() {
    // From the end to the beginning, piece by piece, with two ways to each.
    let pieces = 1000;
    let mut text = format!("ja l{pieces}\nl0: mov %r0, 0\nexit\nl1: ja l0\n");
    for index in 2..=pieces {
        text += &format!("l{index}: add %r2, {index}\njset %r2, 1, l{}\nja l{}\n", index - 1, index - 2);
    }
    assert!(looks(&text) <= 4);
}

#[test]
fn a_loop_with_many_ways_back() {
    let mut text = String::from("mov %r4, 0\nagain: add %r4, 1\n");
    for index in 0..1000 {
        text += &format!("add %r4, 1\njset %r2, {}, again\n", index + 1);
    }
    assert!(looks(&(text + "mov %r0, 0\nexit")) <= 60);
}

#[test]
fn calls_that_multiply_when_they_are_done_one_by_one() {
    let mut text = String::new();
    for depth in 0..7 {
        for _ in 0..50 {
            text += &format!("call local f{depth}\n");
        }
        text += &format!("mov %r0, 0\nexit\nf{depth}: mov %r0, 0\n");
    }
    assert!(looks(&(text + "exit")) <= 10);
}

#[test]
fn calls_that_recur_with_other_arguments_each_time() {
    let text = "mov %r1, 0
         call local f
         exit
         f: mov %r6, %r1
         add %r1, 1
         call local f
         mov %r1, %r6
         add %r1, 2
         call local f
         mov %r1, %r6
         mul %r1, 3
         call local f
         mov %r0, 0
         exit";
    assert!(looks(text) <= 8 * 60);
}

#[test]
fn functions_that_call_any_function() {
    let mut text = String::new();
    let functions = 30;
    for index in 0..functions {
        text += &format!("lddw %r6, code_addr(f{index})\njset %r2, {}, go\n", index + 1);
    }
    text += "go: callx %r6\nmov %r0, 0\nexit\n";
    for index in 0..functions {
        text += &format!(
            "f{index}: lddw %r3, code_addr(f{})\ncallx %r3\nmov %r0, 0\nexit\n",
            (index + 7) % functions
        );
    }
    assert!(looks(&text) <= 200);
}

#[test]
fn tables_of_a_thousand_functions_are_refused() {
    let mut text = String::new();
    for index in 0..100 {
        text += &format!("lddw %r6, code_addr(f{index})\njset %r2, {}, go\n", index + 1);
    }
    text += "go: callx %r6\nmov %r0, 0\nexit\n";
    for index in 0..100 {
        text += &format!("f{index}: mov %r0, 0\nexit\n");
    }
    assert!(
        refusal(&text, &handler())
            .ends_with("it may call more than 64 functions; choose between them by comparisons first")
    );
}
