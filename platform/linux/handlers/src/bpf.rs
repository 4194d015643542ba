//! Linux's system call `bpf`: maps, programs, and links. No library is used for it, because all engines share the
//! loader of objects in `drystone_extension::bytecode`.
//!
//! `unsafe` here: the kernel is given addresses. What they point to outlives the call, is as long as the kernel is
//! told, and isn't accessed while the kernel may write it (*valid addresses*).

mod link;
mod map;

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use drystone_extension::bytecode::Slot;

pub use link::{attach_xdp, detach, identity, interface_of, program_of, update};
pub use map::{Map, freeze};

/// Numbers of commands.
#[derive(Clone, Copy)]
enum Command {
    MapCreate = 0,
    Lookup = 1,
    Update = 2,
    Delete = 3,
    NextKey = 4,
    ProgramLoad = 5,
    Pin = 6,
    Get = 7,
    Run = 10,
    ProgramById = 13,
    Info = 15,
    Freeze = 22,
    LinkCreate = 28,
    LinkUpdate = 29,
    EnableStatistics = 32,
    LinkDetach = 34,
}

/// Arguments of a command: plain numbers, without padding.
trait Attributes {}

/// Does a command of `bpf`.
///
/// # Safety
/// The attributes have valid addresses (see the head of this file), of what the command expects.
unsafe fn bpf<T: Attributes>(command: Command, attributes: &mut T) -> Result<i32> {
    /// A signal interrupts the verifier, and test runs.
    const TRIES: u32 = 50;
    let mut tries = 0;
    loop {
        // SAFETY: the attributes are as long as is said, and have valid addresses.
        let result =
            unsafe { libc::syscall(libc::SYS_bpf, command as i32, attributes as *mut T, size_of::<T>()) };
        if result >= 0 {
            return Ok(result as i32);
        }
        let error = Error::last_os_error();
        tries += 1;
        if tries == TRIES || !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) {
            return Err(error);
        }
    }
}

/// Does a command of `bpf` that opens something.
///
/// # Safety
/// As for [`bpf`]; and the command returns a new descriptor.
unsafe fn descriptor<T: Attributes>(command: Command, attributes: &mut T) -> Result<OwnedFd> {
    // SAFETY: the addresses are valid; the descriptor is new, so nobody else owns it.
    unsafe { Ok(OwnedFd::from_raw_fd(bpf(command, attributes)?)) }
}

/// A name as the kernel takes it: at most 15 letters, digits and underscores.
fn short_name(name: &str) -> [u8; 16] {
    let mut short = [0; 16];
    let allowed = |byte: u8| if byte.is_ascii_alphanumeric() { byte } else { b'_' };
    for (to, from) in short.iter_mut().zip(name.bytes().take(15)) {
        *to = allowed(from);
    }
    short
}

#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}
impl Attributes for ProgramLoad {}

const XDP_PROGRAM: u32 = 6;
const XDP_ATTACH: u32 = 37;

/// Loads an XDP program under its licence. Its constants refer to maps by descriptors. The error is what the kernel's
/// verifier says, its last lines first.
pub fn load_xdp(name: &str, licence: &str, slots: &[Slot]) -> std::result::Result<OwnedFd, String> {
    let instructions: Vec<u8> = slots.iter().flat_map(|slot| slot.bytes()).collect();
    let licence = CString::new(licence).map_err(|_| "the licence has a 0 in it")?;
    let mut attributes = ProgramLoad {
        kind: XDP_PROGRAM,
        count: slots.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: licence.as_ptr() as u64,
        name: short_name(name),
        attach_type: XDP_ATTACH,
        ..Default::default()
    };
    // SAFETY: there are as many instructions as is said, and the licence ends with a 0.
    match unsafe { descriptor(Command::ProgramLoad, &mut attributes) } {
        Ok(fd) => return Ok(fd),
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EACCES | libc::E2BIG)) => {
            return Err(error.to_string());
        }
        Err(_) => {}
    }
    // Once more, for the reason.
    let mut log = vec![0u8; 1 << 20];
    (attributes.log_level, attributes.log_size, attributes.log) =
        (1, log.len() as u32, log.as_mut_ptr() as u64);
    // SAFETY: the instructions and the licence are as before, and the log has the stated size.
    match unsafe { descriptor(Command::ProgramLoad, &mut attributes) } {
        Ok(fd) => Ok(fd),
        Err(error) => {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let text = String::from_utf8_lossy(&log[..end]);
            const LINES: usize = 6;
            const LETTERS: usize = 120;
            let lines = text.lines().rev().filter(|line| !line.starts_with("processed ")).take(LINES);
            let lines: Vec<String> = lines.map(|line| line.chars().take(LETTERS).collect()).collect();
            let reason = lines.join("\n  after: ");
            // It has no more room for what it says; that isn't what is wrong.
            let is_full = error.raw_os_error() == Some(libc::ENOSPC);
            Err(if is_full { reason } else { format!("{error}: {reason}") })
        }
    }
}

