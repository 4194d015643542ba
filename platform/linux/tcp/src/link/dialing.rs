//! How a connection is made: the host's name is looked up, and its addresses are tried one after another.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use drystone_component::wire::Role;
use mio::net::TcpStream;

use super::{Link, PATIENCE, Stage};
use crate::credentials::{Credentials, permit};
use drystone_net::dial::Addresses;
use drystone_net::place::{Place, search};
use drystone_net::socket::made;
use drystone_reactor::{Reactor, reason, weakly};

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
            link.next_address(Addresses::new(vec![(address, port).into()], "it has no address"));
            return link;
        }
        let looked_up = place.clone();
        let handler = weakly(&link.me, |link| link.go_on());
        match search(reactor, handler, move || looked_up.look_up(port)) {
            Ok(search) => *link.stage.borrow_mut() = Stage::Searching(place, search),
            Err(error) => link.lose(&reason(&error)),
        }
        link
    }

    /// Tries the next address; if there is none, this is over for the reason that the last one gave.
    pub(super) fn next_address(&self, mut addresses: Addresses) {
        let is_secure = self.cipher.borrow().is_some();
        let begun = addresses.next(|address| {
            if !is_secure {
                permit(address.ip())?;
            }
            let stream = TcpStream::connect(address).map_err(|error| reason(&error))?;
            self.watch(stream).map_err(|error| reason(&error))
        });
        let Some(source) = begun else { return self.lose(addresses.why()) };
        let until = Instant::now() + PATIENCE;
        let handler = || weakly(&self.me, |link| link.go_on());
        self.reactor.handle(source, handler());
        let time = self.reactor.at(until, handler());
        *self.stage.borrow_mut() = Stage::Connecting(addresses, time, until);
    }

    /// What the kernel says about a connection that was begun; `None`: nothing yet.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        made(&self.socket.borrow().as_ref()?.stream)
    }
}
