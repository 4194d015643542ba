//! The machine's start info (PVH): memory, a command line, and files that were loaded beside the image.
//!
//! # Soundness
//!
//! The structures are where the loader says. The kernel doesn't allocate that memory.

use core::ffi::CStr;
use core::ops::Range;
use core::slice;

/// The start info, as the loader writes it.
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

/// A copy of the start info, whose own memory may soon be reused.
pub struct Info {
    memory: Ranges<MOST_REGIONS>,
    modules: Ranges<MOST_MODULES>,
    command_line: [u8; LONGEST],
    length: usize,
}

/// Further regions aren't used.
const MOST_REGIONS: usize = 32;
const MOST_MODULES: usize = 4;
const LONGEST: usize = 32 * 1024;

struct Ranges<const MOST: usize> {
    ranges: [(usize, usize); MOST],
    count: usize,
}

impl<const MOST: usize> Ranges<MOST> {
    const fn new() -> Ranges<MOST> {
        Ranges { ranges: [(0, 0); MOST], count: 0 }
    }

    fn keep(&mut self, start: u64, size: u64) {
        if let Some(range) = self.ranges.get_mut(self.count) {
            *range = (start as usize, (start + size) as usize);
            self.count += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.ranges[..self.count].iter().map(|&(start, end)| start..end)
    }
}

impl Info {
    /// No information yet.
    pub const fn new() -> Info {
        Info { memory: Ranges::new(), modules: Ranges::new(), command_line: [0; LONGEST], length: 0 }
    }

    /// Copies the loader's start info. `false`: it isn't one.
    ///
    /// # Safety
    /// See the head of this file.
    pub unsafe fn keep(&mut self, info: &StartInfo) -> bool {
        if info.magic != MAGIC || info.version < 1 || info.memory_map == 0 {
            return false;
        }
        // SAFETY: the caller promises that the loader's structures are where it says.
        unsafe {
            let regions = info.memory_map as *const Region;
            for region in slice::from_raw_parts(regions, info.memory_entries as usize) {
                if region.kind == MEMORY {
                    self.memory.keep(region.start, region.size);
                }
            }
            if info.modules > 0 {
                let modules = info.module_list as *const Module;
                for module in slice::from_raw_parts(modules, info.modules as usize) {
                    self.modules.keep(module.start, module.size);
                }
            }
            if info.command_line != 0 {
                let text = CStr::from_ptr(info.command_line as *const _).to_bytes();
                self.length = text.len().min(LONGEST);
                self.command_line[..self.length].copy_from_slice(&text[..self.length]);
            }
        }
        true
    }

    /// The regions of memory.
    pub fn memory(&self) -> impl Iterator<Item = Range<usize>> {
        self.memory.iter()
    }

    /// Files that were loaded beside the image.
    pub fn modules(&self) -> impl Iterator<Item = Range<usize>> {
        self.modules.iter()
    }

    /// The image's command line.
    pub fn command_line(&self) -> &[u8] {
        &self.command_line[..self.length]
    }
}
