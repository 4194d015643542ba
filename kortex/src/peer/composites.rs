//! Blocks of calls that one program ships to another (paper 000), as far as a line has to know of them: they go over it
//! beside the communications of components, by an interface and a name of their own. What runs them, and what ships
//! them, is a platform's.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use core::cell::RefCell;

use drystone_component::Interface;
use drystone_component::wire::{Connection, Handle};
use drystone_runtime::far::{Harbour, Reach, Shipment};

use super::{Line, Wanted};

/// A program that ships some here, as long as it does.
pub type ClientId = u64;

/// By what those are reached who take them.
#[derive(Clone, Copy)]
pub struct Service {
    /// No component can have it.
    pub name: &'static str,
    /// What is spoken with them.
    pub interface: &'static Interface,
}

impl Service {
    /// Who takes them in another program, as a client wants it.
    pub fn wanted(self, program: &str) -> Wanted {
        let Service { name, interface } = self;
        Wanted { interface, name: format!("{program}/{name}").into(), there: name.into(), capacity: 0 }
    }
}

/// See the head of this file.
pub trait Composites {
    /// As what it is known.
    fn service(&self) -> Service;

    /// A number for who is at the other end of a line.
    fn admit(&self) -> ClientId;

    /// Who was at the other end has gone.
    fn dismiss(&self, client: ClientId);

    /// It has begun one more communication, over which it ships blocks.
    fn take(&self, client: ClientId, line: &Rc<dyn Line>, handle: Handle) -> Rc<dyn Shipper>;

    /// Ships a block to who is reached so by the [`Service`], and stands beside what is reached at the harbour.
    fn ship(&self, taker: Box<dyn Reach>, harbour: Harbour<'_>, shipment: Shipment<'_>) -> Box<dyn Reach>;
}

/// Who ships blocks here over one communication.
pub trait Shipper {
    /// It has said something, or gone. `false`: it is over.
    fn hear(&self, connection: &RefCell<Connection>) -> bool;
}
