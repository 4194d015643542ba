//! Ports for servers of tests.

use std::net::{TcpListener, UdpSocket};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Linux gives the ports from 32768 on to clients, unless it is told otherwise: a server that starts a moment later
/// would find its port taken.
const PORTS: u16 = 32768 - FIRST;
const FIRST: u16 = 12000;

/// A port that nobody uses, by TCP or UDP. No other test of this process gets it.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Other test programs that run now begin elsewhere.
    let begin = process::id().wrapping_mul(617);
    loop {
        let turn = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + (begin.wrapping_add(turn) % u32::from(PORTS)) as u16;
        let address = ("127.0.0.1", port);
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            return port;
        }
    }
}
