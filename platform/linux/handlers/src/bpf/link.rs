//! Links: programs that are attached to network interfaces.
//!
//! `unsafe` here: these commands take no addresses.

use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{Attributes, Command, XDP_ATTACH, bpf, descriptor, info, number};

#[repr(C)]
#[derive(Default)]
struct LinkCreate {
    program: u32,
    target: u32,
    attach_type: u32,
    flags: u32,
}
impl Attributes for LinkCreate {}

/// Attaches a program to a network interface, until the link is closed. `flags` are XDP's (`XDP_FLAGS_SKB_MODE`, ...).
pub fn attach_xdp(program: &OwnedFd, interface: u32, flags: u32) -> Result<OwnedFd> {
    let program = program.as_raw_fd() as u32;
    let mut attributes = LinkCreate { program, target: interface, attach_type: XDP_ATTACH, flags };
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(Command::LinkCreate, &mut attributes) }
}

#[repr(C)]
#[derive(Default)]
struct LinkUpdate {
    link: u32,
    program: u32,
    flags: u32,
    _old: u32,
}
impl Attributes for LinkUpdate {}

/// Replaces the attached program atomically.
pub fn update(link: &OwnedFd, program: &OwnedFd) -> Result<()> {
    let (link, program) = (link.as_raw_fd() as u32, program.as_raw_fd() as u32);
    let mut attributes = LinkUpdate { link, program, ..Default::default() };
    // SAFETY: the attributes hold no addresses.
    unsafe { bpf(Command::LinkUpdate, &mut attributes).map(drop) }
}

#[repr(C)]
#[derive(Default)]
struct LinkDetach {
    link: u32,
}
impl Attributes for LinkDetach {}

/// Detaches the program, even if others have the link, too.
pub fn detach(link: &OwnedFd) -> Result<()> {
    // SAFETY: the attributes hold no addresses.
    unsafe { bpf(Command::LinkDetach, &mut LinkDetach { link: link.as_raw_fd() as u32 }).map(drop) }
}

/// The identity of a link.
pub fn identity(link: &OwnedFd) -> Result<u32> {
    Ok(u32::from_ne_bytes(number(&info::<32>(link)?, 4)))
}

#[repr(C)]
#[derive(Default)]
struct ById {
    id: u32,
    next: u32,
    flags: u32,
}
impl Attributes for ById {}

/// The attached program.
pub fn program_of(link: &OwnedFd) -> Result<OwnedFd> {
    let id = u32::from_ne_bytes(number(&info::<32>(link)?, 8));
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(Command::ProgramById, &mut ById { id, ..ById::default() }) }
}

/// The number of the link's network interface; 0 if that is gone.
pub fn interface_of(link: &OwnedFd) -> Result<u32> {
    Ok(u32::from_ne_bytes(number(&info::<32>(link)?, 16)))
}
