//! Names of what is elsewhere, and the binding factories that reach it. The scheme of a name, what stands before the first
//! `:`, says whose it is (language reference, section 9).

mod alive;
mod bell;
mod channel;
mod clock;
mod confine;
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
mod place;
mod process;
mod ring;
pub(crate) mod rings;
mod secure;
mod tcp;
mod worker;

use std::collections::HashMap;
use std::rc::Rc;

use drystone_component::{Interface, Program, Template};
pub(crate) use drystone_kortex::NamingContext;
use drystone_kortex::composed::{Monitors, Services, compose, compose_exported};
use drystone_kortex::event::Events;
use drystone_runtime::binding::{Binder, Factory, Hints};
use drystone_runtime::far::{Domain, Exported, Reach};

use self::clock::Clock;
use self::process::Processes;
use self::worker::Workers;
use crate::Options;
use crate::interfaces::naming_context;
use crate::reactor::Reactor;

/// The naming contexts of a program, by their schemes.
pub(crate) struct Bindings {
    schemes: HashMap<&'static str, Box<dyn NamingContext>>,
    services: Services,
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
        let mut schemes: HashMap<_, Box<dyn NamingContext>> = HashMap::new();
        schemes.insert("event", Box::new(Events::default()));
        schemes.insert("http", Box::new(http::Context::plain(reactor)));
        schemes.insert("https", Box::new(http::Context::secure(reactor)));
        let nats = nats::Sessions::new(reactor);
        schemes.insert("event+nats", Box::new(nats::Events::new(&nats)));
        schemes.insert("nats", Box::new(nats::Nats::new(&nats)));
        schemes.insert("onc", Box::new(onc::Context::tcp(reactor)));
        schemes.insert("onc+udp", Box::new(onc::Context::udp(reactor)));
        schemes.insert("process", Box::new(Processes::new(program, options, reactor)));
        schemes.insert("worker", Box::new(Workers::new(program, options, reactor)));
        schemes.insert("tcp", Box::new(tcp::Tcp::new(reactor)));
        for context in additions.flat_map(|addition| addition.contexts) {
            schemes.insert(context.scheme, (context.begin)());
        }
        Bindings { schemes, services }
    }

    /// What is monitored.
    pub(crate) fn monitors(&self) -> Rc<Monitors> {
        self.services.monitors.clone()
    }

    /// Refuses factories that are neither composed nor what joins by names of this scheme.
    fn know(&self, name: &[u8], hints: &Hints<'_>) -> Result<(), String> {
        let name = String::from_utf8_lossy(name);
        let scheme = name.split([':', '+']).next().unwrap_or_default();
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
            Some(factory) => Err(format!("{name}: there is no binding factory {} for it", factory.name)),
            None => Ok(()),
        }
    }

    fn scheme<'n>(&mut self, name: &'n [u8]) -> Result<(&mut Box<dyn NamingContext>, &'n str), String> {
        let name = str::from_utf8(name).map_err(|_| "a name is a text in UTF-8".to_string())?;
        let (scheme, rest) =
            name.split_once(':').ok_or_else(|| format!("{name}: a name begins with a scheme"))?;
        let known = self.schemes.get_mut(scheme);
        known
            .map(|scheme| (scheme, rest))
            .ok_or_else(|| format!("{name}: there is no naming context {scheme}"))
    }
}

impl Binder for Bindings {
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        self.know(name, hints)?;
        let (scheme, rest) = self.scheme(name)?;
        let reach = scheme.bind(interface, rest, hints).map_err(|why| about(name, why))?;
        compose(reach, interface, &String::from_utf8_lossy(name), hints, &self.services)
    }

    fn export(
        &mut self,
        interface: &'static Interface,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        self.know(name, hints)?;
        let (scheme, rest) = self.scheme(name)?;
        let exported = scheme.export(interface, rest, hints).map_err(|why| about(name, why))?;
        compose_exported(exported, interface, &String::from_utf8_lossy(name), hints, &self.services)
    }

    fn compose(
        &mut self,
        reach: Box<dyn Reach>,
        interface: &'static Interface,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        if let Some(factory) = hints.factories.iter().find(|factory| {
            !self.services.is_composed(factory) && !factory.name.eq_ignore_ascii_case("local")
        }) {
            return Err(format!("{} doesn't join components of one program", factory.name));
        }
        compose(reach, interface, "local", hints, &self.services)
    }

    fn is_of_contexts(&self, interface: &'static Interface) -> bool {
        interface.fingerprint == naming_context::DECLARATION.fingerprint
    }

    fn domain(
        &mut self,
        template: &'static Template,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let (scheme, rest) = self.scheme(name)?;
        scheme.domain(template, rest, hints).map_err(|why| about(name, why))
    }
}

fn about(name: &[u8], why: String) -> String {
    format!("{}: {why}", String::from_utf8_lossy(name))
}
