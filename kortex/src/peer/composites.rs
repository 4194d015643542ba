//! Composite calls (Ballesteros), as far as a line has to know them: one program ships blocks of calls to another. They
//! share the line with the communications of components, and have an interface and a name of their own. A platform
//! provides the [`Composites`] that runs and ships them.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use drystone_component::Interface;
use drystone_component::wire::{Connection, Handle};
use drystone_runtime::far::{Harbour, Reach, Shipment};

use super::offer::{Offer, Wanted};
use crate::Expected;

/// A program that ships blocks here, as long as it does.
pub type ClientId = u64;

/// How the composite service of a program is reached.
#[derive(Clone, Copy)]
pub struct Service {
    /// A name that no component can have.
    pub name: &'static str,
    /// The service's interface.
    pub interface: &'static Interface,
}

impl Service {
    /// The composite service of another program, as a client wants it.
    pub fn wanted(self, program: &str) -> Wanted {
        let Service { name, interface } = self;
        Wanted { interface, name: format!("{program}/{name}").into(), there: name.into(), capacity: 0 }
    }
}

/// Runs composite calls of other programs, and ships some to them.
pub trait Composites {
    /// The name and interface of the service.
    fn service(&self) -> Service;

    /// Admits the program at the other end of a line as a client.
    fn admit(&self) -> ClientId;

    /// Ends a client, whose line or last session has ended.
    fn dismiss(&self, client: ClientId);

    /// Begins a session: the client has begun one more communication, over which it ships blocks.
    fn take(&self, client: ClientId, line: Box<dyn ClientLine>) -> Rc<dyn Shipper>;

    /// Ships a block to the composite service that `taker` reaches, beside the interfaces at the harbour.
    fn ship(&self, taker: Box<dyn Reach>, harbour: Harbour<'_>, shipment: Shipment<'_>) -> Box<dyn Reach>;
}

/// A session: a client's communication over which it ships blocks here.
pub trait Shipper {
    /// The client has sent a message over the communication with this handle, has room for one, or has left. `false`:
    /// the session is over.
    fn hear(&self, connection: &RefCell<Connection>, handle: Handle) -> bool;
}

/// The line to a client, as a session uses it. What is sent on a line that is gone is lost.
pub trait ClientLine {
    /// The export that the client may ask for by a name, and the slot for its client.
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)>;

    /// Whether the client accepts one more message now. If not, [`Shipper::hear`] is called when it does.
    fn has_room(&self) -> bool;

    /// Sends a message, with the values that `values` appends.
    fn reply(&self, message: usize, values: &dyn Fn(&mut Vec<u8>));

    /// What may arrive at this program from outside.
    fn expected(&self) -> &Expected;
}
