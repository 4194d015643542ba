//! What a name of `event+nats:` means.

use std::rc::Rc;

use drystone_component::Interface;
use drystone_kortex::event::castable;
use drystone_runtime::binding::Endpoint;

use super::access::Access;
use super::session::Session;
use super::sessions::Sessions;

/// Where events of an interface are published.
#[derive(Clone)]
pub(super) struct Topic {
    pub(super) session: Rc<Session>,
    pub(super) subject: String,
    /// The name, for people.
    pub(super) name: Rc<str>,
    pub(super) interface: &'static Interface,
}

impl Topic {
    /// # Errors
    /// The interface's messages are no events, or the name or BY means nothing.
    pub(super) fn of(
        sessions: &Sessions,
        Endpoint { interface, name, hints }: Endpoint<'_>,
    ) -> Result<Topic, String> {
        castable(interface)?;
        let (access, subject) = Access::read(name.rest(), hints)?;
        Ok(Topic { session: sessions.get(access), subject, name: name.to_string().into(), interface })
    }
}
