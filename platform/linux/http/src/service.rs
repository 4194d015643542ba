//! An HTTP service of another program.

use std::net::IpAddr;
use std::rc::Rc;

use drystone_component::Interface;

use super::admission::{Origins, Public};
use super::io::Io;
use super::style::Style;
use drystone_net::place::Place;
use drystone_net::secure::Dialer;
use drystone_net::stream_dial::{StreamDial, Target};
use drystone_reactor::Reactor;

/// What `BY Http(...)` says.
#[derive(Default)]
pub(super) struct Options {
    pub(super) limit: usize,
    pub(super) token: Option<String>,
    /// A client uses a WebSocket, whatever the interface.
    pub(super) socket: bool,
    /// Sites whose pages may use what is exported.
    pub(super) origins: Origins,
    /// Messages that may be sent by GET.
    pub(super) reads: String,
    /// Answers with another status than 200.
    pub(super) statuses: String,
    /// A folder whose files are served beside.
    pub(super) files: String,
    /// Everybody is served, by this URL.
    pub(super) site: Option<Public>,
}

/// See the head of this file.
pub(super) struct Service {
    pub(super) reactor: Rc<Reactor>,
    pub(super) interface: &'static Interface,
    pub(super) style: Style,
    pub(super) place: Place,
    port: u16,
    /// `None`: without TLS.
    dialer: Option<Dialer>,
    /// Host and port, as requests name them.
    pub(super) authority: String,
    pub(super) options: Options,
}

/// The default port.
pub(super) fn port_of(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

impl Service {
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        interface: &'static Interface,
        style: Style,
        place: Place,
        dialer: Option<Dialer>,
        options: Options,
    ) -> Rc<Service> {
        let usual = port_of(dialer.is_some());
        let port = place.port.unwrap_or(usual);
        let host = match place.numeric() {
            Some(IpAddr::V6(address)) => format!("[{address}]"),
            Some(address) if place.host.is_empty() => address.to_string(),
            _ => place.host.clone(),
        };
        let authority = if port == usual { host } else { format!("{host}:{port}") };
        let reactor = reactor.clone();
        Rc::new(Service { reactor, interface, style, place, port, dialer, authority, options })
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        let scheme = if self.dialer.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.place.path)
    }

    /// A failure, for people.
    pub(super) fn about(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.url())
    }

    /// Begins to make a connection to it, which `then` gets; an error says why there is none.
    pub(super) fn dial(&self, then: impl FnOnce(Result<Io, String>) + 'static) -> Rc<StreamDial> {
        let Service { reactor, place, port, dialer, .. } = self;
        let target =
            Target { reactor: reactor.clone(), place: place.clone(), port: *port, dialer: dialer.clone() };
        StreamDial::begin(target, |made| then(made.map(Io)))
    }
}
