//! `tcp://host:port/name`: Drystone's own protocol (docs/src/wire.md) over TCP. All bindings of a program to one
//! address share a connection, and what it exports at one port is found by names. Without certificates only this
//! machine's own addresses are used; with them (`BY Tcp(certificate: file, key: file, authority: file)`) both sides
//! show theirs, and TLS 1.3 encrypts what is said.
//!
//! * `listening` is an address, with what is exported there (`exports`).
//! * `connection` is a connection with another program.
//! * `memory` bounds what accepted connections hold together.
//! * `credentials` are the certificates.

mod connection;
mod credentials;
mod exports;
mod listening;
mod memory;

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use drystone_component::Name;
use drystone_kortex::peer::{Brought, Composites, Line, Wanted, check};
use drystone_kortex::{Addition, Context, Host};
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Hints, NamingContext};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment};

use drystone_net::place::Place;
use drystone_net::secure::Files;
use drystone_reactor::Reactor;

use self::connection::Connection;
use self::credentials::{Credentials, files, permit};
use self::exports::Exports;
use self::listening::Listening;
use self::memory::Memory;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[Context { scheme: "tcp", begin: |host| Box::new(Tcp::new(host)) }],
    ..Addition::NOTHING
};

/// The naming context, and its binding factory.
struct Tcp {
    connections: Rc<Connections>,
    listening: HashMap<SocketAddr, Weak<Listening>>,
    /// What is or was exported at addresses, as long as connections to it last: they find what is exported there anew.
    exports: HashMap<SocketAddr, Weak<Exports>>,
    known: HashMap<Files, Rc<Credentials>>,
    memory: Rc<Memory>,
}

impl Tcp {
    fn new(host: &Host) -> Tcp {
        let connections = Connections {
            reactor: Reactor::of(host),
            composites: host.composites().cloned(),
            dialled: RefCell::default(),
        };
        Tcp {
            connections: Rc::new(connections),
            listening: HashMap::new(),
            exports: HashMap::new(),
            known: HashMap::new(),
            memory: Rc::default(),
        }
    }

    /// What a BY says of certificates; files are read once.
    fn credentials(&mut self, hints: &Hints<'_>) -> Result<Option<Rc<Credentials>>, String> {
        let Some(files) = files(hints)? else { return Ok(None) };
        if let Some(known) = self.known.get(&files) {
            return Ok(Some(known.clone()));
        }
        let read = Rc::new(Credentials::read(&files)?);
        self.known.insert(files, read.clone());
        Ok(Some(read))
    }
}

fn same(one: &Option<Rc<Credentials>>, other: &Option<Rc<Credentials>>) -> bool {
    one.as_ref().map(Rc::as_ptr) == other.as_ref().map(Rc::as_ptr)
}

impl BindingFactory for Tcp {
    fn bind(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let (place, wanted) = wanted(endpoint)?;
        let credentials = self.credentials(endpoint.hints)?;
        if let (Some(address), None) = (place.numeric(), &credentials) {
            permit(address)?;
        }
        let connections = self.connections.clone();
        Ok(Box::new(Bound { connections, place, credentials, wanted, last: None }))
    }
}

impl NamingContext for Tcp {
    fn export(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        let (place, wanted) = wanted(endpoint)?;
        let address = SocketAddr::new(place.here()?, place.port.unwrap_or(0));
        let credentials = self.credentials(endpoint.hints)?;
        if credentials.is_none() {
            permit(address.ip())?;
        }
        let Connections { reactor, composites, .. } = &*self.connections;
        let listening = self.listening.get(&address).and_then(Weak::upgrade);
        let open = || {
            let before = self.exports.get(&address).and_then(Weak::upgrade);
            let exports =
                before.filter(|exports| same(&exports.credentials, &credentials)).unwrap_or_else(|| {
                    Rc::new(Exports::new(composites.clone(), self.memory.clone(), credentials.clone()))
                });
            exports.takes_composites.set(true);
            Listening::open(reactor, address, exports)
        };
        let listening = listening.map_or_else(open, Ok)?;
        if !same(&listening.exports.credentials, &credentials) {
            return Err("something is exported at this port with other certificates".to_string());
        }
        self.listening.retain(|_, listening| listening.strong_count() > 0);
        self.listening.insert(address, Rc::downgrade(&listening));
        self.exports.retain(|_, exports| exports.strong_count() > 0);
        self.exports.insert(address, Rc::downgrade(&listening.exports));
        let mut own = endpoint.hints.factories.iter().filter(|factory| factory.name == "Tcp");
        if own.any(|factory| factory.boolean("composites") == Ok(Some(false))) {
            listening.exports.takes_composites.set(false);
        }
        let names = listening.exports.names.clone();
        let offer = names.add(&wanted)?;
        Ok(Box::new(Brought::new(&names, offer, listening, reactor.expected())))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

/// What a name and its hints mean.
fn wanted(Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<(Place, Wanted), String> {
    check(interface)?;
    let place = Place::parse(name.rest())?;
    if place.port.is_none() {
        return Err("a port is needed, as in //127.0.0.1:7000/name".to_string());
    }
    let there = place.path.strip_prefix('/').filter(|name| !name.is_empty());
    let there = there.ok_or("a name is needed behind the port, as in //127.0.0.1:7000/name")?.into();
    let capacity = hints.capacity()?.unwrap_or(0);
    Ok((place, Wanted { interface, name: name.to_string().into(), there, capacity }))
}

/// A name that a client is bound to.
struct Bound {
    connections: Rc<Connections>,
    place: Place,
    credentials: Option<Rc<Credentials>>,
    wanted: Wanted,
    /// The connection that was used last, so that it stays.
    last: Option<Rc<Connection>>,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        let connection = self.connections.get(&self.place, &self.credentials);
        let line: Rc<dyn Line> = connection.clone();
        self.last = Some(connection);
        self.wanted.begin(&line)
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Wanted { name, there, .. } = &self.wanted;
        let number = self.credentials.as_ref().map_or(0, |it| Rc::as_ptr(it).addr());
        let program = name.strip_suffix(&**there)?.strip_suffix('/')?;
        Some(Harbour { program, number, name: there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let (harbour, connections) = (self.harbour()?, self.connections.clone());
        let composites = self.connections.composites.as_ref()?;
        let service = Bound {
            connections,
            place: self.place.clone(),
            credentials: self.credentials.clone(),
            wanted: composites.service().wanted(harbour.program),
            last: self.last.clone(),
        };
        Some(composites.ship(Box::new(service), harbour, shipment))
    }
}

/// Host and port, and this program's certificate.
type Address = (String, Option<u16>, Option<*const Credentials>);

/// The connections that this program has dialled, and what all connections need.
struct Connections {
    reactor: Rc<Reactor>,
    composites: Option<Rc<dyn Composites>>,
    dialled: RefCell<HashMap<Address, Weak<Connection>>>,
}

impl Connections {
    /// The connection to a place; a new one if there is none, or it is over.
    fn get(&self, place: &Place, credentials: &Option<Rc<Credentials>>) -> Rc<Connection> {
        let dialled = &mut *self.dialled.borrow_mut();
        let key = (place.host.clone(), place.port, credentials.as_ref().map(Rc::as_ptr));
        if let Some(connection) = dialled.get(&key).and_then(Weak::upgrade)
            && !connection.is_over()
        {
            return connection;
        }
        let connection = Connection::dial(&self.reactor, place, credentials.as_deref());
        dialled.retain(|_, connection| connection.strong_count() > 0);
        dialled.insert(key, Rc::downgrade(&connection));
        connection
    }
}
