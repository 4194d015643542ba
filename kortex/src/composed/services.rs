//! What composed bindings need of the platform and of extra crates.

use alloc::rc::Rc;

use drystone_runtime::binding::Factory;

use super::monitors::Monitors;
use super::time::Time;
use crate::Before;

/// What composed bindings need of the platform and of extra crates.
#[derive(Clone)]
pub struct Services {
    /// The clock and timers.
    pub time: Rc<dyn Time>,
    /// Lists the monitors of `Monitored` bindings.
    pub monitors: Rc<Monitors>,
    /// Factories of extra crates.
    pub added: Rc<[&'static Before]>,
}

impl Services {
    /// Whether a factory of a BY is composed. A factory that isn't says how to reach the name.
    pub fn is_composed(&self, factory: &Factory<'_>) -> bool {
        KNOWN.contains(&factory.name) || self.added(factory).is_some()
    }

    pub(super) fn added(&self, factory: &Factory<'_>) -> Option<&'static Before> {
        self.added.iter().copied().find(|added| added.name == factory.name)
    }
}

/// The composed factories of this crate.
const KNOWN: [&str; 4] = ["Monitored", "Restricted", "Cached", "Retried"];
