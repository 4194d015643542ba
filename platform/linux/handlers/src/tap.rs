//! TAP: a network interface of Linux, and this program is the wire that it is plugged into.
//!
//! `unsafe` here: a call of the kernel that is given a structure which lives as long as it takes.

use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use drystone_extension::handler::Frame;

use crate::device::{Decision, Device, lost_at_most, receive};
use crate::xdp::interface_number;

/// See the head of this file.
#[derive(Debug)]
pub struct Tap {
    file: File,
    interface: u32,
}

impl Tap {
    /// Makes an interface of this name, or takes hold of one that exists. It goes when the result is dropped.
    ///
    /// # Errors
    /// There is no `/dev/net/tun`, or no right to.
    pub fn new(name: &str) -> Result<Tap> {
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        // SAFETY: zeros are such a structure.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        if name.len() >= request.ifr_name.len() {
            return Err(Error::other(format!("`{name}` is too long for an interface's name")));
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
        // SAFETY: the file is one of the driver's, and the request what it wants.
        if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } < 0 {
            return Err(Error::last_os_error());
        }
        Ok(Tap { file, interface: interface_number(name).map_err(Error::other)? })
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Device for Tap {
    fn interface(&self) -> u32 {
        self.interface
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        let file = &self.file;
        let write = |message: &[u8]| rustix::io::write(file, message).map(drop);
        receive(|buffer| rustix::io::read(file, buffer), write, take)
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        lost_at_most(rustix::io::write(&self.file, message).map(drop))
    }
}
