//! `tcp://host:port/name`: Drystone's own protocol (docs/src/wire.md) over TCP. All bindings of a program to one
//! address share a connection, and what it exports at one port is found by names. Without certificates only this
//! machine's own addresses are used; with them (`BY Tcp(certificate: file, key: file, authority: file)`) both sides
//! show theirs, and TLS 1.3 hides what is said.
//!
//! `door` is where others come in, `link` a connection, `crowd` all who have come in, `credentials` the certificates.

mod credentials;
mod crowd;
mod door;
mod exports;
mod link;

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use drystone_component::{Interface, Name};
use drystone_kortex::peer::{Brought, Composites, Line, Wanted, check};
use drystone_kortex::{Addition, Context, Host};
use drystone_runtime::binding::{BindingFactory, Edge, Hints, NamingContext};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment};

use self::credentials::{Credentials, files, permit};
use self::crowd::Crowd;
use self::door::Door;
use self::exports::Exports;
use self::link::Link;
use drystone_composites::{Ships, composites, service};
use drystone_net::place::Place;
use drystone_net::secure::Files;
use drystone_reactor::Reactor;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    offers: &[],
    contexts: &[Context { scheme: "tcp", begin: |host| Box::new(Tcp::new(host)) }],
    factories: &[],
};

/// The naming context, and its binding factory.
struct Tcp {
    reactor: Rc<Reactor>,
    links: Rc<Links>,
    doors: HashMap<SocketAddr, Weak<Door>>,
    known: HashMap<Files, Rc<Credentials>>,
    composites: Rc<dyn Composites>,
    crowd: Rc<Crowd>,
}

impl Tcp {
    fn new(host: &Host) -> Tcp {
        let reactor = &Reactor::of(host);
        let links = Rc::new(Links { reactor: reactor.clone(), links: RefCell::default() });
        Tcp {
            reactor: reactor.clone(),
            links,
            doors: HashMap::new(),
            known: HashMap::new(),
            composites: composites(host),
            crowd: Rc::default(),
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
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        let (place, wanted) = wanted(interface, name, hints)?;
        let credentials = self.credentials(hints)?;
        if let (Some(address), None) = (place.numeric(), &credentials) {
            permit(address)?;
        }
        Ok(Box::new(Bound { links: self.links.clone(), place, credentials, wanted, link: None }))
    }
}

impl NamingContext for Tcp {
    fn export(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let (place, wanted) = wanted(interface, name, hints)?;
        let address = SocketAddr::new(place.here()?, place.port.unwrap_or(0));
        let credentials = self.credentials(hints)?;
        if credentials.is_none() {
            permit(address.ip())?;
        }
        let door = self.doors.get(&address).and_then(Weak::upgrade);
        let open = || {
            let exports = Exports::new(self.composites.clone(), self.crowd.clone());
            Door::open(&self.reactor, address, credentials.clone(), exports)
        };
        let door = door.map_or_else(open, Ok)?;
        if !same(&door.credentials, &credentials) {
            return Err("something is exported at this port with other certificates".to_string());
        }
        self.doors.retain(|_, door| door.strong_count() > 0);
        self.doors.insert(address, Rc::downgrade(&door));
        let mut own = hints.factories.iter().filter(|factory| factory.name == "Tcp");
        if own.any(|factory| factory.boolean("composites") == Ok(Some(false))) {
            door.exports.takes_composites.set(false);
        }
        let names = door.exports.names.clone();
        let offer = names.add(&wanted)?;
        Ok(Box::new(Brought::new(&names, offer, door, self.reactor.expected())))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

/// What a name and its hints mean.
fn wanted(
    interface: &'static Interface,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<(Place, Wanted), String> {
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

/// A name as a client has it.
struct Bound {
    links: Rc<Links>,
    place: Place,
    credentials: Option<Rc<Credentials>>,
    wanted: Wanted,
    /// The connection that was used last, so that it stays.
    link: Option<Rc<Link>>,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        let link = self.links.get(&self.place, &self.credentials);
        let line: Rc<dyn Line> = link.clone();
        self.link = Some(link);
        self.wanted.begin(&line)
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Wanted { name, there, .. } = &self.wanted;
        let number = self.credentials.as_ref().map_or(0, |it| Rc::as_ptr(it).addr());
        let program = name.strip_suffix(&**there)?.strip_suffix('/')?;
        Some(Harbour { program, number, name: there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let harbour = self.harbour()?;
        let (links, place, credentials) = (self.links.clone(), self.place.clone(), self.credentials.clone());
        let (wanted, link) = (service().wanted(harbour.program), self.link.clone());
        let taker = Bound { links, place, credentials, wanted, link };
        Some(Box::new(Ships::new(Box::new(taker), harbour, shipment)))
    }
}

/// Host and port, and as who.
type Address = (String, Option<u16>, Option<*const Credentials>);

/// The connections that this program has made.
struct Links {
    reactor: Rc<Reactor>,
    links: RefCell<HashMap<Address, Weak<Link>>>,
}

impl Links {
    /// The one to a place; a new one if there is none any more.
    fn get(&self, place: &Place, credentials: &Option<Rc<Credentials>>) -> Rc<Link> {
        let links = &mut *self.links.borrow_mut();
        let key = (place.host.clone(), place.port, credentials.as_ref().map(Rc::as_ptr));
        if let Some(link) = links.get(&key).and_then(Weak::upgrade)
            && !link.is_over()
        {
            return link;
        }
        let link = Link::dial(&self.reactor, place.clone(), credentials.as_deref());
        links.retain(|_, link| link.strong_count() > 0);
        links.insert(key, Rc::downgrade(&link));
        link
    }
}
