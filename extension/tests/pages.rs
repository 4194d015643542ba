//! Executable memory.
#![cfg(target_os = "linux")]

use drystone_extension::engine::jit::pages;

#[test]
fn code_can_be_executed_and_not_written() {
    for _ in 0..3 {
        let pages = pages(&[0xc3]).unwrap();
        let place = pages.as_ptr() as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let range = |line: &&str| {
            let (begin, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
            let number = |text| usize::from_str_radix(text, 16).unwrap();
            (number(begin)..number(end)).contains(&place)
        };
        let line = maps.lines().find(range).unwrap();
        assert!(line.contains(" r-xs "), "{line}");
        assert!(!maps.contains(" rwx"), "{maps}");
    }
}
