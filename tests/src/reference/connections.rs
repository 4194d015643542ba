//! Follows connections from a client's end, through required interfaces and relays, to the component that serves it.

use drystone_language::program::{InterfaceId, Program};

use super::identity::{Event, InstanceId, SYSTEM};
use super::links::{End, Link, Target};
use super::world::{State, World};

/// The result of following the connections from a client's end.
pub(super) enum Route {
    /// To an implementation, over these connections.
    Served { server: InstanceId, path: Vec<Link> },
    /// Nowhere yet.
    Unconnected,
    /// To a component that an error has ended.
    Broken,
}

impl World<'_> {
    /// Follows the connections from a client's end.
    pub fn route(&self, end: End) -> Route {
        let state = self.state.borrow();
        let mut path = Vec::new();
        let mut target = match end {
            End::Required(instance, index, k) => Target::Required(instance, index, k),
            End::Held(instance, interface) => Target::Offered(instance, interface),
        };
        loop {
            let server = target.instance();
            if server != SYSTEM && !state.alive(server) {
                return Route::Broken;
            }
            let Some(link) = self.way_on(&state, target) else {
                return Route::Served { server, path };
            };
            path.push(link);
            match state.target(link) {
                Some(next) => target = next,
                None => return Route::Unconnected,
            }
        }
    }

    /// The connection that leads on from a target; `None` if the target implements the interface.
    fn way_on(&self, state: &State, target: Target) -> Option<Link> {
        match target {
            Target::Offered(SYSTEM, _) => None,
            Target::Required(instance, index, k) => Some(Link::Required(instance, index, k)),
            Target::Offered(instance, interface) => {
                let template = state.instances[&instance].template.expect("not the system");
                let template = &self.program.components[template.index()];
                let offered = offered_index(self.program, state, instance, interface);
                let link = Link::Inward(instance, offered);
                let implemented = template.implementations.iter().any(|one| one.offered == offered);
                (!implemented || state.target(link).is_some()).then_some(link)
            }
        }
    }

    /// Whether the connections from a target lead to a link.
    pub fn leads_to(&self, target: Target, link: Link) -> bool {
        let state = self.state.borrow();
        let living = |target: &Target| state.alive(target.instance());
        let mut target = Some(target);
        while let Some(way) = target.filter(living).and_then(|target| self.way_on(&state, target)) {
            if way == link {
                return true;
            }
            target = state.target(way);
        }
        false
    }

    /// Whether the offered interface has no room for another client.
    pub fn crowded(&self, instance: InstanceId, interface: InterfaceId) -> bool {
        let state = self.state.borrow();
        let Some(template) = state.instances.get(&instance).and_then(|instance| instance.template) else {
            return false;
        };
        let facets = &self.program.components[template.index()].offers;
        let limit = facets
            .iter()
            .find(|facet| facet.interface == interface)
            .and_then(|facet| facet.cardinality)
            .and_then(|cardinality| cardinality.to);
        let clients = state.instances[&instance].clients.iter().filter(|(of, _)| *of == interface).count();
        limit.is_some_and(|limit| clients >= limit as usize)
    }
}

/// The index into `offers` of the instance's template.
pub(super) fn offered_index(
    program: &Program,
    state: &State,
    instance: InstanceId,
    interface: InterfaceId,
) -> usize {
    let template = state.instances[&instance].template.expect("the system has no template");
    let offers = &program.components[template.index()].offers;
    offers.iter().position(|facet| facet.interface == interface).expect("checked: the interface is offered")
}

impl State<'_> {
    /// The target of a connection.
    pub fn target(&self, link: Link) -> Option<Target> {
        match link {
            Link::Required(instance, index, k) => {
                self.instances.get(&instance).and_then(|instance| instance.required.get(&(index, k)).copied())
            }
            Link::Inward(instance, offered) => {
                self.instances.get(&instance).and_then(|instance| instance.inward.get(&offered).copied())
            }
        }
    }

    /// Connects a link that is not connected.
    pub fn connect(&mut self, link: Link, target: Target) {
        let instance = self.instances.get_mut(&link.instance()).expect("a link of a living instance");
        match link {
            Link::Required(_, index, k) => instance.required.insert((index, k), target),
            Link::Inward(_, offered) => instance.inward.insert(offered, target),
        };
        if let Target::Offered(server, interface) = target
            && let Some(server) = self.instances.get_mut(&server)
        {
            server.clients.insert((interface, link));
        }
        self.wake(Event::Connections);
    }

    /// Removes a connection. The caller handles the communications over it.
    pub fn disconnect(&mut self, link: Link) {
        let Some(instance) = self.instances.get_mut(&link.instance()) else { return };
        let target = match link {
            Link::Required(_, index, k) => instance.required.remove(&(index, k)),
            Link::Inward(_, offered) => instance.inward.remove(&offered),
        };
        if let Some(Target::Offered(server, interface)) = target
            && let Some(server) = self.instances.get_mut(&server)
        {
            server.clients.remove(&(interface, link));
        }
        self.wake(Event::Connections);
    }
}
