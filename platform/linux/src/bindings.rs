//! Names of what is elsewhere, and the binding factories that reach it. The scheme of a name, what stands before the first
//! `:`, says whose it is (language reference, section 9).

mod alive;
mod arrivals;
mod bell;
mod channel;
mod clock;
mod composite;
mod confine;
mod datagram;
mod datum;
#[cfg(any(test, feature = "fuzzing"))]
pub mod decoders;
mod domain;
pub(crate) mod entry;
mod http;
mod nats;
pub mod onc;
pub(crate) mod patience;
mod peer;
pub(crate) mod place;
mod process;
mod ring;
pub(crate) mod rings;
mod secure;
mod slot;
mod tcp;
pub mod udp;
mod worker;
mod xdr;

use std::collections::HashMap;
use std::rc::Rc;

use drystone_component::{Interface, Name, Program, Template};
use drystone_kortex::composed::{Monitors, Services, compose, compose_exported};
use drystone_kortex::event::Events;
use drystone_runtime::binding::{
    Binder, BindingFactory, Edge, Factory, Hints, NamingContext, ResourceManager, follow,
};
use drystone_runtime::far::{Domain, Exported, Reach};

use self::clock::Clock;
pub(crate) use self::composite::Composites;
use self::process::Processes;
use self::worker::Workers;
use crate::Options;
use crate::interfaces::naming_context;
use crate::reactor::Reactor;

/// What a program's names lead to that are not its own, by their schemes.
pub(crate) struct Bindings {
    contexts: HashMap<&'static str, Box<dyn NamingContext>>,
    managers: HashMap<&'static str, Box<dyn ResourceManager>>,
    services: Services,
    composites: Rc<Composites>,
}

impl Bindings {
    /// All that this platform knows.
    pub(crate) fn new(program: &'static Program, options: &Options, reactor: &Rc<Reactor>) -> Bindings {
        let additions = options.additions.iter();
        let services = Services {
            time: Rc::new(Clock::new(reactor.clone())),
            monitors: Rc::default(),
            added: additions.clone().flat_map(|addition| addition.factories).collect(),
        };
        let mut contexts: HashMap<_, Box<dyn NamingContext>> = HashMap::new();
        contexts.insert("event", Box::new(Events::default()));
        contexts.insert("http", Box::new(http::Context::plain(reactor)));
        contexts.insert("https", Box::new(http::Context::secure(reactor)));
        let composites = Composites::new(reactor);
        let nats = nats::Sessions::new(reactor, &composites);
        contexts.insert("event+nats", Box::new(nats::Events::new(&nats)));
        contexts.insert("nats", Box::new(nats::Nats::new(&nats)));
        contexts.insert("onc", Box::new(onc::Context::tcp(reactor)));
        contexts.insert("onc+udp", Box::new(onc::Context::udp(reactor)));
        contexts.insert("tcp", Box::new(tcp::Tcp::new(reactor, &composites)));
        contexts.insert("udp", Box::new(udp::Context::new(reactor)));
        for context in additions.flat_map(|addition| addition.contexts) {
            contexts.insert(context.scheme, (context.begin)());
        }
        let mut managers: HashMap<_, Box<dyn ResourceManager>> = HashMap::new();
        managers.insert("process", Box::new(Processes::new(program, options, reactor)));
        managers.insert("worker", Box::new(Workers::new(program, options, reactor)));
        Bindings { contexts, managers, services, composites }
    }

    /// What runs composite calls that others ship here, however they come.
    pub(crate) fn composites(&self) -> &Rc<Composites> {
        &self.composites
    }

    /// What is monitored.
    pub(crate) fn monitors(&self) -> Rc<Monitors> {
        self.services.monitors.clone()
    }

    /// Refuses factories that are neither composed nor what joins by names of this scheme.
    fn know(&self, name: Name<'_>, hints: &Hints<'_>) -> Result<(), String> {
        let scheme = name.context().split('+').next().unwrap_or_default();
        let joins = |factory: &str| {
            let joins_by = match scheme {
                "process" => "Lrpc",
                "https" => "Http",
                scheme => scheme,
            };
            factory.eq_ignore_ascii_case(joins_by)
        };
        let strange = |factory: &&Factory<'_>| !joins(factory.name) && !self.services.is_composed(factory);
        match hints.factories.iter().find(strange) {
            Some(factory) => {
                Err(format!("{name}: BY {}: there is no such binding factory for it", factory.name))
            }
            None => Ok(()),
        }
    }
}

impl NamingContext for Bindings {
    fn export(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        self.know(name, hints)?;
        let exported = match self.resolve(name) {
            Ok(Edge::Context(context, name)) => context.export(interface, name, hints),
            Ok(_) => Err(ONLY_AT.into()),
            Err(why) => Err(why),
        };
        let exported = exported.map_err(|why| about(name, &why))?;
        compose_exported(exported, interface, name.whole(), hints, &self.services)
    }

    fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        let scheme = name.context();
        if let Some(context) = self.contexts.get_mut(scheme) {
            return Ok(Edge::Context(&mut **context, name));
        }
        match self.managers.get_mut(scheme) {
            Some(manager) => Ok(Edge::Place(&mut **manager)),
            None => Err(format!("there is no naming context {scheme}")),
        }
    }
}

impl BindingFactory for Bindings {
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        self.know(name, hints)?;
        let reach = match follow(self, name) {
            Ok((Edge::Interface(factory), name)) => factory.bind(interface, name, hints),
            Ok(_) => Err(ONLY_AT.into()),
            Err(why) => Err(why),
        };
        let reach = reach.map_err(|why| about(name, &why))?;
        compose(reach, interface, name.whole(), hints, &self.services)
    }
}

impl ResourceManager for Bindings {
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let made = match follow(self, name) {
            Ok((Edge::Place(manager), name)) => manager.create(template, name, hints),
            Ok(_) => Err("no components can be made there".into()),
            Err(why) => Err(why),
        };
        made.map_err(|why| about(name, &why))
    }
}

const ONLY_AT: &str = "components are made there (NEW .. AT), and connected as others are";

impl Binder for Bindings {
    fn compose(
        &mut self,
        reach: Box<dyn Reach>,
        interface: &'static Interface,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        if let Some(factory) = hints.factories.iter().find(|factory| {
            !self.services.is_composed(factory) && !factory.name.eq_ignore_ascii_case("local")
        }) {
            return Err(format!("{}: no such binding factory joins components of one program", factory.name));
        }
        compose(reach, interface, "local", hints, &self.services)
    }

    fn is_of_contexts(&self, interface: &'static Interface) -> bool {
        interface.fingerprint == naming_context::DECLARATION.fingerprint
    }
}

fn about(name: Name<'_>, why: &str) -> String {
    format!("{name}: {why}")
}
