//! The socket by which requests came and their replies go out. It stays open as long as a request is unanswered.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;

use mio::net::UdpSocket;

use super::service::Service;

/// Most requests that are unanswered: more are dropped, as by a full socket.
const MOST_OPEN: usize = 4096;

/// See the head of this file.
pub(super) struct Replies {
    pub(super) service: Service,
    pub(super) socket: RefCell<UdpSocket>,
    /// How many requests are unanswered.
    open: Cell<usize>,
}

impl Replies {
    pub(super) fn new(service: Service, socket: UdpSocket) -> Replies {
        Replies { service, socket: RefCell::new(socket), open: Cell::default() }
    }

    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.borrow().recv_from(buffer)
    }

    /// A reply that can't be sent now is lost, like any datagram.
    pub(super) fn send(&self, client: SocketAddr, datagram: &[u8]) {
        let _ = self.socket.borrow().send_to(datagram, client);
    }

    /// Counts one more request, if there may be one more.
    pub(super) fn begin(&self) -> bool {
        let has_room = self.open.get() < MOST_OPEN;
        self.open.set(self.open.get() + usize::from(has_room));
        has_room
    }

    /// A request is over.
    pub(super) fn end(&self) {
        self.open.set(self.open.get() - 1);
    }
}
