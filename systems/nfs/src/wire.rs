//! How the library that speaks to NFS servers gets its connections. It is asynchronous; here they block, on threads
//! that are there for that, so that what it awaits has always been done when it asks.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use nfs3_client::net::Connector;

use crate::records::Records;
use crate::stream::Stream;

/// What a future gives that never waits for anything but in a call of the operating system.
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
