//! Loads user programs: ELF files, whose segments are mapped at their addresses.

use kortex_hal::mmu::{Access, PAGE, Refused};
use kortex_memory::paged::Paged;
use kortex_memory::{Pages, Space};

const SEGMENT: u64 = 56;
const LOAD: u32 = 1;
const EXECUTE: u32 = 1;
const WRITE: u32 = 2;

fn word(program: &[u8], at: u64, bytes: usize) -> u64 {
    let from = &program[at as usize..][..bytes];
    from.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Loads a well-formed program; returns its entry point.
///
/// # Errors
/// There is no memory.
pub fn load(program: &[u8], space: &Paged<'_, impl Pages>) -> Result<u64, Refused> {
    let word = |at, bytes| word(program, at, bytes);
    let (entry, segments, count) = (word(24, 8), word(32, 8), word(56, 2));
    for header in (0..count).map(|number| segments + number * SEGMENT) {
        let [kind, flags] = [0, 4].map(|at| word(header + at, 4) as u32);
        let [offset, address, in_file, in_memory] = [8, 16, 32, 40].map(|at| word(header + at, 8) as usize);
        if kind != LOAD {
            continue;
        }
        let access = Access { write: flags & WRITE != 0, execute: flags & EXECUTE != 0, ..Access::READ };
        let start = address & !(PAGE - 1);
        space.map(start, (address + in_memory - start).div_ceil(PAGE), access)?;
        space.fill(address, &program[offset..][..in_file])?;
    }
    Ok(entry)
}
