//! Network interfaces, by their names and by their numbers.
//!
//! `unsafe` here: the kernel writes an answer to a request. That is sound because the answer is a part of this frame,
//! as long as it must be.

use std::os::fd::AsRawFd;

use rustix::fd::OwnedFd;
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::{AddressFamily, SocketType, socket};

/// The number of an interface in this network namespace; or why there is none, for people.
pub(crate) fn number(name: &str) -> Result<u32, String> {
    let number = any_socket().and_then(|socket| name_to_index(socket, name));
    number.map_err(|error| format!("there is no network interface `{name}`: {error}"))
}

/// What an interface of this network namespace is called.
pub(crate) fn name(number: u32) -> Option<String> {
    any_socket().and_then(|socket| index_to_name(socket, number)).ok()
}

/// Whether it is one end of a pair of virtual interfaces.
pub(crate) fn is_of_a_pair(name: &str) -> bool {
    driver(name).is_some_and(|driver| driver.starts_with(b"veth\0"))
}

/// What its driver is called, and zeros (Linux's `struct ethtool_drvinfo`).
fn driver(name: &str) -> Option<[u8; 32]> {
    #[repr(C)]
    struct Answer {
        command: u32,
        driver: [u8; 32],
        others: [u8; 160],
    }
    const GET_DRIVER: u32 = 3;
    let mut answer = Answer { command: GET_DRIVER, driver: [0; 32], others: [0; 160] };
    // SAFETY: zeros are a request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut answer).cast();
    let socket = any_socket().ok()?;
    // SAFETY: see the head of this file.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    (result == 0).then_some(answer.driver)
}

/// The kernel answers by a socket, whichever.
fn any_socket() -> rustix::io::Result<OwnedFd> {
    socket(AddressFamily::INET, SocketType::DGRAM, None)
}
