//! Names and numbers of network interfaces.
//!
//! `unsafe` here: the kernel writes its answer to a structure on the stack, which outlives the call and is large
//! enough.

use std::os::fd::AsRawFd;

use rustix::fd::OwnedFd;
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::{AddressFamily, SocketType, socket};

/// The number of an interface in this network namespace; or why there is none, in words for people.
pub(crate) fn number(name: &str) -> Result<u32, String> {
    let number = any_socket().and_then(|socket| name_to_index(socket, name));
    number.map_err(|error| format!("there is no network interface `{name}`: {error}"))
}

/// The name of an interface in this network namespace.
pub(crate) fn name(number: u32) -> Option<String> {
    any_socket().and_then(|socket| index_to_name(socket, number)).ok()
}

/// Whether it is one end of a pair of virtual interfaces.
pub(crate) fn is_of_a_pair(name: &str) -> bool {
    driver(name).is_some_and(|driver| driver.starts_with(b"veth\0"))
}

/// The name of its driver (Linux's `struct ethtool_drvinfo`).
fn driver(name: &str) -> Option<[u8; 32]> {
    #[repr(C)]
    struct Answer {
        command: u32,
        driver: [u8; 32],
        others: [u8; 160],
    }
    const GET_DRIVER: u32 = 3;
    let mut answer = Answer { command: GET_DRIVER, driver: [0; 32], others: [0; 160] };
    let mut request = request(name)?;
    request.ifr_ifru.ifru_data = (&raw mut answer).cast();
    let socket = any_socket().ok()?;
    // SAFETY: the answer is as large as the kernel's structure; it and the request outlive the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    (result == 0).then_some(answer.driver)
}

/// A request about an interface, for `ioctl`; `None` if the name is too long.
pub fn request(name: &str) -> Option<libc::ifreq> {
    // SAFETY: zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Some(request)
}

/// Any socket, by which the kernel is asked.
fn any_socket() -> rustix::io::Result<OwnedFd> {
    socket(AddressFamily::INET, SocketType::DGRAM, None)
}
