//! Sockets for UDP, and what fits into their datagrams.

use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::net::UdpSocket;
use rustix::net::sockopt;

/// Most bytes of a datagram over IPv4.
pub(super) const LARGEST: usize = 65_507;

/// What waits to be read by a program that does something else just now: more than the system gives by itself, if it
/// does.
const ROOM: usize = 4 << 20;

/// An error if bytes have no room in a datagram.
pub(super) fn fits(what: &str, bytes: &[u8]) -> Result<(), String> {
    match bytes.len() {
        ..=LARGEST => Ok(()),
        more => Err(format!("a {what} of {more} bytes is too long for UDP")),
    }
}

/// A socket at an address.
pub(super) fn bound(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    let _ = sockopt::set_socket_recv_buffer_size(&socket, ROOM);
    Ok(socket)
}

/// A socket that hears only who is at that address.
pub(super) fn connected(address: SocketAddr) -> io::Result<UdpSocket> {
    let here: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0u16; 8].into() };
    let socket = bound((here, 0).into())?;
    socket.connect(address)?;
    Ok(socket)
}
