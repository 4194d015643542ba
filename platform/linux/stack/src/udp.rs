//! A socket for datagrams.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddrV4;
use std::time::Duration;

use drystone_handlers::Device;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, SendError, Socket};
use smoltcp::wire::{IpAddress, IpEndpoint};

use crate::host::Host;

/// Datagrams, and bytes of them, that wait in each direction.
const WAITING: usize = 64;
const BYTES: usize = 1 << 16;

/// Bytes that fit into a frame.
const LONGEST: usize = 1472;

/// How long it may take to find out which hardware has an address.
const REACHED: Duration = Duration::from_secs(3);

/// See the head of this file.
pub struct Udp<D: Device> {
    host: Host<D>,
    handle: SocketHandle,
}

impl<D: Device> Host<D> {
    /// A socket for datagrams to a port; 0 is any that is free.
    ///
    /// # Errors
    /// Another socket has the port.
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
        // It is not bound, and the port isn't 0.
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

    /// Sends a datagram, when it is known which hardware has the address. (An empty one isn't waited for: smoltcp
    /// counts bytes.)
    ///
    /// # Errors
    /// It can't go there, nobody has the address, or it is longer than any frame.
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

    /// The next datagram, and who sent it, for so long at most. What the buffer has no room for is lost.
    ///
    /// # Errors
    /// None has come.
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
