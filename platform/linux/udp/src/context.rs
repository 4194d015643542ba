//! The names that begin with `udp:`.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use drystone_component::Name;
use drystone_kortex::composed::{SOME, count, only};
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Hints, NamingContext};
use drystone_runtime::far::{Exported, Reach};

use super::at_arrival;
use super::caller::{ClientSockets, Remote, Server};
use super::server_socket::Offered;
use super::service::Service;
use drystone_net::place::{Place, permit};
use drystone_reactor::Reactor;

/// Milliseconds that an answer may take, unless BY says otherwise.
const PATIENCE: u64 = 1000;

/// See the head of this file.
pub struct Context {
    reactor: Rc<Reactor>,
    sockets: Rc<ClientSockets>,
}

impl Context {
    pub fn new(reactor: &Rc<Reactor>) -> Context {
        Context { reactor: reactor.clone(), sockets: ClientSockets::new(reactor) }
    }
}

/// What `BY Udp(...)` says.
pub(super) struct Options {
    /// How long a client waits for an answer.
    patience: Duration,
    /// Clients on other machines may call.
    is_open: bool,
    /// The network interface where its handler runs, if it has one.
    on: Option<String>,
}

pub(super) fn options(hints: &Hints<'_>) -> Result<Options, String> {
    let mut options = Options { patience: Duration::from_millis(PATIENCE), is_open: false, on: None };
    for factory in hints.factories.iter().filter(|factory| factory.name.eq_ignore_ascii_case("udp")) {
        only(factory, &["patience", "open", "on"])?;
        let patience = count(factory, "patience", SOME)?.unwrap_or(PATIENCE);
        options.patience = Duration::from_millis(patience);
        options.is_open = factory.boolean("open")?.unwrap_or(false);
        options.on = factory.option("on").map(|name| String::from_utf8_lossy(name).into_owned());
    }
    Ok(options)
}

fn place(rest: &str) -> Result<Place, String> {
    let place = Place::parse(rest)?;
    match (place.path.as_str(), place.port) {
        ("" | "/", Some(_)) => Ok(place),
        ("" | "/", None) => Err("a port is needed, as in //127.0.0.1:7000/".into()),
        (path, _) => Err(format!("{path}: a port is for one interface, so there is no path")),
    }
}

impl BindingFactory for Context {
    fn bind(&mut self, Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let (service, Options { patience, .. }) = (Service::new(interface)?, options(hints)?);
        let server = Rc::new(Server { service, patience, name: name.to_string() });
        Ok(Box::new(Remote {
            sockets: self.sockets.clone(),
            place: place(name.rest())?,
            server,
            socket: None,
        }))
    }
}

impl NamingContext for Context {
    fn export(
        &mut self,
        Endpoint { interface, name, hints }: Endpoint<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let (service, options, place) = (Service::new(interface)?, options(hints)?, place(name.rest())?);
        let address = SocketAddr::new(place.here()?, place.port.unwrap_or_default());
        permit(address.ip(), options.is_open, ("UDP", "Udp"))?;
        let place =
            options.on.map(|interface| at_arrival::Place { interface, address, name: name.to_string() });
        Ok(Box::new(Offered::new(&self.reactor, service, address, place)?))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}
