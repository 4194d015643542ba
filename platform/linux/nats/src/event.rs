//! Events for many programs, `event+nats://host:4222/prices`: what a component sends once comes to all clients that
//! are connected to that name at that NATS, as with `event:` within a program. The publisher doesn't wait for them. A
//! client that misses an event loses the communication, unless it has said `BY Event(lossy: TRUE)`.

use std::rc::Rc;

use drystone_component::Name;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, NamingContext};
use drystone_runtime::far::{Exported, Reach};

use super::event_publisher::Publication;
use super::event_subscription::Subscribing;
use super::event_topic::Topic;
use super::sessions::Sessions;

/// Events that wait for a client, unless BY says otherwise.
const CAPACITY: u32 = 1024;

/// The naming context, and its binding factory.
pub(super) struct Events(pub(super) Rc<Sessions>);

impl BindingFactory for Events {
    fn bind(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let lossy = endpoint.hints.factories.iter().find_map(|factory| factory.boolean("lossy").transpose());
        let capacity = endpoint.hints.capacity()?.unwrap_or(CAPACITY) as usize;
        let topic = Topic::of(&self.0, endpoint)?;
        Ok(Box::new(Subscribing { topic, capacity, lossy: lossy.transpose()?.unwrap_or(false) }))
    }
}

impl NamingContext for Events {
    fn export(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        let topic = Topic::of(&self.0, endpoint)?;
        topic.session.connect_now()?;
        Ok(Box::new(Publication::new(topic)))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}
