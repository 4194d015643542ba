//! Connections for the NFS library. The library is asynchronous, but these connections block, on threads made for that.
//! So a future of the library is always ready when it is polled.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use nfs3_client::net::Connector;

use crate::records::Records;
use crate::stream::Stream;

/// The result of a future that waits only in system calls.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// Makes connections.
#[derive(Debug)]
pub struct Wire;

impl Connector for Wire {
    type Connection = Records;

    async fn connect(&self, address: SocketAddr) -> io::Result<Records> {
        Stream::to(address).map(Records::new)
    }

    async fn connect_with_port(&self, address: SocketAddr, _: u16) -> io::Result<Records> {
        Stream::to(address).map(Records::new)
    }
}
