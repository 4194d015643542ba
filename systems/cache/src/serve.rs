//! Sockets, and what the handler passes on.

use std::io::{Read, Result, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use drystone_handlers::Service;

use crate::cache::Cache;
use crate::session::{Session, answers};

/// More connections are closed at once.
const CONNECTIONS: usize = 1024;

/// Sockets that are open at a port, of both IPv4 and IPv6 where there is that.
pub struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl Sockets {
    /// Opens them.
    ///
    /// # Errors
    /// The port is another one's, or may not be had.
    pub fn open(port: u16) -> Result<Sockets> {
        let any: [SocketAddr; 2] = [(Ipv6Addr::UNSPECIFIED, port).into(), ([0, 0, 0, 0], port).into()];
        Ok(Sockets { udp: UdpSocket::bind(&any[..])?, tcp: TcpListener::bind(&any[..])? })
    }

    /// Serves them in threads of their own.
    pub fn serve(self, cache: &Arc<Mutex<Cache>>) {
        let (of_udp, of_tcp) = (cache.clone(), cache.clone());
        thread::spawn(move || datagrams(&self.udp, &of_udp));
        thread::spawn(move || connections(&self.tcp, &of_tcp));
    }
}

/// Answers what the handler passes on, as long as its interface is there.
///
/// # Errors
/// It has gone.
pub fn passed(service: &mut Service, cache: &Mutex<Cache>) -> Result<()> {
    loop {
        service.turn(Duration::from_millis(100), |request| answers(cache, request))?;
    }
}

fn datagrams(socket: &UdpSocket, cache: &Mutex<Cache>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        // What goes wrong concerns one client.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        for answer in answers(cache, &buffer[..length]) {
            let _ = socket.send_to(&answer, from);
        }
    }
}

fn connections(listener: &TcpListener, cache: &Arc<Mutex<Cache>>) {
    let count = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // There are no descriptors left, for a while.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if count.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            count.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (cache, count) = (cache.clone(), count.clone());
        thread::spawn(move || {
            // It ends with its client, however that ends.
            let _ = connection(stream, &cache);
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn connection(mut stream: TcpStream, cache: &Mutex<Cache>) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut session, mut buffer, mut out) = (Session::default(), vec![0; 1 << 14], Vec::new());
    loop {
        let length = stream.read(&mut buffer)?;
        let goes_on = session.hear(cache, &buffer[..length], &mut out) && length > 0;
        stream.write_all(&out)?;
        out.clear();
        if !goes_on {
            return Ok(());
        }
    }
}
