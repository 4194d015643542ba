//! The names that begin with `http:`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use drystone_component::Interface;
use drystone_component::calls::Calls;
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Exported, Reach};

use super::caller::Remote;
use super::describe::openapi;
use super::export::{Export, Offered};
use super::site::Site;
use crate::bindings::Scheme;
use crate::bindings::datum::only_data;
use crate::bindings::place::Place;
use crate::reactor::Reactor;
use crate::reason::reason;

/// Most bytes of a request or a message, unless BY says otherwise.
const LIMIT: usize = 16 << 20;

/// The port of names that say none.
const PORT: u16 = 80;

/// See the head of this file.
pub(in crate::bindings) struct Context {
    reactor: Rc<Reactor>,
    sites: HashMap<SocketAddr, Weak<Site>>,
}

impl Context {
    /// For the names of a program.
    pub(in crate::bindings) fn new(reactor: &Rc<Reactor>) -> Context {
        Context { reactor: reactor.clone(), sites: HashMap::new() }
    }

    fn site(&mut self, address: SocketAddr) -> Result<Rc<Site>, String> {
        if let Some(site) = self.sites.get(&address).and_then(Weak::upgrade).filter(|site| site.is_open()) {
            return Ok(site);
        }
        let site = Site::new(&self.reactor, address).map_err(|error| reason(&error))?;
        self.sites.insert(address, Rc::downgrade(&site));
        Ok(site)
    }
}

/// What `BY Http(...)` says.
pub(super) struct Options {
    pub(super) limit: usize,
    pub(super) token: Option<String>,
    /// A client talks by a WebSocket, whatever the interface.
    pub(super) socket: bool,
}

fn options(hints: &Hints<'_>) -> Result<Options, String> {
    let mut options = Options { limit: LIMIT, token: None, socket: false };
    for factory in hints.factories.iter().filter(|factory| factory.name.eq_ignore_ascii_case("http")) {
        for (name, value) in &factory.options {
            let value = String::from_utf8_lossy(value);
            match *name {
                "limit" => {
                    let wrong = || format!("limit: {value} is no number of bytes");
                    options.limit = value.parse().ok().filter(|&limit| limit > 0).ok_or_else(wrong)?;
                }
                "token" => options.token = Some(value.into_owned()).filter(|token| !token.is_empty()),
                "socket" => options.socket = factory.boolean("socket")?.unwrap_or(false),
                "capacity" => {}
                _ => return Err(format!("{name}: there is no such option, only limit, socket, token")),
            }
        }
    }
    Ok(options)
}

/// Nobody else may read along: without TLS, both sides are on this machine.
fn place(rest: &str) -> Result<Place, String> {
    let mut place = Place::parse(rest)?;
    if !place.numeric().is_some_and(|address| address.is_loopback()) {
        return Err("without TLS only addresses of this machine's own are used, such as 127.0.0.1".into());
    }
    place.path.truncate(place.path.trim_end_matches('/').len());
    Ok(place)
}

fn address(place: &Place) -> Result<SocketAddr, String> {
    Ok((place.here()?, place.port.unwrap_or(PORT)).into())
}

impl Scheme for Context {
    fn bind(
        &mut self,
        interface: &'static Interface,
        rest: &str,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        only_data(interface)?;
        let (options, place) = (options(hints)?, place(rest)?);
        let calls = Calls::of(interface).ok().filter(|_| !options.socket);
        let address = address(&place)?;
        Ok(Box::new(Remote::new(&self.reactor, interface, calls, (address, place.path), options)))
    }

    fn export(
        &mut self,
        interface: &'static Interface,
        rest: &str,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        only_data(interface)?;
        let (options, place) = (options(hints)?, place(rest)?);
        let calls = Calls::of(interface).ok();
        let address = address(&place)?;
        let description = openapi(interface, calls.as_ref(), &format!("http://{address}{}", place.path));
        let export = Export::new(place.path, interface, calls, description, (options.limit, options.token));
        let site = self.site(address)?;
        Ok(Box::new(Offered::new(site, export, self.reactor.expect())?))
    }
}
