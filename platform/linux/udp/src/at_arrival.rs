//! A service's handler in Linux's receive path (XDP): it answers what it can, before the process would be woken.

use std::io::{self, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::atomic::Ordering::Release;

use drystone_extension::bytecode::Slot;
use drystone_extension::composite::shared;
use drystone_extension::handler::Image;
use drystone_handlers::{Attached, Mode, Xdp};
use drystone_runtime::far::Handled;

/// Where a handler is to run.
pub(super) struct Place {
    /// A network interface.
    pub(super) interface: String,
    /// The address whose datagrams it answers.
    pub(super) address: SocketAddr,
    /// The exported name.
    pub(super) name: String,
}

impl Place {
    /// Runs the handler there. If that can't be, reports why, and the process answers all requests.
    pub(super) fn handler(&self, handled: Handled<'_>) -> Option<Attached> {
        let attached = self.attach(handled);
        if let Err(why) = &attached {
            let _ = writeln!(io::stderr(), "warning: {}: its process answers all: {why}", self.name);
        }
        attached.ok()
    }

    fn attach(&self, handled: Handled<'_>) -> Result<Attached, String> {
        let SocketAddr::V4(address) = self.address else {
            return Err("handlers answer datagrams over IPv4 only".into());
        };
        if address.ip().is_unspecified() {
            return Err(
                "a handler takes one address: whose datagrams are they that aren't for this machine?".into(),
            );
        }
        let slots = handled.code().as_chunks().0.iter().map(|bytes| Slot::read(*bytes)).collect();
        let kept = handled.words() - shared::VARIABLES;
        let xdp = Xdp::load(&Image::of_responder("service", slots, kept))?;
        let words = xdp.table("service").map(|table| table.words());
        let words = words.ok_or("it has no variables")?.map_err(|error| error.to_string())?;
        // The handler answers nothing before it has an address.
        let attached = xdp.attach(&self.interface, Mode::Any)?;
        handled.move_to(words)?;
        words[shared::PLACE].store(in_memory(address), Release);
        Ok(attached)
    }
}

/// Address and port, as a handler compares them.
fn in_memory(address: SocketAddrV4) -> u64 {
    let ([a, b, c, d], [e, f]) = (address.ip().octets(), address.port().to_be_bytes());
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}
