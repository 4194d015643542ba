//! How a connection is made: the host's name is looked up, and its addresses are tried one after another.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;
use std::vec;

use drystone_component::wire::Role;
use mio::net::TcpStream;

use super::moments::Attention;
use super::{Link, PATIENCE, Stage};
use crate::credentials::{Credentials, permit};
use drystone_net::place::{Place, search};
use drystone_reactor::Reactor;
use drystone_reactor::reason;

impl Link {
    /// Makes a connection, in time.
    pub(crate) fn dial(reactor: &Rc<Reactor>, place: Place, credentials: Option<&Credentials>) -> Rc<Link> {
        let link = Link::new(reactor, Role::Dialer, None);
        match credentials.map(|credentials| credentials.dial(&place.host)).transpose() {
            Ok(cipher) => *link.cipher.borrow_mut() = cipher,
            Err(why) => {
                link.lose(&why);
                return link;
            }
        }
        let port = place.port.unwrap_or(0);
        if let Some(address) = place.numeric() {
            link.next_address(vec![(address, port).into()].into_iter(), "it has no address".into());
            return link;
        }
        let looked_up = place.clone();
        let handler = Rc::new(Attention(link.me.clone()));
        match search(reactor, handler, move || looked_up.look_up(port)) {
            Ok(search) => *link.stage.borrow_mut() = Stage::Searching(place, search),
            Err(error) => link.lose(&reason(&error)),
        }
        link
    }

    /// Tries the next address; if there is none, this is over for the reason that the last one gave.
    pub(super) fn next_address(&self, mut others: vec::IntoIter<SocketAddr>, mut why: String) {
        for address in others.by_ref() {
            let permitted = if self.cipher.borrow().is_some() { Ok(()) } else { permit(address.ip()) };
            let begun = permitted
                .and_then(|()| TcpStream::connect(address).map_err(|error| reason(&error)))
                .and_then(|stream| self.watch(stream).map_err(|error| reason(&error)));
            match begun {
                Ok(source) => {
                    let until = Instant::now() + PATIENCE;
                    let handler = || Rc::new(Attention(self.me.clone()));
                    self.reactor.handle(source, handler());
                    let time = self.reactor.at(until, handler());
                    *self.stage.borrow_mut() = Stage::Connecting(others, time, until);
                    return;
                }
                Err(reason) => why = reason,
            }
        }
        self.lose(&why);
    }

    /// What the kernel says about a connection that was begun; `None`: nothing yet.
    pub(super) fn connected(&self) -> Option<Result<(), io::Error>> {
        let socket = self.socket.borrow();
        let stream = &socket.as_ref()?.stream;
        match stream.take_error() {
            Ok(Some(error)) | Err(error) => return Some(Err(error)),
            Ok(None) => {}
        }
        match stream.peer_addr() {
            Ok(_) => Some(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
            Err(error) => Some(Err(error)),
        }
    }
}
