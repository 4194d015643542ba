//! Handlers in Linux's kernel (XDP): in a device's driver, or at the entrance of the network stack.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use drystone_extension::bytecode::Slot;
use drystone_extension::handler::tables::kind;
use drystone_extension::handler::{Image, Verdict};

use crate::bpf::{self, Map};
use crate::interface;
use crate::region::Region;
use crate::ring::Ring;

/// Where in the kernel a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "service", derive(clap::ValueEnum))]
pub enum Mode {
    /// In the driver, or else, and at pairs of virtual interfaces, where the network stack begins
    // What the driver of such a pair sends back is lost, unless the other end is prepared for it.
    Any,
    /// Where the network stack begins: every device can
    Generic,
    /// In the device's driver
    Native,
}

impl Mode {
    fn flags(self) -> u32 {
        match self {
            Mode::Any => 0,
            Mode::Generic => 1 << 1,
            Mode::Native => 1 << 2,
        }
    }
}

/// A handler that the kernel has accepted.
#[derive(Debug)]
pub struct Xdp {
    program: OwnedFd,
    maps: BTreeMap<String, Map>,
    region: Option<Region>,
}

impl Xdp {
    /// Loads a handler, without attaching it.
    ///
    /// # Errors
    /// Why the kernel refuses it, or what this machine lacks, in words for people.
    pub fn load(image: &Image) -> Result<Xdp, String> {
        let mut maps = Vec::new();
        let mut region = None;
        for map in &image.maps {
            let definition = Image::definition(map);
            let is_region = definition.kind == kind::ARENA;
            let made =
                Map::new(&map.name, definition).map_err(|error| cant("make a map", &map.name, &error))?;
            if is_region {
                let length = image.region_bytes() as usize;
                let memory = Region::of_map(made.fd(), image.region_address(), length)
                    .map_err(|error| cant("map the region", &map.name, &error))?;
                memory.write(0, &map.bytes);
                region = Some(memory);
            } else if !map.bytes.is_empty() {
                made.set(&[0; 4], &map.bytes).map_err(|error| cant("fill", &map.name, &error))?;
                if !map.writable {
                    bpf::freeze(made.fd()).map_err(|error| cant("freeze", &map.name, &error))?;
                }
            }
            maps.push((map.name.clone(), made));
        }
        let slots = with_descriptors(&image.slots, &maps);
        let program = bpf::load_xdp(&image.name, &image.licence, &slots)?;
        Ok(Xdp { program, maps: maps.into_iter().collect(), region })
    }

    /// Attaches it to a network interface, until the result is dropped.
    ///
    /// # Errors
    /// The interface doesn't exist, has a handler already, or can't have one in this mode.
    pub fn attach(&self, interface: &str, mode: Mode) -> Result<Attached, String> {
        Attached::to(&self.program, interface, mode)
    }

    /// Runs it for a message, so many times. Returns its verdict, the message afterwards, and the nanoseconds of a run.
    ///
    /// # Errors
    /// The kernel refuses: messages need at least 14 bytes.
    pub fn run(&self, message: &[u8], times: u32) -> io::Result<(Verdict, Vec<u8>, u32)> {
        let (verdict, message, took) = bpf::run(&self.program, message, times)?;
        Ok((Verdict::from_number(verdict.into()), message, took))
    }

    /// A table, by its name in the file.
    pub fn table(&self, name: &str) -> Option<&Map> {
        self.maps.get(name)
    }

    /// All its maps, with their names.
    pub(crate) fn maps(&self) -> impl Iterator<Item = (&str, &Map)> {
        self.maps.iter().map(|(name, map)| (name.as_str(), map))
    }

    /// The reader of a ring, by its name in the file. A ring may have only one.
    ///
    /// # Errors
    /// The ring doesn't exist, or there is no memory to map it.
    pub fn ring(&self, name: &str) -> io::Result<Ring> {
        let map = self.table(name).filter(|map| map.definition().kind == kind::RINGBUF);
        let map = map.ok_or_else(|| io::Error::other(format!("there is no ring `{name}`")))?;
        Ring::new(map.fd(), map.definition().entries as usize)
    }

    /// The region that it shares with its application.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// The program, to pin it, or to put it into a table of programs.
    pub fn program(&self) -> &OwnedFd {
        &self.program
    }
}

/// A handler that is attached until this is dropped.
#[derive(Debug)]
pub struct Attached {
    link: OwnedFd,
    is_pinned: bool,
}

impl Attached {
    pub(crate) fn new(
        program: &OwnedFd,
        interface: &str,
        number: u32,
        mode: Mode,
    ) -> Result<Attached, String> {
        let link = bpf::attach_xdp(program, number, mode.flags())
            .map_err(|error| cant("attach a handler to", interface, &error))?;
        Ok(Attached { link, is_pinned: false })
    }

    pub(crate) fn to(program: &OwnedFd, interface: &str, mode: Mode) -> Result<Attached, String> {
        let number = interface::number(interface)?;
        let mode = if mode == Mode::Any && interface::is_of_a_pair(interface) { Mode::Generic } else { mode };
        Attached::new(program, interface, number, mode)
    }

    /// Replaces the program.
    pub(crate) fn replace(&self, program: &OwnedFd) -> io::Result<()> {
        bpf::update(&self.link, program)
    }

    /// Opens a pinned attachment.
    pub(crate) fn pinned(path: &Path) -> io::Result<Attached> {
        Ok(Attached { link: bpf::pinned(path)?, is_pinned: true })
    }

    /// Pins it: it stays attached while it has a name in a BPF file system, even when this process has ended.
    pub(crate) fn pin(&mut self, path: &Path) -> io::Result<()> {
        bpf::pin(&self.link, path)?;
        self.is_pinned = true;
        Ok(())
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // A program that another thread is just about to start may have the descriptor, too, for a moment: closing it
        // isn't enough. Without its interface it is detached already.
        if !self.is_pinned {
            let _ = bpf::detach(&self.link);
        }
    }
}

/// Replaces the numbers of maps in constants by descriptors.
fn with_descriptors(slots: &[Slot], maps: &[(String, Map)]) -> Vec<Slot> {
    let mut slots = slots.to_vec();
    let mut at = 0;
    while at < slots.len() {
        let slot = &mut slots[at];
        let is_wide = slot.opcode == 0x18;
        if is_wide && matches!(slot.source, 5 | 6) {
            slot.source -= 4;
            slot.immediate = maps[slot.immediate as usize].1.fd().as_raw_fd();
        }
        at += if is_wide { 2 } else { 1 };
    }
    slots
}

pub(crate) fn cant(what: &str, name: &str, error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::EPERM) => "; it takes root, or the capabilities BPF, PERFMON and NET_ADMIN",
        Some(libc::EBUSY) => "; it has one already",
        Some(libc::EEXIST) => "; something is there already",
        Some(libc::EOPNOTSUPP) => "; its driver can't, in this mode",
        Some(libc::EINVAL) => "; this kernel may be too old: regions take Linux 6.9",
        _ => "",
    };
    format!("can't {what} `{name}`: {error}{hint}")
}
