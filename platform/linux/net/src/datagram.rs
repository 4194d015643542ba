//! Sockets for UDP, and the size of datagrams.

use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::net::UdpSocket;
use rustix::net::sockopt;

/// Most bytes of a datagram over IPv4.
pub const LARGEST: usize = 65_507;

/// Bytes of a socket's receive buffer, for datagrams that come while the program is busy: more than the system's
/// default, if the system allows it.
const ROOM: usize = 4 << 20;

/// # Errors
/// The bytes are too long for a datagram; `what` is what they are, for the sentence that says so.
pub fn fits(what: &str, bytes: &[u8]) -> Result<(), String> {
    match bytes.len() {
        ..=LARGEST => Ok(()),
        more => Err(format!("a {what} of {more} bytes is too long for UDP")),
    }
}

/// A socket that is bound to an address.
///
/// # Errors
/// The system refuses.
pub fn bound(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    let _ = sockopt::set_socket_recv_buffer_size(&socket, ROOM);
    Ok(socket)
}

/// A socket that is connected to an address: it receives only what comes from there.
///
/// # Errors
/// The system refuses.
pub fn connected(address: SocketAddr) -> io::Result<UdpSocket> {
    let here: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0u16; 8].into() };
    let socket = bound((here, 0).into())?;
    socket.connect(address)?;
    Ok(socket)
}
