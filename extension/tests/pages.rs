//! Executable memory.
#![cfg(target_os = "linux")]

use drystone_extension::engine::jit::pages;

#[test]
fn code_can_be_executed_and_not_written() {
    let pages = pages(&[0xc3]).unwrap();
    let begin = format!("{:x}-", pages.as_ptr() as usize);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.starts_with(&begin)).unwrap();
    assert!(line.contains(" r-xp "), "{line}");
}
