//! The connection with a peer, and its communications.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use drystone_component::wire::{Connection, Handle, Limits, Role};
use drystone_runtime::far::Waker;

use super::composites::{ClientId, Shipper};

/// The connection with a peer, and its communications.
pub struct Peer {
    pub(super) connection: RefCell<Connection>,
    /// The pumps of communications, by their handles.
    pub(super) pumps: RefCell<Vec<Option<Waker>>>,
    /// The sessions of the other end that ship composite calls.
    pub(super) shippers: RefCell<BTreeMap<Handle, Rc<dyn Shipper>>>,
    /// The other end's number as a client of composite calls, as long as it has sessions.
    pub(super) client: Cell<Option<ClientId>>,
    /// Communications that the other end has begun and that aren't over here.
    pub(super) served: Cell<usize>,
    /// Bytes were sent, so the other end may have received some.
    pub(super) has_spoken: Cell<bool>,
}

impl Peer {
    /// A connection over which nothing has been sent.
    pub fn new(role: Role, limits: Limits) -> Peer {
        let connection = RefCell::new(Connection::new(role, limits));
        let (pumps, shippers, client, served, has_spoken) = Default::default();
        Peer { connection, pumps, shippers, client, served, has_spoken }
    }

    /// Whether all communications that the other end has begun are over here, and its last messages taken.
    pub fn is_quiet(&self) -> bool {
        self.served.get() == 0
    }

    /// Why the connection has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.connection.borrow().failure().map(str::to_string)
    }

    /// Whether the other end has announced its limits.
    pub fn has_greeted(&self) -> bool {
        self.connection.borrow().is_greeted()
    }

    /// Whether there are bytes to be sent.
    pub fn has_output(&self) -> bool {
        self.connection.borrow().has_output()
    }

    /// How many bytes are waiting to be sent.
    pub fn waits(&self) -> usize {
        self.connection.borrow_mut().output().len()
    }

    /// Passes output to `write`, which returns how many bytes it took, until it takes none or none are left.
    pub fn output<E>(&self, mut write: impl FnMut(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        let mut connection = self.connection.borrow_mut();
        loop {
            let output = connection.output();
            if output.is_empty() {
                return Ok(());
            }
            let count = write(output)?;
            connection.sent(count);
            self.has_spoken.set(true);
        }
    }

    /// Nothing of what was sent so far has been received.
    pub fn was_unheard(&self) {
        self.has_spoken.set(false);
    }

    /// Bytes of memory that the connection takes.
    pub fn held(&self) -> usize {
        self.connection.borrow().held()
    }

    /// Wakes the pump of a communication. `false`: no pump has been attached.
    pub(super) fn wake_pump(&self, handle: Handle) -> bool {
        let pump = self.pumps.borrow().get(handle.index()).cloned().flatten();
        pump.inspect(Waker::wake).is_some()
    }
}
