//! What a program's names lead to that are not its own, by their schemes: naming contexts, and where components are
//! made. A platform puts together which there are.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use drystone_component::{Interface, Name, Template};
use drystone_runtime::binding::{
    Binder, BindingFactory, Edge, Factory, Hints, NamingContext, ResourceManager, follow,
};
use drystone_runtime::far::{Domain, Exported, Reach};

use crate::Addition;
use crate::composed::{Monitors, Services, Times, compose, compose_exported, put_before_domain};
use crate::event::Events;
use crate::interfaces::naming_context;

/// See the head of this file.
pub struct Bindings {
    contexts: BTreeMap<&'static str, Box<dyn NamingContext>>,
    managers: BTreeMap<&'static str, Box<dyn ResourceManager>>,
    services: Services,
}

impl Bindings {
    /// Those that need nothing of a platform but its services.
    pub fn new(services: Services) -> Bindings {
        let mut bindings = Bindings { contexts: BTreeMap::new(), managers: BTreeMap::new(), services };
        bindings.add_context("event", Box::new(Events::default()));
        bindings
    }

    /// Those of a platform that has time for them, and what crates add.
    pub fn added(additions: &'static [&'static Addition], times: &Rc<Times>) -> Bindings {
        let mut bindings = Bindings::new(Services {
            time: times.clone(),
            monitors: Rc::default(),
            added: additions.iter().flat_map(|addition| addition.factories).collect(),
        });
        for context in additions.iter().flat_map(|addition| addition.contexts) {
            bindings.add_context(context.scheme, (context.begin)());
        }
        bindings
    }

    /// One more naming context, for the names of a scheme.
    pub fn add_context(&mut self, scheme: &'static str, context: Box<dyn NamingContext>) {
        self.contexts.insert(scheme, context);
    }

    /// One more kind of places where components are made.
    pub fn add_manager(&mut self, scheme: &'static str, manager: Box<dyn ResourceManager>) {
        self.managers.insert(scheme, manager);
    }

    /// What is monitored.
    pub fn monitors(&self) -> Rc<Monitors> {
        self.services.monitors.clone()
    }

    /// What the platform calls the places that a scheme names. A domain of its own is a process or an address space of
    /// users, whichever of the two it is called: a platform has one of them. Where there are no workers, such a domain
    /// is one.
    fn place<'s>(&self, scheme: &'s str) -> &'s str {
        match scheme {
            "user" => "process",
            "worker" if !self.managers.contains_key(scheme) => "process",
            other => other,
        }
    }

    /// Refuses factories that are neither composed nor what joins by names of this scheme.
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