#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    result: u32,
    size_in: u32,
    size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_size_in: u32,
    context_size_out: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    processor: u32,
    batch: u32,
    _padding: u32,
}
impl Attributes for Run {}

/// Runs a program `repeat` times for a packet. Returns its result, the packet afterwards, and the nanoseconds of a run.
pub fn run(program: &OwnedFd, packet: &[u8], repeat: u32) -> Result<(u32, Vec<u8>, u32)> {
    // A message grows by less than a page.
    let mut out = vec![0u8; packet.len() + 4096];
    let mut attributes = Run {
        program: program.as_raw_fd() as u32,
        size_in: packet.len() as u32,
        size_out: out.len() as u32,
        data_in: packet.as_ptr() as u64,
        data_out: out.as_mut_ptr() as u64,
        repeat,
        ..Default::default()
    };
    // SAFETY: both packets are as long as is said.
    unsafe { bpf(Command::Run, &mut attributes)? };
    out.truncate(attributes.size_out as usize);
    Ok((attributes.result, out, attributes.duration))
}

#[repr(C)]
#[derive(Default)]
struct Object {
    path: u64,
    fd: u32,
    flags: u32,
}
impl Attributes for Object {}

/// Pins a map, program or link in a BPF file system, which keeps it alive.
pub fn pin(fd: &OwnedFd, path: &Path) -> Result<()> {
    let path = c_path(path)?;
    let mut attributes = Object { path: path.as_ptr() as u64, fd: fd.as_raw_fd() as u32, flags: 0 };
    // SAFETY: the path ends with a 0.
    unsafe { bpf(Command::Pin, &mut attributes).map(drop) }
}

/// Opens what is pinned in a BPF file system.
pub fn pinned(path: &Path) -> Result<OwnedFd> {
    let path = c_path(path)?;
    let mut attributes = Object { path: path.as_ptr() as u64, ..Default::default() };
    // SAFETY: the path ends with a 0.
    unsafe { descriptor(Command::Get, &mut attributes) }
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(Error::other)
}

#[repr(C)]
#[derive(Default)]
struct Info {
    fd: u32,
    length: u32,
    info: u64,
}
impl Attributes for Info {}

/// The kernel's information on a program, link or map: its `struct bpf_..._info`, or as much of it as there is.
fn info<const LENGTH: usize>(fd: &OwnedFd) -> Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let mut attributes =
        Info { fd: fd.as_raw_fd() as u32, length: LENGTH as u32, info: bytes.as_mut_ptr() as u64 };
    // SAFETY: the information has as many bytes as is said.
    unsafe { bpf(Command::Info, &mut attributes)? };
    Ok(bytes)
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> [u8; BYTES] {
    *bytes[at..].first_chunk().expect("all of the structure")
}

/// The nanoseconds of all runs of a program, and their number, while they were counted ([`count_runs`]).
pub fn runs(program: &OwnedFd) -> Result<(u64, u64)> {
    let info = info::<208>(program)?;
    Ok((u64::from_ne_bytes(number(&info, 192)), u64::from_ne_bytes(number(&info, 200))))
}

/// Counts runs of programs while the result lives.
pub fn count_runs() -> Result<OwnedFd> {
    #[repr(C)]
    #[derive(Default)]
    struct Enable {
        kind: u32,
    }
    impl Attributes for Enable {}
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(Command::EnableStatistics, &mut Enable::default()) }
}
