//! Between virtual interfaces the kernel leaves out checksums, because nothing can happen to frames there; who isn't
//! the kernel wants to see them.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Has the kernel write checksums of its own to what it sends by an interface, and send no frames that are too long.
pub fn stop(interface: &str) {
    const ETHTOOL_STXCSUM: u32 = 0x17;
    const SIOCETHTOOL: u64 = 0x8946;
    let mut value = Value { command: ETHTOOL_STXCSUM, data: 0 };
    // SAFETY: zeros are such a structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a socket");
    // SAFETY: the request is what is wanted, and what it leads to is there until it is done.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
