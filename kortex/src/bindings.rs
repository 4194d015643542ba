//! Resolves the external names of a program by their schemes: to naming contexts, and to the places where components
//! are made. The platform adds its own.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use drystone_component::{Interface, Name, Template};
use drystone_runtime::binding::{
    Binder, BindingFactory, Edge, Endpoint, Factory, Hints, NamingContext, ResourceManager, follow,
};
use drystone_runtime::far::{Domain, Exported, Reach};

use crate::composed::{Monitors, Services, Time, compose, compose_exported, put_before_domain};
use crate::event::Events;
use crate::interfaces::naming_context;
use crate::{Addition, Host};

/// All schemes that a program's external names may have.
pub struct Bindings {
    contexts: BTreeMap<&'static str, Box<dyn NamingContext>>,
    managers: BTreeMap<&'static str, Box<dyn ResourceManager>>,
    services: Services,
}

impl Bindings {
    /// The bindings that need nothing from a platform but its services.
    pub fn new(services: Services) -> Bindings {
        let mut bindings = Bindings { contexts: BTreeMap::new(), managers: BTreeMap::new(), services };
        bindings.add_context("event", Box::new(Events::default()));
        bindings
    }

    /// Bindings for a platform with a clock, with what extra crates add.
    pub fn added(
        additions: impl Iterator<Item = &'static Addition> + Clone,
        host: &Host,
        time: Rc<dyn Time>,
    ) -> Bindings {
        let mut bindings = Bindings::new(Services {
            time,
            monitors: Rc::default(),
            added: additions.clone().flat_map(|addition| addition.factories).collect(),
        });
        for context in additions.flat_map(|addition| addition.contexts) {
            bindings.add_context(context.scheme, (context.begin)(host));
        }
        bindings
    }

    /// Adds a naming context for the names of a scheme.
    pub fn add_context(&mut self, scheme: &'static str, context: Box<dyn NamingContext>) {
        self.contexts.insert(scheme, context);
    }

    /// Adds a resource manager, for the components made AT names of a scheme.
    pub fn add_manager(&mut self, scheme: &'static str, manager: Box<dyn ResourceManager>) {
        self.managers.insert(scheme, manager);
    }

    /// The monitors of `Monitored` bindings.
    pub fn monitors(&self) -> Rc<Monitors> {
        self.services.monitors.clone()
    }

    /// The platform's scheme for a kind of place. A domain of its own is a process or an address space of users: a
    /// platform has only one of the two, and both schemes mean it. On a platform without workers, `worker` means it,
    /// too.
    fn place<'s>(&self, scheme: &'s str) -> &'s str {
        match scheme {
            "user" => "process",
            "worker" if !self.managers.contains_key(scheme) => "process",
            other => other,
        }
    }

    /// Refuses factories that are neither composed nor factories of this scheme.
    fn know(&self, name: Name<'_>, hints: &Hints<'_>) -> Result<(), String> {
        let scheme = name.context().split('+').next().unwrap_or_default();
        let joins = |factory: &str| {
            let joins_by = match scheme {
                "process" | "user" => "Lrpc",
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
    fn export(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        let Endpoint { interface, name, hints } = endpoint;
        self.know(name, hints)?;
        let exported = match self.resolve(name) {
            Ok(Edge::Context(context, name)) => context.export(endpoint.named(name)),
            Ok(_) => Err(ONLY_AT.into()),
            Err(why) => Err(why),
        };
        let exported = exported.map_err(|why| about(name, &why))?;
        compose_exported(exported, interface, name.whole(), hints, &self.services)
    }

    fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        let scheme = name.context();
        let place = self.place(scheme);
        if let Some(context) = self.contexts.get_mut(scheme) {
            return Ok(Edge::Context(&mut **context, name));
        }
        match self.managers.get_mut(place) {
            Some(manager) => Ok(Edge::Place(&mut **manager)),
            None => Err(format!("there is no naming context {scheme}")),
        }
    }
}

impl BindingFactory for Bindings {
    fn bind(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let Endpoint { interface, name, hints } = endpoint;
        self.know(name, hints)?;
        let reach = match follow(self, name) {
            Ok((Edge::Interface(factory), name)) => factory.bind(endpoint.named(name)),
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
        let domain = made.map_err(|why| about(name, &why))?;
        put_before_domain(domain, template, name.whole(), hints, &self.services)
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
