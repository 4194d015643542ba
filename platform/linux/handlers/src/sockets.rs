//! The sockets of a service: they bring what its handler leaves to the process, and all where there is none.

use std::io::Result;
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

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

    /// Serves them in threads of their own: `answers` says by which datagrams one is answered, `converse` serves a connection until it ends. Of
    /// connections more than `most` at a time are closed at once.
    pub fn serve(
        self,
        most: usize,
        answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
        converse: impl Fn(TcpStream) -> Result<()> + Send + Sync + 'static,
    ) {
        thread::spawn(move || datagrams(&self.udp, answers));
        thread::spawn(move || connections(&self.tcp, most, converse));
    }
}

fn datagrams(socket: &UdpSocket, answers: impl Fn(&[u8]) -> Vec<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        // What goes wrong concerns one client.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        for answer in answers(&buffer[..length]) {
            let _ = socket.send_to(&answer, from);
        }
    }
}

fn connections(
    listener: &TcpListener,
    most: usize,
    converse: impl Fn(TcpStream) -> Result<()> + Send + Sync + 'static,
) {
    let (converse, count) = (Arc::new(converse), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // There are no descriptors left, for a while.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if count.fetch_add(1, Ordering::Relaxed) >= most {
            count.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (converse, count) = (converse.clone(), count.clone());
        thread::spawn(move || {
            // It ends with its client, however that ends.
            let _ = converse(stream);
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}
