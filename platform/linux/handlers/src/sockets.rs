//! The sockets of a service, for messages that its handler leaves to the process, and for all if there is no handler.
//! [`Client`] is a connection. If connections or memory run out, the one that has been idle, or has had memory, for
//! longest is closed.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Open sockets at a port, of IPv4 and, if available, IPv6.
pub struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
}

/// Limits for all connections together.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections.
    pub connections: usize,
    /// Reserved bytes ([`Client::reserve`]).
    pub bytes: usize,
}

/// A connection.
pub struct Client {
    stream: Arc<TcpStream>,
    number: u64,
    all: Arc<Clients>,
}

struct Clients {
    limits: Limits,
    state: Mutex<State>,
    /// Signals that bytes were freed, or a connection closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connected: HashMap<u64, Connected>,
    next: u64,
    reserved: usize,
}

struct Connected {
    stream: Arc<TcpStream>,
    /// When it was last served, or accepted.
    served: Instant,
    /// Its reserved bytes, and since when it has some.
    reserved: usize,
    since: Instant,
    is_let_go: bool,
}

impl Connected {
    fn let_go(&mut self) {
        self.is_let_go = true;
        // Its thread sees the end of the connection, wherever it waits.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Sockets {
    /// Opens them.
    ///
    /// # Errors
    /// The port is in use, or permission is missing.
    pub fn open(port: u16) -> Result<Sockets> {
        let any: [SocketAddr; 2] = [(Ipv6Addr::UNSPECIFIED, port).into(), ([0, 0, 0, 0], port).into()];
        Ok(Sockets { udp: UdpSocket::bind(&any[..])?, tcp: TcpListener::bind(&any[..])? })
    }

    /// Serves the sockets in threads: `answers` returns the datagrams that answer one, `converse` serves a connection
    /// until it ends. If there are too many connections, each new one closes the one that has been idle for longest.
    pub fn serve(
        self,
        limits: Limits,
        answers: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
        converse: impl Fn(&Client) -> Result<()> + Send + Sync + 'static,
    ) {
        thread::spawn(move || datagrams(&self.udp, answers));
        let clients = Clients { limits, state: Mutex::default(), changed: Condvar::new() };
        thread::spawn(move || connections(&self.tcp, &Arc::new(clients), &Arc::new(converse)));
    }
}

fn datagrams(socket: &UdpSocket, mut answers: impl FnMut(&[u8]) -> Vec<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        // What goes wrong concerns one client.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        for answer in answers(&buffer[..length]) {
            let _ = socket.send_to(&answer, from);
        }
    }
}

fn connections<C>(listener: &TcpListener, clients: &Arc<Clients>, converse: &Arc<C>)
where
    C: Fn(&Client) -> Result<()> + Send + Sync + 'static,
{
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // There are no descriptors left, for a while.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let (client, converse) = (clients.admit(stream), converse.clone());
        // Without a thread for it, it is closed. It ends with its client, however that ends.
        let _ = thread::Builder::new().spawn(move || converse(&client));
    }
}

impl Clients {
    fn admit(self: &Arc<Clients>, stream: TcpStream) -> Client {
        let (stream, now) = (Arc::new(stream), Instant::now());
        let mut state = self.state();
        let mut living = state.connected.values_mut().filter(|client| !client.is_let_go);
        if living.by_ref().count() >= self.limits.connections {
            let living = state.connected.values_mut().filter(|client| !client.is_let_go);
            living.min_by_key(|client| client.served).into_iter().for_each(Connected::let_go);
            self.changed.notify_all();
        }
        let number = state.next;
        state.next += 1;
        let connected =
            Connected { stream: stream.clone(), served: now, reserved: 0, since: now, is_let_go: false };
        state.connected.insert(number, connected);
        drop(state);
        Client { stream, number, all: self.clone() }
    }

    /// The shared state; it is consistent even if a thread panicked.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Its stream.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Notes that it was served just now.
    pub fn served(&self) {
        if let Some(client) = self.all.state().connected.get_mut(&self.number) {
            client.served = Instant::now();
        }
    }

    /// Changes its reservation to so many bytes. While there is no room, closes the connection that has had a
    /// reservation for longest.
    ///
    /// # Errors
    /// It was closed itself.
    pub fn reserve(&self, bytes: usize) -> Result<()> {
        let mut state = self.all.state();
        loop {
            let State { connected, reserved, .. } = &mut *state;
            let gone = || Error::new(ErrorKind::ConnectionAborted, "others needed its place");
            let own = connected.get_mut(&self.number).filter(|client| !client.is_let_go).ok_or_else(gone)?;
            let others = *reserved - own.reserved;
            if others == 0 || bytes <= own.reserved || others + bytes <= self.all.limits.bytes {
                if own.reserved == 0 {
                    own.since = Instant::now();
                }
                (own.reserved, *reserved) = (bytes, others + bytes);
                self.all.changed.notify_all();
                return Ok(());
            }
            let leaving: usize = connected.values().filter(|it| it.is_let_go).map(|it| it.reserved).sum();
            if others + bytes - leaving > self.all.limits.bytes {
                let others = connected
                    .iter_mut()
                    .filter(|(number, it)| **number != self.number && it.reserved > 0 && !it.is_let_go);
                others.min_by_key(|(_, it)| it.since).into_iter().for_each(|(_, it)| it.let_go());
            }
            state = self.all.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut state = self.all.state();
        if let Some(client) = state.connected.remove(&self.number) {
            state.reserved -= client.reserved;
        }
        self.all.changed.notify_all();
    }
}
