//! What the machine says of itself when it begins (PVH's start info): memory, a command line, files that were loaded beside the image.
//!
//! # Soundness
//!
//! The structures are where the loader says, in memory that the kernel gives to nobody.

use core::ffi::CStr;
use core::ops::Range;
use core::slice;

/// As the loader writes it.
#[repr(C)]
pub struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    modules: u32,
    module_list: u64,
    command_line: u64,
    rsdp: u64,
    memory_map: u64,
    memory_entries: u32,
    reserved: u32,
}

#[repr(C)]
struct Module {
    start: u64,
    size: u64,
    command_line: u64,
    reserved: u64,
}

#[repr(C)]
struct Region {
    start: u64,
    size: u64,
    kind: u32,
    reserved: u32,
}

const MAGIC: u32 = 0x336e_c578;
const MEMORY: u32 = 1;

impl StartInfo {
    /// Whether it is one.
    pub fn is_valid(&self) -> bool {
        self.magic == MAGIC && self.version >= 1 && self.memory_map != 0
    }

    /// Where memory is.
    pub fn memory(&self) -> impl Iterator<Item = Range<usize>> {
        // SAFETY: see the head of this file.
        let all =
            unsafe { slice::from_raw_parts(self.memory_map as *const Region, self.memory_entries as usize) };
        let usable = all.iter().filter(|region| region.kind == MEMORY);
        usable.map(|region| region.start as usize..(region.start + region.size) as usize)
    }

    /// Files that were loaded beside the image.
    pub fn modules(&self) -> impl Iterator<Item = Range<usize>> {
        let count = self.modules as usize;
        let all = match count {
            0 => &[][..],
            // SAFETY: see the head of this file.
            _ => unsafe { slice::from_raw_parts(self.module_list as *const Module, count) },
        };
        all.iter().map(|module| module.start as usize..(module.start + module.size) as usize)
    }

    /// What was said to the image.
    pub fn command_line(&self) -> &[u8] {
        match self.command_line {
            0 => &[],
            // SAFETY: see the head of this file.
            text => unsafe { CStr::from_ptr(text as *const _) }.to_bytes(),
        }
    }
}
