//! The names that begin with `onc:` and `onc+udp:`.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_component::Name;
use drystone_kortex::composed::COMMON;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Hints, NamingContext};
use drystone_runtime::far::{Exported, Reach};

use super::caller::Remote;
use super::client::Target;
use super::offered::Offered;
use super::options::Options;
use super::portmap::Transport;
use super::service::Service;
use drystone_net::place::{Place, permit};
use drystone_reactor::Reactor;

/// See the head of this file.
pub struct Context {
    reactor: Rc<Reactor>,
    transport: Transport,
}

impl Context {
    /// For names that begin with `onc:`.
    pub fn tcp(reactor: &Rc<Reactor>) -> Context {
        Context { reactor: reactor.clone(), transport: Transport::Tcp }
    }

    /// For names that begin with `onc+udp:`.
    pub fn udp(reactor: &Rc<Reactor>) -> Context {
        Context { reactor: reactor.clone(), transport: Transport::Udp }
    }
}

/// What `BY Onc(...)` says.
pub(super) fn options(hints: &Hints<'_>) -> Result<Options, String> {
    let mut options = Options::default();
    for factory in hints.factories.iter().filter(|factory| factory.name.eq_ignore_ascii_case("onc")) {
        for (name, value) in factory.options.iter().filter(|(name, _)| !COMMON.contains(name)) {
            options.set(name, &String::from_utf8_lossy(value))?;
        }
    }
    Ok(options)
}

fn place(rest: &str) -> Result<Place, String> {
    let place = Place::parse(rest)?;
    match place.path.as_str() {
        "" | "/" => Ok(place),
        path => Err(format!("{path}: a program has a number, which BY says, and no path")),
    }
}

impl BindingFactory for Context {
    fn bind(&mut self, Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let service = Service::new(interface, &options(hints)?)?;
        let target = Target {
            reactor: self.reactor.clone(),
            place: place(name.rest())?,
            transport: self.transport,
            program: (service.program, service.version),
            lasts: service.calls.lasting,
            limit: service.limit,
            name: name.to_string().into(),
        };
        Ok(Box::new(Remote::new(service, target)))
    }
}

impl NamingContext for Context {
    fn export(
        &mut self,
        Endpoint { interface, name, hints }: Endpoint<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let options = options(hints)?;
        let service = Service::new(interface, &options)?;
        let place = place(name.rest())?;
        let address = SocketAddr::new(place.here()?, place.port.unwrap_or(0));
        permit(address.ip(), options.open, ("ONC RPC", "Onc"))?;
        Ok(Box::new(Offered::new(&self.reactor, service, self.transport, address)?))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}
