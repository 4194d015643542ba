//! The component that `Connected` and `Accepted` carry. It offers Input and Output.

use std::cell::RefCell;
use std::rc::Rc;

use drystone_net::socket::Socket;
use drystone_runtime::native::{Component, Serving};

use super::input::Reader;
use super::output::Writer;
use crate::interfaces::{input, output};
use crate::lines::Lines;

/// A connection, as a component.
pub(super) struct Connection {
    socket: Rc<Socket>,
    /// Received bytes that weren't asked for yet.
    input: Rc<RefCell<Lines>>,
}

impl Connection {
    pub(super) fn new(socket: Rc<Socket>) -> Connection {
        Connection { socket, input: Rc::default() }
    }
}

impl Component for Connection {
    fn serve(&mut self, interface: usize) -> Serving {
        if interface == 0 {
            input::serve(Reader::new(self.socket.clone(), self.input.clone()))
        } else {
            output::serve(Writer::new(self.socket.clone()))
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.socket.leave();
    }
}
