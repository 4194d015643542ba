//! Frames of a network interface as they are (AF_PACKET): for programs that speak protocols themselves.
//!
//! `unsafe` here: calls of the kernel that are given an address which lives as long as they take.

use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use drystone_extension::handler::Frame;

use crate::device::{Decision, Device, lost_at_most, receive};
use crate::xdp::interface_number;

/// See the head of this file.
#[derive(Debug)]
pub struct Wire {
    socket: OwnedFd,
    interface: u32,
}

impl Wire {
    /// All frames that come in at an interface, from now on, besides those who get them anyway.
    ///
    /// # Errors
    /// There is no such interface, or no right to.
    pub fn open(interface: &str) -> Result<Wire> {
        let number = interface_number(interface).map_err(Error::other)?;
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let all = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: what it gives is new, so nobody else has it.
        let socket = unsafe {
            let socket = libc::socket(libc::AF_PACKET, kind, all.into());
            if socket < 0 {
                return Err(Error::last_os_error());
            }
            OwnedFd::from_raw_fd(socket)
        };
        // SAFETY: zeros are such an address.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = all;
        address.sll_ifindex = number as i32;
        let length = size_of_val(&address) as u32;
        // SAFETY: the address is as long as it says. What goes out is left out by the option below.
        let done = unsafe {
            let yes = 1i32;
            let ignore = libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_IGNORE_OUTGOING,
                (&raw const yes).cast(),
                size_of_val(&yes) as u32,
            );
            if ignore < 0 {
                ignore
            } else {
                libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length)
            }
        };
        if done < 0 { Err(Error::last_os_error()) } else { Ok(Wire { socket, interface: number }) }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Device for Wire {
    fn interface(&self) -> u32 {
        self.interface
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        let socket = &self.socket;
        let write = |message: &[u8]| rustix::io::write(socket, message).map(drop);
        receive(|buffer| rustix::io::read(socket, buffer), write, take)
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        lost_at_most(rustix::io::write(&self.socket, message).map(drop))
    }
}
