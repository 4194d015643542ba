//! Devices whose frames are read and written one by one: the end of a wire (TAP), or a copy of an interface's traffic
//! (AF_PACKET).
//!
//! `unsafe` here: system calls get the address of a structure, which outlives the call.

use std::fs::OpenOptions;
use std::io::{Error, Result};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use drystone_extension::handler::Frame;
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

use crate::device::{Decision, Device, LONGEST, MANY, ROOM};
use crate::interface;

/// A TAP device, or a packet socket.
#[derive(Debug)]
pub struct Line {
    descriptor: OwnedFd,
    interface: u32,
}

impl Line {
    /// Makes a network interface of this name, or opens one that exists; this program is the wire that it is plugged
    /// into. The interface is removed when this is dropped.
    ///
    /// # Errors
    /// There is no `/dev/net/tun`, or permission is missing.
    pub fn tap(name: &str) -> Result<Line> {
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        let mut request = interface::request(name)
            .ok_or_else(|| Error::other(format!("`{name}` is too long for an interface's name")))?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
        // SAFETY: the driver reads and writes a request of this type, which outlives the call.
        done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
        Ok(Line { descriptor: file.into(), interface: interface::number(name).map_err(Error::other)? })
    }

    /// Gets a copy of all frames that come in at an interface, for programs that implement protocols themselves.
    ///
    /// # Errors
    /// The interface doesn't exist, or permission is missing.
    pub fn beside(interface: &str) -> Result<Line> {
        Line::of_packets(interface, (libc::ETH_P_ALL as u16).to_be())
    }

    /// Sends at an interface, and receives nothing.
    ///
    /// # Errors
    /// As for [`Line::beside`].
    pub fn out_of(interface: &str) -> Result<Line> {
        Line::of_packets(interface, 0)
    }

    fn of_packets(interface: &str, protocol: u16) -> Result<Line> {
        let interface = interface::number(interface).map_err(Error::other)?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let of_frames = NonZeroU32::new(protocol.into()).map(Protocol::from_raw);
        let descriptor = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, of_frames)?;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol,
            sll_ifindex: interface as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let (yes, length) = (1i32, size_of_val(&address) as u32);
        let (level, option) = (libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING);
        let socket = descriptor.as_raw_fd();
        // SAFETY: option and address are as long as is said, and outlive the calls.
        unsafe {
            done(libc::setsockopt(socket, level, option, (&raw const yes).cast(), size_of_val(&yes) as u32))?;
            done(libc::bind(socket, (&raw const address).cast(), length))?;
        }
        Ok(Line { descriptor, interface })
    }
}

fn done(result: i32) -> Result<()> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Device for Line {
    fn interface(&self) -> u32 {
        self.interface
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        let mut buffer = [0; LONGEST + 2 * ROOM];
        for count in 0..MANY {
            let length = match read(&self.descriptor, &mut buffer[ROOM..][..LONGEST]) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(count),
                Err(error) => return Err(error.into()),
            };
            let mut frame = Frame::new(&mut buffer, ROOM, ROOM + length);
            if take(&mut frame) == Decision::Transmit {
                self.send(frame.bytes())?;
            }
        }
        Ok(MANY)
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        match write(&self.descriptor, message) {
            // What there is no room for, or is too long or too short, is lost, as on a wire.
            Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR | Errno::MSGSIZE | Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
