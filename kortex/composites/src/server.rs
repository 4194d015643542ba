//! The composite service as a program's lines see it.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::Cell;

use drystone_extension::composite::shipping;
use drystone_kortex::peer::{ClientId, ClientLine, Composites, Service, Shipper};
use drystone_runtime::far::{Harbour, Reach, Shipment};

use super::block::Block;
use super::engine::{Engine, QUOTA};
use super::platform::Platform;
use super::preparing::Preparing;
use super::session::Session;

/// A program's composite service (InterpServer in *composite calls*).
pub struct Server {
    engine: Rc<Engine>,
    preparing: Rc<Preparing>,
    /// How many clients have been admitted.
    clients: Cell<ClientId>,
}

impl Server {
    /// The service of a program. `key` is a number that nobody can guess.
    pub fn new(platform: Rc<dyn Platform>, key: u64) -> Server {
        let engine = Engine::new(platform, key);
        Server { preparing: Preparing::new(engine.clone()), engine, clients: Cell::new(0) }
    }
}

impl Composites for Server {
    fn service(&self) -> Service {
        Service { name: shipping::SERVICE, interface: &shipping::INTERFACE }
    }

    fn admit(&self) -> ClientId {
        let client = self.clients.get();
        self.clients.set(client + 1);
        self.engine.server().admit(client, QUOTA);
        client
    }

    fn dismiss(&self, client: ClientId) {
        let gone = self.engine.server().dismiss(client);
        // The borrow has ended: dropping the runs' communications may wake other runs.
        drop(gone);
    }

    fn take(&self, client: ClientId, line: Box<dyn ClientLine>) -> Rc<dyn Shipper> {
        Session::new(line, client, &self.engine, &self.preparing)
    }

    fn ship(&self, taker: Box<dyn Reach>, harbour: Harbour<'_>, shipment: Shipment<'_>) -> Box<dyn Reach> {
        Box::new(Block::new(taker, harbour, shipment))
    }
}
