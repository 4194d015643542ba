//! A socket for UDP datagrams.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddrV4;
use std::time::Duration;

use drystone_handlers::Device;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, SendError, Socket};
use smoltcp::wire::{IpAddress, IpEndpoint};

use crate::host::Host;

/// Datagrams of the buffer for each direction. Below: their bytes.
const WAITING: usize = 64;
const BYTES: usize = 1 << 16;

/// Most bytes of a datagram that fits into a frame.
const LONGEST: usize = 1472;

/// How long the look-up of a hardware address may take.
const REACHED: Duration = Duration::from_secs(3);

/// A UDP socket.
pub struct Udp<D: Device> {
    host: Host<D>,
    handle: SocketHandle,
}

impl<D: Device> Host<D> {
    /// A UDP socket at a port; 0 means any free one.
    ///
    /// # Errors
    /// Another socket uses the port.
    pub fn udp(&self, port: u16) -> Result<Udp<D>> {
        let mut inner = self.inner();
        let port = if port == 0 { inner.free_port() } else { port };
        let has_it = |socket: &smoltcp::socket::Socket<'_>| match socket {
            smoltcp::socket::Socket::Udp(socket) => socket.endpoint().port == port,
            smoltcp::socket::Socket::Tcp(_) => false,
        };
        if inner.sockets.iter().any(|(_, socket)| has_it(socket)) {
            return Err(Error::new(ErrorKind::AddrInUse, format!("UDP's port {port} is taken")));
        }
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; WAITING], vec![0; BYTES]);
        let mut socket = Socket::new(buffer(), buffer());
        // Can't fail: the socket isn't bound, and the port isn't 0.
        let _ = socket.bind(port);
        let handle = inner.sockets.add(socket);
        drop(inner);
        Ok(Udp { host: self.clone(), handle })
    }
}

impl<D: Device> Udp<D> {
    /// Its port.
    pub fn port(&self) -> u16 {
        self.host.inner().sockets.get::<Socket<'_>>(self.handle).endpoint().port
    }

    /// Sends a datagram, after the receiver's hardware address is known. (An empty datagram isn't waited for, because
    /// smoltcp counts bytes.)
    ///
    /// # Errors
    /// The address is unreachable or unknown, or the datagram is longer than a frame.
    pub fn send_to(&self, bytes: &[u8], to: SocketAddrV4) -> Result<()> {
        let handle = self.handle;
        let said = |what: &dyn std::fmt::Display, kind| {
            Error::new(kind, format!("{} bytes can't be sent to {to}: {what}", bytes.len()))
        };
        if bytes.len() > LONGEST {
            return Err(said(&format!("{LONGEST} are the most"), ErrorKind::InvalidInput));
        }
        let mut is_said = false;
        let done = self.host.until(REACHED, |inner| {
            let socket = inner.sockets.get_mut::<Socket<'_>>(handle);
            if !is_said {
                match socket.send_slice(bytes, IpEndpoint::from(to)) {
                    Err(SendError::BufferFull) => return None,
                    Err(error) => return Some(Err(said(&error, ErrorKind::InvalidInput))),
                    Ok(()) => is_said = true,
                }
            }
            (socket.send_queue() == 0).then_some(Ok(()))
        });
        done.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => said(&"nobody has that address", ErrorKind::HostUnreachable),
            _ => error,
        })
    }

    /// Receives the next datagram and its sender, within the time `most`. Bytes that don't fit into the buffer are
    /// lost.
    ///
    /// # Errors
    /// None has arrived.
    pub fn receive_from(&self, buffer: &mut [u8], most: Duration) -> Result<(usize, SocketAddrV4)> {
        let handle = self.handle;
        self.host.until(most, |inner| {
            let (bytes, from) = inner.sockets.get_mut::<Socket<'_>>(handle).recv().ok()?;
            let IpAddress::Ipv4(address) = from.endpoint.addr;
            let length = bytes.len().min(buffer.len());
            buffer[..length].copy_from_slice(&bytes[..length]);
            Some(Ok((length, SocketAddrV4::new(address, from.endpoint.port))))
        })
    }
}

impl<D: Device> Drop for Udp<D> {
    fn drop(&mut self) {
        self.host.inner().sockets.remove(self.handle);
    }
}
