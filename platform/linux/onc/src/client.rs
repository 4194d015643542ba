//! An RPC client: it sends calls to a server, and the replies come back in any order.

use std::fmt::Display;
use std::rc::Rc;

use drystone_net::place::{Addresses, Place};
use drystone_net::slot::Slot;
use drystone_reactor::Reactor;
use drystone_runtime::far::Waker;

use super::portmap::{Transport, port_of};

/// Most calls of a client that are unanswered.
pub(super) const MOST_OPEN: usize = 64;

/// See the head of this file.
pub(super) trait Client {
    /// Whether it can make one more call; if not, the pump is woken when it can.
    fn has_room(&self, pump: &Waker) -> bool;

    /// Makes a call, which `write` encodes.
    fn call(&self, slot: Rc<Slot>, write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>);

    /// The reply to this call isn't needed any more.
    fn forget(&self, xid: u32);

    /// Whether the server has ended it, or isn't there.
    fn is_over(&self) -> bool;

    /// No more calls will be made. Those that are unanswered still go on.
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
    /// Each communication has a client of its own, for as long as it lasts.
    pub(super) lasts: bool,
    /// Most bytes of a record.
    pub(super) limit: usize,
    /// As the program wrote it.
    pub(super) name: Rc<str>,
}

impl Target {
    /// A failure, for people.
    pub(super) fn about(&self, why: impl Display) -> String {
        format!("{}: {why}", self.name)
    }

    /// The server's addresses. Without a port rpcbind is asked for it.
    pub(super) fn addresses(&self) -> Addresses {
        if let Some(port) = self.place.port {
            return self.place.addresses(port);
        }
        let (place, program, transport) = (self.place.clone(), self.program, self.transport);
        Addresses::Unknown(Box::new(move || {
            let mut addresses = place.look_up(0)?;
            if let Some(first) = addresses.first() {
                let port = port_of(first.ip(), program, transport)?;
                addresses.iter_mut().for_each(|address| address.set_port(port));
            }
            Ok(addresses)
        }))
    }
}
