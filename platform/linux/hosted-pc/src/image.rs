//! The image, which is linked into this executable at its own addresses, and the start info that a loader gives it
//! (PVH).
//!
//! # Soundness
//!
//! Linux has loaded the executable's segments where its headers say. The image's segments are below all others, and no
//! code here refers to them.

use std::ffi::{c_int, c_void};
use std::slice;

use drystone_component::size;

use crate::apic::{Apic, IoApic};
use crate::clock::{Alarm, Clock};
use crate::machine::Machine;
use crate::memory::{Memory, PAGE};
use crate::own::Own;
use crate::ports::Ports;
use crate::processor::Processor;
use crate::tables::{Page, Rights};
use crate::users::Users;

/// Bytes of memory by default. Untouched pages take none.
const MEMORY: u64 = 1 << 30;

/// The start of this executable's own segments. Lower addresses are the image's, or memory.
const OWN: u64 = 0x7000_0000;

/// The address of the start info: below the image, but where Linux lets a process map memory.
const SAID: u64 = 0x8_0000;
const REGIONS: u64 = SAID + 0x100;
const COMMAND_LINE: u64 = SAID + 0x1000;
const LONGEST: usize = 0x1_0000;
/// The hole in a PC's memory: the end of the first region, and the start of the second.
const HOLE: (u64, u64) = (0x9_fc00, 0x10_0000);

struct Segment {
    start: u64,
    bytes: u64,
    /// The segment is code, and stays where it is.
    is_code: bool,
}

/// Makes a machine with the image in its memory. Returns the address of the start info.
pub fn load(command_line: &[u8]) -> Result<(Machine, u64), String> {
    let text = std::env::var_os("DRYSTONE_MEMORY").unwrap_or_default();
    let text = text.to_string_lossy();
    let wrong = || format!("DRYSTONE_MEMORY={text} is no number of bytes, such as 200M");
    let wanted = if text.is_empty() { 0 } else { size::bytes(&text).ok_or_else(wrong)? as u64 };
    let cannot = |error| format!("there is no memory for the machine: {error}");
    if wanted > OWN {
        return Err(format!("a machine that is a process has {OWN} bytes of memory at most, not {wanted}"));
    }
    let memory = Memory::new(MEMORY.max(wanted)).map_err(cannot)?;
    if command_line.len() >= LONGEST {
        return Err("the arguments are too long".into());
    }
    let segments = segments();
    let end = |segment: &Segment| segment.start + segment.bytes.next_multiple_of(PAGE);
    let first = segments.iter().map(|it| it.start).min().ok_or("there is no image in this executable")?;
    let last = segments.iter().map(end).max().unwrap_or(first);
    for segment in &segments {
        // SAFETY: see the head of this file.
        unsafe {
            let bytes = slice::from_raw_parts(segment.start as *const u8, segment.bytes as usize);
            memory.write(segment.start, bytes).ok_or("the image is larger than the machine's memory")?;
            if !segment.is_code {
                libc::munmap(segment.start as *mut c_void, (end(segment) - segment.start) as usize);
            }
        }
    }
    tell(&memory, command_line).ok_or("there is too little memory")?;
    let rights = Rights { write: false, execute: true, user: false };
    let code = segments.iter().filter(|segment| segment.is_code);
    let code = code.flat_map(|segment| (segment.start..end(segment)).step_by(PAGE as usize));
    let pages = code.map(|start| Page { start, frame: start, size: PAGE, rights });
    let machine = Machine {
        own: Own::new(&memory, (first, last), pages),
        users: Users::new(memory.file()),
        memory,
        processor: Processor::new(),
        apic: Apic::new(),
        io_apic: IoApic::default(),
        ports: Ports::default(),
        clock: Clock::default(),
        alarm: Alarm::new(),
        changed: 0,
    };
    Ok((machine, SAID))
}

/// The image's segments.
fn segments() -> Vec<Segment> {
    /// # Safety
    /// Called by `dl_iterate_phdr`; `found` leads to the list of segments.
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the C library passes valid headers, and `found` as it was given. The first object is the executable.
        unsafe {
            let found = &mut *found.cast::<Vec<Segment>>();
            let info = &*info;
            for header in slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) {
                let start = info.dlpi_addr + header.p_vaddr;
                // The segment with the file's first bytes holds the headers for Linux.
                if header.p_type == libc::PT_LOAD && header.p_offset > 0 && start < OWN {
                    let is_code = header.p_flags & libc::PF_X != 0;
                    found.push(Segment { start, bytes: header.p_memsz, is_code });
                }
            }
        }
        1
    }
    let mut found = Vec::new();
    // SAFETY: `look` is called for each object before this returns, and stops at the first.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// Writes the start info.
fn tell(memory: &Memory, command_line: &[u8]) -> Option<()> {
    const MAGIC: u64 = 0x336e_c578;
    const VERSION: u64 = 1;
    const USABLE: u64 = 1;
    let regions = [(0, HOLE.0), (HOLE.1, memory.size() - HOLE.1)];
    let info = [MAGIC | VERSION << 32, 0, 0, COMMAND_LINE, 0, REGIONS, regions.len() as u64];
    let regions = regions.into_iter().flat_map(|(start, size)| [start, size, USABLE]);
    let bytes = |words: &mut dyn Iterator<Item = u64>| words.flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    memory.write(SAID, &bytes(&mut info.into_iter()))?;
    memory.write(REGIONS, &bytes(&mut regions.into_iter()))?;
    memory.write(COMMAND_LINE, &[command_line, &[0]].concat())
}
