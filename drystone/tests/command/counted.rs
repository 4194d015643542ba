//! A proxy to a server that counts bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Forwards connections from a port of its own to another one, as long as the test lasts.
pub struct Counted {
    pub port: u16,
    bytes: Arc<AtomicUsize>,
}

impl Counted {
    pub fn way_to(port: u16) -> Counted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let way = Counted {
            port: listener.local_addr().expect("it has an address").port(),
            bytes: Arc::new(AtomicUsize::new(0)),
        };
        let bytes = way.bytes.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                let both = |socket: &TcpStream| socket.try_clone().expect("there are descriptors");
                carry(both(&client), both(&server), bytes.clone());
                carry(server, client, bytes.clone());
            }
        });
        way
    }

    /// Bytes forwarded in both directions.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, bytes: Arc<AtomicUsize>) {
    thread::spawn(move || {
        let mut data = [0; 65536];
        while let Ok(count @ 1..) = from.read(&mut data) {
            bytes.fetch_add(count, Relaxed);
            if to.write_all(&data[..count]).is_err() {
                break;
            }
        }
        // The other side may have gone already.
        let _ = to.shutdown(Shutdown::Write);
    });
}
