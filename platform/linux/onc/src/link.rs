//! A client's way to a server: calls go out, and replies come back in any order.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::Waker;

use super::portmap::{Transport, port_of};
use drystone_net::place::{Place, Search, search};
use drystone_net::slot::Slot;
use drystone_reactor::{Handler, Reactor};

/// How many calls over one way may be unanswered.
pub(super) const MOST_OPEN: usize = 64;

/// See the head of this file.
pub(super) trait Link {
    /// Whether one more call can be made; if not, the pump is woken when it can.
    fn has_room(&self, pump: &Waker) -> bool;

    /// Makes a call, which `write` writes.
    fn call(&self, slot: Rc<Slot>, write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>);

    /// Nobody waits for the reply any more.
    fn forget(&self, xid: u32);

    /// Whether the server has ended it, or isn't there.
    fn is_over(&self) -> bool;

    /// No calls will be made any more; those that are unanswered still are to be.
    fn finish(&self);
}

/// Where a server is, and how it is reached.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) reactor: Rc<Reactor>,
    pub(super) place: Place,
    pub(super) transport: Transport,
    /// Program and version.
    pub(super) program: (u32, u32),
    /// A communication lasts, with a way of its own.
    pub(super) lasts: bool,
    /// Most bytes of a record.
    pub(super) limit: usize,
    /// As the program wrote it.
    pub(super) name: Rc<str>,
}

impl Target {
    /// Why there is nothing to be had from it.
    pub(super) fn about(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.name)
    }

    /// The addresses, if nothing has to be asked for.
    pub(super) fn known(&self) -> Option<Vec<SocketAddr>> {
        Some(vec![(self.place.numeric()?, self.place.port?).into()])
    }

    /// Asks for the addresses, and rpcbind for the port.
    pub(super) fn search(&self, handler: Rc<dyn Handler>) -> std::io::Result<Search> {
        let (place, program, transport) = (self.place.clone(), self.program, self.transport);
        search(&self.reactor, handler, move || {
            let mut addresses = place.look_up(place.port.unwrap_or(0))?;
            if place.port.is_none()
                && let Some(first) = addresses.first()
            {
                let port = port_of(first.ip(), program, transport)?;
                addresses.iter_mut().for_each(|address| address.set_port(port));
            }
            Ok(addresses)
        })
    }
}
