//! TCP connections and listeners, as blocking sockets.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::SocketAddrV4;
use std::time::Duration;

use drystone_handlers::Device;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{RecvError, Socket, SocketBuffer, State};
use smoltcp::wire::{IpAddress, IpEndpoint};

use crate::host::Host;
use crate::inner::Inner;

/// Bytes of the buffer for each direction.
const BUFFER: usize = 1 << 16;

/// The default time limit for the other side, if no other is set.
const PATIENCE: Duration = Duration::from_secs(30);

fn socket() -> Socket<'static> {
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let mut socket = Socket::new(buffer(), buffer());
    socket.set_timeout(Some(smoltcp::time::Duration::from_secs(60)));
    // Most writes are answers, which shouldn't wait for more data.
    socket.set_nagle_enabled(false);
    socket
}

/// A connection. A thread that reads or writes waits, and lets the host work meanwhile. After it is dropped, the rest
/// of its data is still sent as long as the host works.
pub struct Stream<D: Device> {
    host: Host<D>,
    handle: SocketHandle,
    peer: SocketAddrV4,
    patience: Duration,
}

impl<D: Device> Host<D> {
    /// Connects.
    ///
    /// # Errors
    /// There is no listener, or no answer.
    pub fn connect(&self, to: SocketAddrV4) -> Result<Stream<D>> {
        let port = self.inner().free_port();
        self.connect_from(port, to)
    }

    /// Connects from this local port.
    ///
    /// # Errors
    /// As for [`Host::connect`], or the port is taken.
    pub fn connect_from(&self, port: u16, to: SocketAddrV4) -> Result<Stream<D>> {
        let handle = {
            let mut inner = self.inner();
            let handle = inner.sockets.add(socket());
            let (context, sockets) = inner.parts();
            let begun = sockets.get_mut::<Socket<'_>>(handle).connect(context, IpEndpoint::from(to), port);
            if let Err(error) = begun {
                inner.sockets.remove(handle);
                return Err(Error::new(ErrorKind::InvalidInput, format!("can't connect to {to}: {error}")));
            }
            handle
        };
        let stream = Stream { host: self.clone(), handle, peer: to, patience: PATIENCE };
        stream.until(|socket| match socket.state() {
            State::SynSent | State::SynReceived => None,
            State::Closed => {
                let what = format!("{to} refuses the connection");
                Some(Err(Error::new(ErrorKind::ConnectionRefused, what)))
            }
            _ => Some(Ok(())),
        })?;
        Ok(stream)
    }

    /// Listens at a port. At most `waiting` connections may wait to be accepted.
    ///
    /// # Errors
    /// The port is 0.
    pub fn listen(&self, port: u16, waiting: usize) -> Result<Listener<D>> {
        if port == 0 {
            return Err(Error::new(ErrorKind::InvalidInput, "nobody can listen to port 0"));
        }
        let mut inner = self.inner();
        let all = (0..waiting.max(1)).map(|_| listening(&mut inner, port)).collect();
        drop(inner);
        Ok(Listener { host: self.clone(), port, all })
    }
}

impl<D: Device> Stream<D> {
    /// The other end's address.
    pub fn peer(&self) -> SocketAddrV4 {
        self.peer
    }

    /// Sets how long the other side may be silent.
    pub fn be_patient(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn until<T>(&self, mut look: impl FnMut(&mut Socket<'static>) -> Option<Result<T>>) -> Result<T> {
        let result = self.host.until(self.patience, |inner| look(inner.sockets.get_mut(self.handle)));
        result.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => {
                let what = format!("{} has said nothing for {:?}", self.peer, self.patience);
                Error::new(ErrorKind::TimedOut, what)
            }
            _ => error,
        })
    }

    fn broken(&self) -> Error {
        Error::new(ErrorKind::ConnectionReset, format!("{} has broken the connection", self.peer))
    }
}

impl<D: Device> Read for Stream<D> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.until(|socket| match socket.recv_slice(buffer) {
            Ok(0) if !buffer.is_empty() => None,
            Ok(count) => Some(Ok(count)),
            Err(RecvError::Finished) => Some(Ok(0)),
            Err(RecvError::InvalidState) => Some(Err(self.broken())),
        })
    }
}

impl<D: Device> Write for Stream<D> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.until(|socket| match socket.send_slice(bytes) {
            Ok(0) if !bytes.is_empty() => None,
            Ok(count) => Some(Ok(count)),
            Err(_) => Some(Err(self.broken())),
        })
    }

    /// Waits until the other side has acknowledged all data.
    fn flush(&mut self) -> Result<()> {
        self.until(|socket| match socket.send_queue() {
            0 => Some(Ok(())),
            _ if !socket.is_active() => Some(Err(self.broken())),
            _ => None,
        })
    }
}

impl<D: Device> Drop for Stream<D> {
    fn drop(&mut self) {
        self.host.inner().leave(self.handle);
    }
}

/// Listens for connections.
pub struct Listener<D: Device> {
    host: Host<D>,
    port: u16,
    all: Vec<SocketHandle>,
}

impl<D: Device> Listener<D> {
    /// Accepts the next connection, within the time `most`.
    ///
    /// # Errors
    /// None has arrived.
    pub fn accept(&mut self, most: Duration) -> Result<Stream<D>> {
        let Listener { host, port, all } = self;
        let (handle, peer) =
            host.until(most, |inner| all.iter_mut().find_map(|it| accepted(inner, *port, it)))?;
        Ok(Stream { host: host.clone(), handle, peer, patience: PATIENCE })
    }
}

/// The connection that has arrived at a socket. A new socket listens in its place.
fn accepted<D: Device>(
    inner: &mut Inner<D>,
    port: u16,
    it: &mut SocketHandle,
) -> Option<Result<(SocketHandle, SocketAddrV4)>> {
    let socket = inner.sockets.get_mut::<Socket<'_>>(*it);
    if matches!(socket.state(), State::Listen | State::SynReceived) {
        return None;
    }
    let peer = socket.remote_endpoint();
    let come = std::mem::replace(it, listening(inner, port));
    match peer {
        Some(IpEndpoint { addr: IpAddress::Ipv4(address), port }) => {
            Some(Ok((come, SocketAddrV4::new(address, port))))
        }
        // The connection ended before it was accepted.
        None => {
            inner.sockets.remove(come);
            None
        }
    }
}

fn listening<D: Device>(inner: &mut Inner<D>, port: u16) -> SocketHandle {
    let mut socket = socket();
    // Can't fail: the socket is closed, and the port isn't 0.
    let _ = socket.listen(port);
    inner.sockets.add(socket)
}

impl<D: Device> Drop for Listener<D> {
    fn drop(&mut self) {
        let mut inner = self.host.inner();
        self.all.drain(..).for_each(|handle| inner.leave(handle));
    }
}
