//! Network interfaces, by their names and by their numbers.

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

/// The kernel answers by a socket, whichever.
fn any_socket() -> rustix::io::Result<OwnedFd> {
    socket(AddressFamily::INET, SocketType::DGRAM, None)
}
