//! Exports names and connects to them.
//!
//! The interpreter knows one program, so every name belongs to that program, with any scheme. BY does not change
//! results.

use drystone_language::program::InterfaceId;

use super::identity::InstanceId;
use super::links::{Link, Target};
use super::names::{Waiting, is_name};
use super::outcome::Kind;
use super::world::{State, World};

impl State<'_> {
    fn exported(&self, name: &[u8]) -> Option<(Target, InterfaceId)> {
        self.names.exported.get(name).copied().filter(|(target, _)| self.alive(target.instance()))
    }

    /// Removes the names of a component that ends.
    pub fn revoke(&mut self, instance: InstanceId) {
        self.names.exported.retain(|_, (target, _)| target.instance() != instance);
    }
}

impl World<'_> {
    /// Connects an unconnected link to a name, now or later.
    pub fn connect_to_name(&self, waiting: Waiting) -> Result<(), Kind> {
        if !is_name(&waiting.name) {
            return Err(Kind::BindingRefused);
        }
        let exported = self.state.borrow().exported(&waiting.name);
        match exported {
            Some((_, interface)) if interface != waiting.interface => Err(Kind::BindingRefused),
            Some((target, _)) if !self.is_full(target) => {
                if self.leads_to(target, waiting.link) {
                    return Err(Kind::ConnectionCycle);
                }
                self.state.borrow_mut().connect(waiting.link, target);
                Ok(())
            }
            _ => {
                self.state.borrow_mut().names.waiting.push(waiting);
                Ok(())
            }
        }
    }

    /// Exports a target under a name, and connects the links that wait for it.
    pub fn export(&self, name: Vec<u8>, target: Target, interface: InterfaceId) -> Result<(), Kind> {
        if !is_name(&name) {
            return Err(Kind::BindingRefused);
        }
        if !self.state.borrow().alive(target.instance()) {
            return Ok(());
        }
        let is_refused = {
            let state = self.state.borrow();
            let mut waiting = state.names.waiting.iter().filter(|waiting| waiting.name == name);
            let differs =
                |waiting: &Waiting| waiting.interface != interface && state.alive(waiting.link.instance());
            state.exported(&name).is_some() || waiting.any(differs)
        };
        if is_refused {
            return Err(Kind::BindingRefused);
        }
        self.state.borrow_mut().names.exported.insert(name, (target, interface));
        self.connect_waiting().map_err(|_| Kind::ConnectionCycle)
    }

    /// Removes a connection. A link that waits for that place among the clients is connected next.
    pub fn disconnect(&self, link: Link) {
        {
            let mut state = self.state.borrow_mut();
            state.disconnect(link);
            state.names.waiting.retain(|waiting| waiting.link != link);
        }
        self.fill_places();
    }

    /// Connects waiting links, because places among clients may have become free.
    pub fn fill_places(&self) {
        while let Err(waiting) = self.connect_waiting() {
            self.fail(waiting.link.instance(), None, Kind::ConnectionCycle, waiting.span);
        }
    }

    /// Connects all waiting links that can be connected now, up to the first that would close a cycle.
    fn connect_waiting(&self) -> Result<(), Waiting> {
        let all = std::mem::take(&mut self.state.borrow_mut().names.waiting);
        let mut cycle = None;
        for waiting in all {
            let exported = {
                let state = self.state.borrow();
                if !state.alive(waiting.link.instance()) {
                    continue;
                }
                state.exported(&waiting.name)
            };
            match exported {
                Some((target, _)) if cycle.is_none() && !self.is_full(target) => {
                    if self.leads_to(target, waiting.link) {
                        cycle = Some(waiting);
                    } else {
                        self.state.borrow_mut().connect(waiting.link, target);
                    }
                }
                _ => self.state.borrow_mut().names.waiting.push(waiting),
            }
        }
        cycle.map_or(Ok(()), Err)
    }

    fn is_full(&self, target: Target) -> bool {
        matches!(target, Target::Offered(server, interface) if self.crowded(server, interface))
    }
}
