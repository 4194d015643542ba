//! Sockets, and what the handler passes on.

use std::io::{Read, Result, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use drystone_handlers::Service;

use crate::Zone;
use crate::message::response;

/// More connections are closed at once.
const CONNECTIONS: usize = 128;
/// Who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

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
    pub fn serve(self, zone: &Arc<Zone>) {
        let (of_udp, of_tcp) = (zone.clone(), zone.clone());
        thread::spawn(move || datagrams(&self.udp, &of_udp));
        thread::spawn(move || connections(&self.tcp, &of_tcp));
    }
}

/// Answers what the handler passes on, as long as its interface is there.
///
/// # Errors
/// It has gone.
pub fn passed(service: &mut Service, zone: &Zone) -> Result<()> {
    loop {
        service
            .turn(Duration::from_millis(100), |query| response(zone, query, true).into_iter().collect())?;
    }
}

fn datagrams(socket: &UdpSocket, zone: &Zone) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        // What goes wrong concerns one client.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        if let Some(response) = response(zone, &buffer[..length], true) {
            let _ = socket.send_to(&response, from);
        }
    }
}

fn connections(listener: &TcpListener, zone: &Arc<Zone>) {
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
        let (zone, count) = (zone.clone(), count.clone());
        thread::spawn(move || {
            // It ends with its client, however that ends.
            let _ = connection(stream, &zone);
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Messages behind their lengths.
fn connection(mut stream: TcpStream, zone: &Zone) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut query = vec![0; u16::from_be_bytes(length).into()];
        stream.read_exact(&mut query)?;
        let Some(response) = response(zone, &query, false) else { return Ok(()) };
        let length = u16::try_from(response.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes()[..], &response].concat())?;
    }
}
