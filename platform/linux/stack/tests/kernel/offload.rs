//! Between virtual interfaces the kernel omits checksums, because frames can't be corrupted there. Other network stacks
//! need them.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Has the kernel write checksums into what it sends by this interface, and send no oversized frames.
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
    // SAFETY: the request has the expected form, and its value lives until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
